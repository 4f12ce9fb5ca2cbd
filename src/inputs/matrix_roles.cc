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

}  // namespace

std::set<int64_t> positive_definite_parameters(const hlo::Module& module) {
  const std::vector<Instruction>& instructions = module.entry_computation().instructions;
  std::vector<bool> factored(instructions.size());
  std::set<int64_t> parameters;
  for (size_t i = instructions.size(); i-- > 0;) {  // users before operands
    const Instruction& instruction = instructions[i];
    if (factored[i] && instruction.opcode == Opcode::Parameter) parameters.insert(instruction.parameter_number);
    if (!is_cholesky(instruction) && !(factored[i] && keeps_diagonal(instruction.opcode))) continue;
    for (const InstructionIndex operand : instruction.operands) factored[operand] = true;
  }
  return parameters;
}

}  // namespace sapper::inputs
