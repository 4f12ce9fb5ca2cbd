// Which elementwise operations become one step, and which views and constants these read in place.
#include "eval/planner.h"

namespace sapper::eval {

using hlo::Computation;
using hlo::ElementType;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Module;
using hlo::Opcode;
using hlo::Shape;

void Planner::form_groups() {
  users_.resize(definition_.size());
  for (const SlotUse& result : plan_.results) use_in_memory(result.slot);
  for (size_t n = nodes_.size(); n-- > 0;) {
    const auto i = static_cast<InstructionIndex>(n);
    if (!needed_[i]) continue;
    switch (nodes_[i].role) {
      case Role::Unneeded:
      case Role::Rename: break;
      case Role::Lane: join_group(i); break;
      case Role::View: place_view(i); break;
      case Role::Constant: nodes_[i].in_place = is_immediate(i) && !users_[slot_of(i)].needs_memory; break;
      case Role::Step:
      case Role::Substitute:
        for (const InstructionIndex operand : instruction(i).operands)
          for (const Slot slot : slots_of(operand)) use_in_memory(slot);
        break;
    }
  }
}

bool Planner::is_immediate(InstructionIndex i) const {
  const Instruction& it = instruction(i);
  return !traced_ && it.shape.is_array() && it.shape.element_count() == 1 && it.literal != nullptr;
}

void Planner::join_group(InstructionIndex i) {
  constexpr size_t most_members = 120;  // with three sources each: within LaneProgram's registers
  const Instruction& it = instruction(i);
  const int64_t count = it.shape.element_count();
  const Users users = users_[slot_of(i)];
  Node& node = nodes_[i];
  const bool joins = !traced_ && users.any && !users.elsewhere && groups_[users.group].element_count == count &&
                     groups_[users.group].members.size() < most_members && !is_dynamic(it);
  if (joins) {
    node.group = users.group;
  } else {
    node.group = static_cast<uint32_t>(groups_.size());
    groups_.push_back({i, count, {}});
  }
  groups_[node.group].members.push_back(i);
  for (size_t k = 0; k < it.operands.size(); ++k) {
    const Slot slot = slot_of(it.operands[k]);
    if (traced_ || is_dynamic(it)) {
      use_in_memory(slot);
    } else if (operand_shape(it, k).element_count() == count && lanes_of_slot_are(slot, operand_shape(it, k))) {
      use_in_group(slot, node.group);
    } else {
      use_in_group(slot, none);
      users_[slot].elsewhere = true;
    }
  }
}

// A renamed slot may have been defined under another type of the same bits.
bool Planner::lanes_of_slot_are(Slot slot, const Shape& shape) const {
  const Shape& defined = instruction(definition_[slot]).shape;
  return !defined.is_array() || lanes_are_bits(defined.element_type(), shape.element_type());
}

void Planner::place_view(InstructionIndex i) {
  Node& node = nodes_[i];
  node.in_place = !traced_ && !users_[slot_of(i)].needs_memory && node.view.reads_runs() &&
                  node.view.collapsed().dims.size() <= View::most_dims;
  if (node.base == none) return;
  // An immediate may be read in place through a view of it too.
  const InstructionIndex defined = definition_[node.base];
  if (node.in_place && nodes_[defined].role == Role::Constant) {
    users_[node.base].any = users_[node.base].elsewhere = true;
  } else {
    use_in_memory(node.base);
  }
}

void Planner::use_in_group(Slot slot, uint32_t group) {
  Users& users = users_[slot];
  if (users.any && users.group != group) users.elsewhere = true;
  users.any = true;
  users.group = group;
}

void Planner::use_in_memory(Slot slot) { users_[slot].any = users_[slot].elsewhere = users_[slot].needs_memory = true; }

}  // namespace sapper::eval
