// Reading, verifying, writing and fingerprinting the largest module of the corpus (88 MB, 935,767 instructions).
// Bars: 100 MB/s from bytes to verified modules; memory at most 8 times the bytes, these included (peak_per_byte).
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include "base/file.h"
#include "hlo/fingerprint.h"
#include "hlo/proto.h"

namespace sapper::hlo {
namespace {

const std::string& bytes() {
  static const std::string read =
      read_file(SAPPER_SOURCE_DIR "/../shared/corpus/models/linen_gpt48_train_unroll24.tpu.hlo.pb.zst").value_or("");
  return read;
}

bool skip(benchmark::State& state) {
  if (bytes().empty()) state.SkipWithError("no corpus");
  return bytes().empty();
}

void report(benchmark::State& state) {
  state.SetBytesProcessed(static_cast<int64_t>(bytes().size()) * static_cast<int64_t>(state.iterations()));
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_per_byte"] = static_cast<double>(usage.ru_maxrss) * 1024 / static_cast<double>(bytes().size());
}

void read(benchmark::State& state) {
  if (skip(state)) return;
  for (auto _ : state) {
    auto module = parse_proto(bytes());
    if (!module) return state.SkipWithError(module.error().describe().c_str());
    state.PauseTiming();
    module = Module();
    state.ResumeTiming();
  }
  report(state);
}
BENCHMARK(read)->Unit(benchmark::kMillisecond)->UseRealTime();

void fingerprinting(benchmark::State& state) {
  if (skip(state)) return;
  const auto module = parse_proto(bytes());
  for (auto _ : state) benchmark::DoNotOptimize(fingerprint(*module));
  report(state);
}
BENCHMARK(fingerprinting)->Unit(benchmark::kMillisecond)->UseRealTime();

void write(benchmark::State& state) {
  if (skip(state)) return;
  const auto module = parse_proto(bytes());
  for (auto _ : state) benchmark::DoNotOptimize(to_proto(*module));
  report(state);
}
BENCHMARK(write)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace sapper::hlo
