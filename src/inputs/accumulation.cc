#include "inputs/accumulation.h"

#include <algorithm>

namespace sapper::inputs {
namespace {

using hlo::Computation;
using hlo::Instruction;
using hlo::Opcode;

// The instruction behind converts.
const Instruction& unconverted(const Computation& computation, hlo::InstructionIndex index) {
  const Instruction* instruction = &computation.instructions[index];
  while (instruction->opcode == Opcode::Convert) instruction = &computation.instructions[instruction->operands[0]];
  return *instruction;
}

bool picks(const Computation& computation) {
  return std::all_of(computation.instructions.begin(), computation.instructions.end(), [](const Instruction& it) {
    switch (it.opcode) {
      case Opcode::And:
      case Opcode::Compare:
      case Opcode::Constant:
      case Opcode::GetTupleElement:
      case Opcode::Maximum:
      case Opcode::Minimum:
      case Opcode::Not:
      case Opcode::Or:
      case Opcode::Parameter:
      case Opcode::Select:
      case Opcode::Tuple: return true;
      default: return false;
    }
  });
}

double elements(const hlo::Shape& shape) { return static_cast<double>(shape.element_count()); }

}  // namespace

Reducer reducer_of(const Computation& computation) {
  constexpr size_t most_instructions = 64;
  if (computation.instructions.size() > most_instructions) return Reducer::Other;
  const Instruction& root = unconverted(computation, computation.root);
  const bool of_parameters =
      root.operands.size() == 2 && std::all_of(root.operands.begin(), root.operands.end(), [&](auto operand) {
        return unconverted(computation, operand).opcode == Opcode::Parameter;
      });
  if (of_parameters) {
    if (root.opcode == Opcode::Add) return Reducer::Sum;
    if (root.opcode == Opcode::Multiply) return Reducer::Product;
    if (root.opcode == Opcode::Maximum) return Reducer::Maximum;
    if (root.opcode == Opcode::Minimum) return Reducer::Minimum;
  }
  return picks(computation) ? Reducer::Pick : Reducer::Other;
}

double term_count(const FlatProgram& program, const FlatNode& node) {
  const auto operands = program.operands_of(node);
  const auto operand = [&](size_t i) -> const hlo::Shape& { return *program.nodes[operands[i]].shape; };
  const auto& attributes = node.instruction->attributes();
  const double results = std::max(1.0, elements(*node.shape));
  double terms = 1;
  switch (node.instruction->opcode) {
    case Opcode::Dot:
      for (const int64_t d : attributes.dot_dimension_numbers().lhs_contracting_dimensions())
        terms *= static_cast<double>(operand(0).dimension(static_cast<size_t>(d)));
      break;
    case Opcode::Convolution: {
      const auto features = attributes.convolution_dimension_numbers().kernel_output_feature_dimension();
      terms = elements(operand(1)) /
              std::max(1.0, static_cast<double>(operand(1).dimension(static_cast<size_t>(features))));
      break;
    }
    case Opcode::ReduceWindow:
      for (const auto& dimension : attributes.window().dimensions()) terms *= static_cast<double>(dimension.size());
      break;
    case Opcode::Reduce: terms = elements(operand(0)) / results; break;
    case Opcode::Scatter: {
      const size_t results_of = operands.size() / 2;
      terms = 1 + elements(operand(results_of + 1)) /
                      std::max(1.0, std::min(elements(operand(results_of + 1)), elements(*node.shape)));
      break;
    }
    case Opcode::SelectAndScatter:
      for (const auto& dimension : attributes.window().dimensions()) terms *= static_cast<double>(dimension.size());
      break;
    case Opcode::Fft:
      for (const int64_t length : attributes.fft_length()) terms *= static_cast<double>(length);
      break;
    case Opcode::Scan:
    case Opcode::RaggedDot:
    case Opcode::ScaledDot:
      for (const int64_t d : operand(0).dimensions()) terms = std::max(terms, static_cast<double>(d));
      break;
    default: break;
  }
  return std::max(1.0, terms);
}

}  // namespace sapper::inputs
