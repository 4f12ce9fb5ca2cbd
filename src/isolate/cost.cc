#include "isolate/cost.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "isolate/reach.h"
#include "isolate/roles.h"

namespace sapper::isolate {
namespace {

using hlo::Computation;
using hlo::Instruction;
using hlo::Opcode;

// A nominal chip. What matters is the order of magnitude between pieces.
constexpr double matrix_operations_per_cycle = 32768;  // one 128x128 unit: multiply and add
constexpr double vector_operations_per_cycle = 2048;
constexpr double bytes_per_cycle = 1024;

double elements(const hlo::Shape& shape) {
  double sum = 0;
  hlo::for_each_leaf(shape, [&](const hlo::Shape& leaf) { sum += static_cast<double>(leaf.element_count()); });
  return sum;
}

double product(const auto& numbers, const hlo::Shape& shape) {
  double value = 1;
  for (const int64_t d : numbers) value *= static_cast<double>(shape.dimension(static_cast<size_t>(d)));
  return value;
}

double window_size(const Instruction& instruction) {
  double size = 1;
  for (const auto& dimension : instruction.attributes().window().dimensions())
    size *= static_cast<double>(dimension.size());
  return size;
}

// Operations other than those of called computations.
double operations(const Computation& computation, const Instruction& instruction) {
  const auto operand = [&](size_t k) -> const hlo::Shape& {
    return computation.instructions[instruction.operands[k]].shape;
  };
  const double results = elements(instruction.shape);
  switch (instruction.opcode) {
    case Opcode::Dot:
      return 2 * results *
             product(instruction.attributes().dot_dimension_numbers().lhs_contracting_dimensions(), operand(0));
    case Opcode::Convolution: {
      const auto& numbers = instruction.attributes().convolution_dimension_numbers();
      const auto features = static_cast<size_t>(numbers.kernel_input_feature_dimension());
      return 2 * results * window_size(instruction) * static_cast<double>(operand(1).dimension(features));
    }
    case Opcode::ReduceWindow: return results * window_size(instruction);
    case Opcode::Reduce:
    case Opcode::Scatter:
    case Opcode::SelectAndScatter: return elements(operand(0)) + results;
    case Opcode::Sort:
    case Opcode::Topk: return elements(operand(0)) * std::log2(2 + elements(operand(0)));
    case Opcode::Cholesky:
    case Opcode::TriangularSolve:
      return results * static_cast<double>(operand(0).rank() == 0 ? 1 : operand(0).dimensions().back());
    default: return results;
  }
}

double estimated_cycles(const Instruction& instruction) {
  const std::string_view text = config_value(instruction.attributes().backend_config(), "estimated_cycles");
  double cycles = 0;
  std::from_chars(text.data(), text.data() + text.size(), cycles);
  // Where the compiler gives up it states a number near the largest.
  return std::isfinite(cycles) && cycles < 1e15 ? std::max(cycles, 0.0) : 0;
}

bool is_free(Opcode opcode) {
  return opcode == Opcode::Parameter || opcode == Opcode::Constant || opcode == Opcode::Tuple ||
         opcode == Opcode::GetTupleElement || opcode == Opcode::Bitcast || opcode == Opcode::AfterAll;
}

double touched_bytes(const Computation& computation, const Instruction& instruction) {
  auto bytes = static_cast<double>(instruction.shape.host_byte_size());
  for (const hlo::InstructionIndex operand : instruction.operands)
    bytes += static_cast<double>(computation.instructions[operand].shape.host_byte_size());
  return bytes;
}

// Cycles of one run of a computation; inside a fusion no memory is touched.
double cycles_of(const Computation& computation, const std::vector<double>& called_cycles, bool is_fused) {
  double sum = 0;
  for (const Instruction& instruction : computation.instructions) {
    if (is_free(instruction.opcode)) continue;
    if (const double stated = estimated_cycles(instruction); stated > 0 && !is_fused) {
      sum += stated;
      continue;
    }
    double called = 0;
    for (const hlo::ComputationIndex c : instruction.called) called += called_cycles[c];
    if (instruction.opcode == Opcode::While) called *= trip_count(instruction);
    const bool runs = runs_called(instruction.opcode) || instruction.opcode == Opcode::Fusion;
    if (runs) sum += called;
    if (runs_called(instruction.opcode)) continue;
    const Kind kind = kind_of(instruction);
    const bool is_matrix = kind == Kind::Matmul || kind == Kind::Convolution;
    if (!runs)
      sum += operations(computation, instruction) /
             (is_matrix ? matrix_operations_per_cycle : vector_operations_per_cycle);
    if (!is_fused) sum += touched_bytes(computation, instruction) / bytes_per_cycle;
  }
  return sum;
}

// Heavier kinds come later in the enumeration, but moving is less than computing.
int rank(Kind kind) { return kind == Kind::Movement ? -1 : static_cast<int>(kind); }

}  // namespace

Weight weigh(const hlo::Module& piece) {
  Weight weight;
  std::vector<bool> is_applied(piece.computations.size(), false);  // reducers, comparators: no kind of their own
  for (const Computation& computation : piece.computations)
    for (const Instruction& instruction : computation.instructions)
      for (const hlo::ComputationIndex called : instruction.called)
        is_applied[called] = !runs_called(instruction.opcode) && instruction.opcode != Opcode::Fusion;
  std::vector<double> cycles;
  for (size_t c = 0; c < piece.computations.size(); ++c) {
    const Computation& computation = piece.computations[c];
    cycles.push_back(cycles_of(computation, cycles, computation.is_fusion));
    if (is_applied[c]) continue;
    for (const Instruction& instruction : computation.instructions) {
      if (is_free(instruction.opcode) || instruction.opcode == Opcode::Fusion) continue;
      if (const Kind kind = kind_of(instruction); rank(kind) > rank(weight.kind)) weight.kind = kind;
    }
  }
  weight.cycles = cycles[piece.entry];
  return weight;
}

}  // namespace sapper::isolate
