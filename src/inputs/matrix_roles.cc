#include "inputs/matrix_roles.h"

#include <algorithm>
#include <vector>

namespace sapper::inputs {
namespace {

using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Opcode;

// Operations that keep a matrix with a heavy diagonal one.
bool keeps_diagonal(Opcode opcode) {
  switch (opcode) {
    case Opcode::Add:
    case Opcode::Bitcast:
    case Opcode::Convert:
    case Opcode::Copy:
    case Opcode::Divide:
    case Opcode::Multiply:
    case Opcode::Reshape:
    case Opcode::Transpose: return true;
    default: return false;
  }
}

bool is_cholesky(const Instruction& instruction) {
  return instruction.opcode == Opcode::Cholesky ||
         (instruction.opcode == Opcode::CustomCall && instruction.attributes().custom_call_target() == "Cholesky");
}

// Numbers of the parameters that are factored, of each computation; called ones come before their callers.
std::vector<std::set<int64_t>> factored_parameters(const hlo::Module& module) {
  std::vector<std::set<int64_t>> parameters(module.computations.size());
  for (size_t c = 0; c < module.computations.size(); ++c) {
    const std::vector<Instruction>& instructions = module.computations[c].instructions;
    std::vector<bool> factored(instructions.size());
    for (size_t i = instructions.size(); i-- > 0;) {  // users before operands
      const Instruction& instruction = instructions[i];
      if (factored[i] && instruction.opcode == Opcode::Parameter) parameters[c].insert(instruction.parameter_number);
      const bool all = is_cholesky(instruction) || (factored[i] && keeps_diagonal(instruction.opcode));
      const bool call = instruction.opcode == Opcode::Call;
      for (size_t k = 0; k < instruction.operands.size(); ++k)
        if (all || (call && parameters[instruction.called[0]].contains(static_cast<int64_t>(k))))
          factored[instruction.operands[k]] = true;
    }
  }
  return parameters;
}

}  // namespace

std::set<int64_t> positive_definite_parameters(const hlo::Module& module) {
  return factored_parameters(module)[module.entry];
}

}  // namespace sapper::inputs
