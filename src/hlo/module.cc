#include "hlo/module.h"

#include <algorithm>

namespace sapper::hlo {

const Attributes& Instruction::attributes() const {
  return shared_attributes ? *shared_attributes : Attributes::default_instance();
}

Attributes& Instruction::edit_attributes() {
  // The pointee is created non-const below or by the readers, and is edited only while nobody else holds it.
  if (!shared_attributes) shared_attributes = std::make_shared<Attributes>();
  if (shared_attributes.use_count() > 1) shared_attributes = std::make_shared<Attributes>(*shared_attributes);
  return const_cast<Attributes&>(*shared_attributes);
}

std::vector<InstructionIndex> Computation::parameters() const {
  std::vector<InstructionIndex> found;
  for (InstructionIndex i = 0; i < instructions.size(); ++i)
    if (instructions[i].opcode == Opcode::Parameter) found.push_back(i);
  std::ranges::stable_sort(found, {}, [&](InstructionIndex i) { return instructions[i].parameter_number; });
  return found;
}

std::optional<Opcode> single_operation(const Computation& computation) {
  const Instruction& root = computation.root_instruction();
  if (root.operands.size() != 2 || root.operands[0] == root.operands[1]) return std::nullopt;
  for (const InstructionIndex operand : root.operands)
    if (computation.instructions[operand].opcode != Opcode::Parameter) return std::nullopt;
  return root.opcode;
}

int64_t Module::instruction_count() const {
  int64_t count = 0;
  for (const Computation& computation : computations) count += static_cast<int64_t>(computation.instructions.size());
  return count;
}

Error error_at(ErrorKind kind, const Instruction& instruction, std::string message) {
  return Error{
      kind, std::move(message), {"", instruction.position.line, instruction.position.column, instruction.name}};
}

}  // namespace sapper::hlo
