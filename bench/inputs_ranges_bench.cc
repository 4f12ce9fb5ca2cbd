// Range analysis: a chain of a million operations, and the largest corpus module (935,767 instructions).
#include <benchmark/benchmark.h>

#include <filesystem>

#include "hlo/proto.h"
#include "inputs/ranges.h"

namespace sapper::inputs {
namespace {

hlo::Instruction instruction(hlo::Opcode opcode, std::vector<hlo::InstructionIndex> operands) {
  hlo::Instruction it;
  it.opcode = opcode;
  it.shape = hlo::Shape::array(hlo::ElementType::F32, {64});
  it.operands = std::move(operands);
  return it;
}

// x, then over and over exp(tanh(x) * y), plus x, square root of the absolute value.
hlo::Module chain(size_t length) {
  hlo::Module module;
  hlo::Computation entry;
  std::vector<hlo::Instruction>& all = entry.instructions;
  for (int64_t number = 0; number < 2; ++number) {
    all.push_back(instruction(hlo::Opcode::Parameter, {}));
    all.back().parameter_number = number;
  }
  while (all.size() < length) {
    const auto last = static_cast<hlo::InstructionIndex>(all.size() - 1);
    all.push_back(instruction(hlo::Opcode::Tanh, {last}));
    all.push_back(instruction(hlo::Opcode::Multiply, {last + 1, 1}));
    all.push_back(instruction(hlo::Opcode::Exponential, {last + 2}));
    all.push_back(instruction(hlo::Opcode::Add, {last + 3, last}));
    all.push_back(instruction(hlo::Opcode::Abs, {last + 4}));
    all.push_back(instruction(hlo::Opcode::Sqrt, {last + 5}));
  }
  entry.root = static_cast<hlo::InstructionIndex>(all.size() - 1);
  module.computations.push_back(std::move(entry));
  return module;
}

void ranges_of_a_chain(benchmark::State& state) {
  const hlo::Module module = chain(static_cast<size_t>(state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(safe_ranges(module).parameters.size());
  state.SetItemsProcessed(state.iterations() * module.instruction_count());
}
BENCHMARK(ranges_of_a_chain)->Arg(10'000)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond);

void ranges_of_the_largest_module(benchmark::State& state) {
  const std::string path = SAPPER_SOURCE_DIR "/../shared/corpus/models/linen_gpt48_train_unroll24.tpu.hlo.pb.zst";
  if (!std::filesystem::exists(path)) return state.SkipWithError("no corpus");
  const hlo::Module module = *hlo::read_module(path);
  for (auto _ : state) benchmark::DoNotOptimize(safe_ranges(module).parameters.size());
  state.SetItemsProcessed(state.iterations() * module.instruction_count());
}
BENCHMARK(ranges_of_the_largest_module)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sapper::inputs
