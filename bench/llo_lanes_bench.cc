// How fast vector instructions run on their own: one row of the table over and over, without memory.
#include <benchmark/benchmark.h>

#include <cstring>

#include "llo/machine.h"

namespace sapper::llo {
namespace {

// A machine whose program is `opcode` many times: registers 0 to 2 in, 3 out.
void BM_Opcode(benchmark::State& state, const char* opcode) {
  constexpr int kTimes = 1000;
  const OpcodeMatch match = find_opcode(opcode);
  if (match.info == nullptr) {
    state.SkipWithError("no such opcode");
    return;
  }
  Program program;
  program.instructions.resize(1);
  Step step;
  step.info = match.info;
  step.source = 0;
  step.result = 3;
  for (size_t k = 0; k < match.choice.size(); ++k) step.choice[k] = static_cast<uint16_t>(match.choice[k]);
  const std::string_view operands = match.info->operands;
  for (const char letter : operands.substr(operands.find('=') + 1)) {
    if (letter != 'v' && letter != 'm') continue;
    step.operand_bank[step.operand_count] = letter == 'v' ? Bank::Vector : Bank::Mask;
    step.operand[step.operand_count] = step.operand_count;
    ++step.operand_count;
  }
  Step halt;
  halt.kind = StepKind::Halt;
  Code code;
  code.program = &program;
  code.vector_slots = 4;
  code.steps.assign(kTimes, step);
  code.steps.push_back(halt);
  Machine machine(MachineOptions{});
  if (!machine.load(code)) return;
  for (Slot slot = 0; slot < 3; ++slot) {
    Vreg& vreg = machine.write_vector(slot);
    for (int i = 0; i < kVregWords; ++i) {
      const float value = 0.25F + static_cast<float>(i % 97) * 0.125F;
      std::memcpy(&vreg.word[i], &value, sizeof(value));
    }
  }
  for (auto _ : state)
    if (!machine.run()) state.SkipWithError("failed");
  state.counters["instructions/s"] = benchmark::Counter(kTimes, benchmark::Counter::kIsIterationInvariantRate);
}
#define SAPPER_OPCODE_BENCH(name, opcode) BENCHMARK_CAPTURE(BM_Opcode, name, opcode)->Unit(benchmark::kMicrosecond)
SAPPER_OPCODE_BENCH(add_f32, "vadd.f32");
SAPPER_OPCODE_BENCH(mul_f32, "vmul.f32");
SAPPER_OPCODE_BENCH(max_f32, "vmax.f32");
SAPPER_OPCODE_BENCH(add_s32, "vadd.s32");
SAPPER_OPCODE_BENCH(mul_u32, "vmul.u32");
SAPPER_OPCODE_BENCH(and_u32, "vand.u32");
SAPPER_OPCODE_BENCH(shift_left, "vshll.u32");
SAPPER_OPCODE_BENCH(leading_zeros, "vclz");
SAPPER_OPCODE_BENCH(compare_f32, "vcmp.lt.f32.partialorder");
SAPPER_OPCODE_BENCH(select, "vsel");
SAPPER_OPCODE_BENCH(add_bf16, "vadd.bf16");
SAPPER_OPCODE_BENCH(floor_f32, "vfloor.f32");
SAPPER_OPCODE_BENCH(to_s32, "vcvt.f32.s32");
SAPPER_OPCODE_BENCH(to_f16, "vcvt.f32.hf16");
SAPPER_OPCODE_BENCH(pack_bf16, "vpack.c.f32.bf16");
SAPPER_OPCODE_BENCH(unpack_bf16, "vunpack.c.u.bf16.f32");
SAPPER_OPCODE_BENCH(unpack_s8, "vunpack.c.2.s8.s32");
SAPPER_OPCODE_BENCH(rotate_sublanes, "vrot.slane");
SAPPER_OPCODE_BENCH(exp2, "vexp2.f32.pop");
SAPPER_OPCODE_BENCH(log2, "vlog2.f32.pop");
SAPPER_OPCODE_BENCH(reciprocal, "vrcp.f32.pop");
SAPPER_OPCODE_BENCH(tanh, "vtanh.f32.pop");
#undef SAPPER_OPCODE_BENCH

}  // namespace
}  // namespace sapper::llo
