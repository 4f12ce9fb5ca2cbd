#include "inputs/float_roles.h"

#include <algorithm>

#include "inputs/origins.h"

namespace sapper::inputs {
namespace {

using hlo::Instruction;
using hlo::Module;
using hlo::Opcode;
using hlo::Shape;

template <class Dimensions>
int64_t product(const Shape& shape, const Dimensions& dimensions) {
  int64_t length = 1;
  for (const int64_t d : dimensions) length *= shape.dimension(static_cast<size_t>(d));
  return length;
}

}  // namespace

std::map<int64_t, int64_t> contracted_lengths(const Module& module) {
  const Origins origins(module);
  std::map<int64_t, int64_t> lengths;
  for (hlo::ComputationIndex c = 0; c < module.computations.size(); ++c) {
    const std::vector<Instruction>& instructions = module.computations[c].instructions;
    for (const Instruction& instruction : instructions) {
      const auto shape = [&](size_t operand) -> const Shape& {
        return instructions[instruction.operands[operand]].shape;
      };
      const auto contract = [&](size_t operand, int64_t length) {
        for (const int64_t number : origins.parameters({c, instruction.operands[operand]})) {
          int64_t& longest = lengths[number];
          longest = std::max(longest, length);
        }
      };
      if (instruction.opcode == Opcode::Dot) {
        const auto& numbers = instruction.attributes().dot_dimension_numbers();
        contract(0, product(shape(0), numbers.lhs_contracting_dimensions()));
        contract(1, product(shape(1), numbers.rhs_contracting_dimensions()));
      } else if (instruction.opcode == Opcode::Convolution) {
        const auto& numbers = instruction.attributes().convolution_dimension_numbers();
        contract(1, product(shape(1), numbers.kernel_spatial_dimensions()) *
                        shape(1).dimension(static_cast<size_t>(numbers.kernel_input_feature_dimension())));
      }
    }
  }
  return lengths;
}

std::set<int64_t> positive_parameters(const Module& module) {
  const Origins origins(module);
  std::set<int64_t> positive;
  for (hlo::ComputationIndex c = 0; c < module.computations.size(); ++c) {
    const std::vector<Instruction>& instructions = module.computations[c].instructions;
    for (const Instruction& instruction : instructions) {
      if (instruction.opcode != Opcode::Sqrt && instruction.opcode != Opcode::Rsqrt &&
          instruction.opcode != Opcode::Log)
        continue;
      const Instruction* sum = &instructions[instruction.operands[0]];
      while (sum->opcode == Opcode::Divide) sum = &instructions[sum->operands[0]];
      if (sum->opcode != Opcode::Add) continue;
      for (const hlo::InstructionIndex term : sum->operands)
        positive.merge(origins.parameters({c, term}, {Opcode::Multiply}));
    }
  }
  return positive;
}

}  // namespace sapper::inputs
