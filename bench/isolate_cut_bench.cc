// Reading, verifying and cutting the largest module of the corpus (935,767 instructions) and a synthetic one of a
// million, a chain of layers inside a loop inside a call. Bar: 10 s and 2 GiB with everything (peak_mib: of the process
// so far).
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include "base/file.h"
#include "hlo/proto.h"
#include "hlo/verifier.h"
#include "isolate/cut.h"

namespace sapper::isolate {
namespace {

using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Opcode;
using hlo::Shape;

constexpr int64_t million = 1'000'000;

// Layers of a dot, a bias, a nonlinearity and a norm, whose sizes repeat after 100 layers.
hlo::Computation layers(const Shape& state) {
  hlo::Computation body;
  body.name = "body";
  const auto add = [&](Opcode opcode, Shape shape, std::vector<InstructionIndex> operands) -> Instruction& {
    Instruction made;
    made.opcode = opcode;
    made.name = fmt::format("{}.{}", hlo::to_string(opcode), body.instructions.size());
    made.shape = std::move(shape);
    made.operands = std::move(operands);
    return body.instructions.emplace_back(std::move(made));
  };
  const auto last = [&] { return static_cast<InstructionIndex>(body.instructions.size() - 1); };
  add(Opcode::Parameter, state, {});
  while (std::ssize(body.instructions) < million) {
    const int64_t width = 8 + std::ssize(body.instructions) / 8 % 100;
    const Shape row = Shape::array(hlo::ElementType::F32, {width});
    const InstructionIndex x = 0;
    const InstructionIndex before = last();
    add(Opcode::Slice, row, {before == 0 ? x : before});
    auto* bounds = body.instructions.back().edit_attributes().add_slice_dimensions();
    bounds->set_limit(width);
    bounds->set_stride(1);
    const InstructionIndex sliced = last();
    add(Opcode::Tanh, row, {sliced});
    add(Opcode::Multiply, row, {last(), sliced});
    auto& numbers = *add(Opcode::Dot, row, {last(), sliced}).edit_attributes().mutable_dot_dimension_numbers();
    numbers.add_lhs_batch_dimensions(0);
    numbers.add_rhs_batch_dimensions(0);
    add(Opcode::Exponential, row, {last()});
    add(Opcode::Add, row, {last(), sliced});
    Instruction& pad = add(Opcode::Broadcast, Shape::array(hlo::ElementType::F32, {width, 128 / width + 1}), {last()});
    pad.dimensions = {0};
    add(Opcode::Reshape, Shape::array(hlo::ElementType::F32, {width * (128 / width + 1)}), {last()});
  }
  add(Opcode::Slice, state, {last()});
  auto* bounds = body.instructions.back().edit_attributes().add_slice_dimensions();
  bounds->set_limit(state.dimension(0));
  bounds->set_stride(1);
  body.root = last();
  return body;
}

std::string synthetic() {
  const Shape state = Shape::array(hlo::ElementType::F32, {128});
  hlo::Module module;
  module.name = "synthetic";
  module.computations.push_back(layers(state));
  hlo::Computation entry;
  entry.name = "entry";
  for (const Opcode opcode : {Opcode::Parameter, Opcode::Call}) {
    Instruction& made = entry.instructions.emplace_back();
    made.opcode = opcode;
    made.name = hlo::to_string(opcode);
    made.shape = state;
  }
  entry.instructions[1].operands = {0};
  entry.instructions[1].called = {0};
  entry.root = 1;
  module.entry = 1;
  module.computations.push_back(std::move(entry));
  return hlo::to_proto(module);
}

const std::string& bytes(bool is_synthetic) {
  static const std::string made = synthetic();
  static const std::string read =
      read_file(SAPPER_SOURCE_DIR "/../shared/corpus/models/linen_gpt48_train_unroll24.tpu.hlo.pb.zst").value_or("");
  return is_synthetic ? made : read;
}

void read_verify_cut(benchmark::State& state) {
  const auto granularity = static_cast<Granularity>(state.range(0));
  const std::string& source = bytes(state.range(1) != 0);
  if (source.empty()) return state.SkipWithError("no corpus");
  size_t pieces = 0;
  for (auto _ : state) {
    const auto module = hlo::parse_proto(source);
    if (!module) return state.SkipWithError(module.error().describe().c_str());
    if (const Status legal = hlo::verify(*module); !legal) return state.SkipWithError(legal.error().describe().c_str());
    pieces = cut(*module, {.granularity = granularity}).pieces.size();
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_mib"] = static_cast<double>(usage.ru_maxrss) / 1024;
  state.counters["distinct"] = static_cast<double>(pieces);
  state.SetLabel(std::string(to_string(granularity)) + (state.range(1) != 0 ? ", synthetic" : ", corpus"));
}
BENCHMARK(read_verify_cut)->ArgsProduct({{0, 1, 2, 3}, {0, 1}})->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace sapper::isolate
