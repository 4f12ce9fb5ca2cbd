// How fast whole kernels run: parsed and decoded once, then run over and over, memory traffic and branches included.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <optional>
#include <string>

#include "llo/decode.h"
#include "llo/machine.h"
#include "llo/text.h"

namespace sapper::llo {
namespace {

constexpr int kTimes = 256;   // around the loop
constexpr int kUnrolled = 8;  // registers a time

// `body` kTimes around a loop, with room in VMEM for what it loads and stores: #allocation0, #allocation1.
std::string loop_around(const std::string& body) {
  return fmt::format(R"($region0: #{{k}}
  #allocation0 [shape = 'f32[16,8,128]{{2,1,0}}', space=vmem, size = 0x10000, scoped, tag = 'in']
  #allocation1 [shape = 'f32[16,8,128]{{2,1,0}}', space=vmem, size = 0x10000, scoped, tag = 'out']
  %v1 = vlaneseq.b32
  %v2 = vcvt.s32.f32 %v1
  {0}
  loop: start=0, step=1, limit={1}
  $region1: #{{k}} parent=0 // loop_pre_header
    _
  $region2: #{{k}} parent=0 // loop_header
    %s3 = sphi 0, %s4
    %p5 = scmp.ge.s32.totalorder %s3, {1}
  $region3: #{{k}} parent=0 // loop_header_branch
    %6 = sbr.rel (%p5) target = $region7
  $region4: #{{k}} parent=0 // loop_body
    _
{2}
  $region5: #{{k}} parent=0 // loop_footer
    %s4 = sadd.s32 1, %s3
  $region6: #{{k}} parent=0 // loop_footer_branch
    %7 = sbr.rel target = $region2
  $region7: #{{k}} parent=0 // loop_exit
    _
)",
                     [] {
                       std::string fill;
                       for (int i = 0; i < 16; ++i)
                         fill +=
                             fmt::format("%{0} = vst [vmem:[#allocation0 + ${1:#x}] sm:$0xff] %v2\n  ", 10 + i, 8 * i);
                       return fill;
                     }(),
                     kTimes, body);
}

// y = max(x * 1.5 + x, 0) over registers.
std::string elementwise() {
  std::string body;
  for (int i = 0; i < kUnrolled; ++i) {
    const int name = 100 + 10 * i;
    body += fmt::format(R"(    %v{0} = vld [vmem:[#allocation0 + ${1:#x}] sm:$0xff]
    %v{2} = vmul.f32 %v{0}, 1.5
    %v{3} = vadd.f32 %v{2}, %v{0}
    %v{4} = vmax.f32 %v{3}, 0.0
    %{5} = vst [vmem:[#allocation1 + ${1:#x}] sm:$0xff] %v{4}
)",
                        name, 8 * i, name + 1, name + 2, name + 3, name + 4);
  }
  return loop_around(body);
}

// Sums over the lanes of the sum of two registers.
std::string lane_reduction() {
  std::string body;
  for (int i = 0; i < kUnrolled; ++i) {
    const int name = 100 + 10 * i;
    body += fmt::format(R"(    %v{0} = vld [vmem:[#allocation0 + ${1:#x}] sm:$0xff]
    %v{2} = vld [vmem:[#allocation0 + ${3:#x}] sm:$0xff]
    %v{4} = vadd.f32 %v{0}, %v{2}
    %{5} = vadd.xlane.f32.xlu0 %v{4}
    %v{6} = vpop.xlane.xlu0 %{5}
    %{7} = vst [vmem:[#allocation1 + ${1:#x}] sm:$0xff] %v{6}
)",
                        name, 8 * i, name + 1, 8 * (i + 8), name + 2, name + 3, name + 4, name + 5);
  }
  return loop_around(body);
}

// 128 rows of f32 times 128 by 128 weights, pushed each time.
std::string matmul() {
  std::string body;
  for (int i = 0; i < 16; ++i) {
    body += fmt::format(R"(    %v{0} = vld [vmem:[#allocation0 + ${1:#x}] sm:$0xff]
    %{2} = vmatpush.msra.mxu0 %v{0}
)",
                        100 + 10 * i, 8 * i, 101 + 10 * i);
  }
  for (int i = 0; i < 16; ++i) {
    const int name = 300 + 10 * i;
    body += fmt::format(R"(    %v{0} = vld [vmem:[#allocation0 + ${1:#x}] sm:$0xff]
    %{2} = vmatmul.f32.gmra.mxu0 %v{0}
    %v{3} = vpop.f32.mrf.mxu0
    %{4} = vst [vmem:[#allocation1 + ${1:#x}] sm:$0xff] %v{3}
)",
                        name, 8 * i, name + 1, name + 2, name + 3);
  }
  return loop_around(body + "    %900 = vdwg.mxu0\n");
}

constexpr double kMatmulFlops = 2.0 * 128 * 128 * 128 * kTimes;

void BM_Kernel(benchmark::State& state, const std::string& text, double flops) {
  const Result<Program> program = parse_program(text, "bench");
  MachineOptions options;
  options.generation = *generation_of("v5e");
  const Result<Code> code = program ? decode(*program, options.generation) : fail(program.error());
  if (!code) return state.SkipWithError(code.error().describe().c_str());
  uint64_t steps = 0;
  for (auto _ : state) {
    Machine machine(options);
    Status ran = machine.load(*code);
    if (ran) ran = machine.run();
    if (!ran) return state.SkipWithError(ran.error().describe().c_str());
    if (!machine.findings().empty()) return state.SkipWithError(machine.findings()[0].message.c_str());
    steps += machine.vector_steps_run();
  }
  state.counters["vector instructions/s"] = benchmark::Counter(static_cast<double>(steps), benchmark::Counter::kIsRate);
  if (flops != 0)
    state.counters["GFLOP/s"] = benchmark::Counter(1e-9 * flops, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK_CAPTURE(BM_Kernel, elementwise, elementwise(), 0);
BENCHMARK_CAPTURE(BM_Kernel, lane_reduction, lane_reduction(), 0);
BENCHMARK_CAPTURE(BM_Kernel, matmul, matmul(), kMatmulFlops);

// What running a kernel once costs before its first instruction.
void BM_Start(benchmark::State& state) {
  const std::string text = elementwise();
  MachineOptions options;
  options.generation = *generation_of("v5e");
  for (auto _ : state) {
    const Result<Program> program = parse_program(text, "bench");
    const Result<Code> code = program ? decode(*program, options.generation) : fail(program.error());
    Machine machine(options);
    if (!code || !machine.load(*code)) return state.SkipWithError("does not load");
  }
}
BENCHMARK(BM_Start)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace sapper::llo
