// Reading and writing of HLO text: the largest corpus module (935,767 instructions), printed.
#include <benchmark/benchmark.h>

#include <filesystem>

#include "base/file.h"
#include "hlo/proto.h"
#include "hlo/text.h"

namespace sapper::hlo {
namespace {

// The module; nullptr without the corpus.
const Module* largest_module() {
  static const auto* const module = []() -> const Module* {
    const std::string path = SAPPER_SOURCE_DIR "/../shared/corpus/models/linen_gpt48_train_unroll24.tpu.hlo.pb.zst";
    if (!std::filesystem::exists(path)) return nullptr;
    return new Module(*parse_proto(*read_file(path)));
  }();
  return module;
}

PrintOptions options_of(const benchmark::State& state) {
  PrintOptions options;
  options.operand_shapes = state.range(0) != 0;
  return options;
}

void set_rates(benchmark::State& state, size_t bytes, const Module& module) {
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(bytes));
  state.SetItemsProcessed(state.iterations() * module.instruction_count());
}

void read_text(benchmark::State& state) {
  const Module* module = largest_module();
  if (module == nullptr) return state.SkipWithError("no corpus");
  const std::string text = to_text(*module, options_of(state));
  for (auto _ : state) benchmark::DoNotOptimize(parse_text(text)->computations.size());
  set_rates(state, text.size(), *module);
}
BENCHMARK(read_text)->ArgName("operand_shapes")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();

void write_text(benchmark::State& state) {
  const Module* module = largest_module();
  if (module == nullptr) return state.SkipWithError("no corpus");
  size_t bytes = 0;
  for (auto _ : state) bytes = to_text(*module, options_of(state)).size();
  set_rates(state, bytes, *module);
}
BENCHMARK(write_text)->ArgName("operand_shapes")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace sapper::hlo
