#include "inputs/index_roles.h"

#include <algorithm>
#include <limits>

#include "inputs/origins.h"

namespace sapper::inputs {
namespace {

using hlo::Computation;
using hlo::ComputationIndex;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Module;
using hlo::Opcode;

int64_t smallest(int64_t a, int64_t b) { return std::max<int64_t>(0, std::min(a, b)); }

// The largest start index of a gather's windows that fits along every indexed dimension.
int64_t gather_limit(const Computation& computation, const Instruction& gather) {
  const hlo::Shape& operand = computation.instructions[gather.operands[0]].shape;
  const auto& attributes = gather.attributes();
  int64_t limit = std::numeric_limits<int64_t>::max();
  for (const int64_t d : attributes.gather_dimension_numbers().start_index_map())
    limit =
        smallest(limit, operand.dimension(static_cast<size_t>(d)) - attributes.gather_slice_sizes(static_cast<int>(d)));
  return limit;
}

int64_t scatter_limit(const Computation& computation, const Instruction& scatter) {
  const hlo::Shape& operand = computation.instructions[scatter.operands[0]].shape;
  int64_t limit = std::numeric_limits<int64_t>::max();
  for (const int64_t d : scatter.attributes().scatter_dimension_numbers().scatter_dims_to_operand_dims())
    limit = smallest(limit, operand.dimension(static_cast<size_t>(d)) - 1);
  return limit;
}

}  // namespace

std::map<int64_t, int64_t> index_roles(const Module& module) {
  const Origins origins(module);
  const std::vector<InstructionIndex> parameters = module.entry_computation().parameters();
  std::map<int64_t, int64_t> roles;
  for (ComputationIndex c = 0; c < module.computations.size(); ++c) {
    const Computation& computation = module.computations[c];
    for (const Instruction& instruction : computation.instructions) {
      const auto operand_shape = [&](size_t i) { return computation.instructions[instruction.operands[i]].shape; };
      const auto trace = [&](size_t operand, int64_t limit) {
        for (const int64_t number : origins.parameters({c, instruction.operands[operand]}, {Opcode::Add})) {
          const Instruction& parameter =
              module.entry_computation().instructions[parameters[static_cast<size_t>(number)]];
          if (!hlo::is_integer(parameter.shape.element_type())) continue;
          const auto [role, fresh] = roles.emplace(number, limit);
          if (!fresh) role->second = std::min(role->second, limit);
        }
      };
      switch (instruction.opcode) {
        case Opcode::DynamicSlice:
          for (size_t d = 0; d + 1 < instruction.operands.size() && d < operand_shape(0).rank(); ++d)
            trace(d + 1, operand_shape(0).dimension(d) - instruction.shape.dimension(d));
          break;
        case Opcode::DynamicUpdateSlice:
          for (size_t d = 0; d + 2 < instruction.operands.size() && d < operand_shape(0).rank(); ++d)
            trace(d + 2, operand_shape(0).dimension(d) - operand_shape(1).dimension(d));
          break;
        case Opcode::Gather: trace(1, gather_limit(computation, instruction)); break;
        case Opcode::Scatter: trace(instruction.operands.size() / 2, scatter_limit(computation, instruction)); break;
        default: break;
      }
    }
  }
  return roles;
}

}  // namespace sapper::inputs
