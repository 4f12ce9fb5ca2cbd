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
      case Role::Reduce: take_operand(i); break;
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
    node.group = new_group(i, count);
  }
  groups_[node.group].members.push_back(i);
  for (size_t k = 0; k < it.operands.size(); ++k) use_by_group(i, k, node.group);
}

// Elementwise operations that only this reduction needs are computed as it folds them; short runs are not worth it.
void Planner::take_operand(InstructionIndex reduce) {
  constexpr int64_t shortest_run = 128;
  const Instruction& it = instruction(reduce);
  use_in_memory(slot_of(it.operands[1]));
  if (reduces_.at(reduce).run_length() < shortest_run) return use_in_memory(slot_of(it.operands[0]));
  nodes_[reduce].group = new_group(reduce, operand_shape(it, 0).element_count());
  use_by_group(reduce, 0, nodes_[reduce].group);
}

uint32_t Planner::new_group(InstructionIndex root, int64_t element_count) {
  groups_.push_back({root, element_count, {}});
  return static_cast<uint32_t>(groups_.size() - 1);
}

// `i`, which belongs to the group, reads its operand k.
void Planner::use_by_group(InstructionIndex i, size_t operand, uint32_t group) {
  const Instruction& it = instruction(i);
  const Slot slot = slot_of(it.operands[operand]);
  const Shape& shape = operand_shape(it, operand);
  if (traced_ || is_dynamic(it)) {
    use_in_memory(slot);
  } else if (shape.element_count() == groups_[group].element_count && lanes_of_slot_are(slot, shape)) {
    use_in_group(slot, group);
  } else {
    use_in_group(slot, none);
    users_[slot].elsewhere = true;
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
