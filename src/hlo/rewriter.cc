#include "hlo/rewriter.h"

#include <fmt/format.h>

namespace sapper::hlo {

InstructionIndex Rewriter::add(Opcode opcode, const Instruction& like, ElementType type,
                               std::vector<InstructionIndex> operands) {
  Instruction made;
  made.opcode = opcode;
  made.name = fmt::format("{}.{}", like.name, to_.instructions.size());
  made.shape = like.shape.with_element_type(type);
  return copy(std::move(made), std::move(operands));
}

InstructionIndex Rewriter::copy(Instruction instruction, std::vector<InstructionIndex> operands) {
  instruction.operands = std::move(operands);
  to_.instructions.push_back(std::move(instruction));
  return static_cast<InstructionIndex>(to_.instructions.size() - 1);
}

std::vector<InstructionIndex> Rewriter::moved_operands(const Instruction& instruction) const {
  std::vector<InstructionIndex> operands;
  for (const InstructionIndex operand : instruction.operands) operands.push_back(moved_[operand]);
  return operands;
}

}  // namespace sapper::hlo
