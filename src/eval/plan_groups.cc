// Which elementwise operations become one step, and which views and constants these read in place.
//
// Memory traffic is what counts. Users come before what they use, so when it is an operation's turn, the steps that
// read its value are known. It joins the one group that reads it; several, if computing it anew there takes no more
// reading than its value would; else the first of them, which then writes it for the others.
#include <algorithm>

#include "eval/planner.h"

namespace sapper::eval {

using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Opcode;
using hlo::Shape;

void Planner::form_groups() {
  users_.resize(definition_.size());
  const auto end = static_cast<InstructionIndex>(nodes_.size());
  for (const SlotUse& result : plan_.results) use_in_memory(result.slot, end);
  for (size_t n = nodes_.size(); n-- > 0;) {
    const auto i = static_cast<InstructionIndex>(n);
    if (!needed_[i]) continue;
    switch (nodes_[i].role) {
      case Role::Unneeded:
      case Role::Rename: break;
      case Role::Lane: join_groups(i); break;
      case Role::Reduce: take_operand(i); break;
      case Role::View: place_view(i); break;
      case Role::Constant: nodes_[i].in_place = is_immediate(i) && !users_[slot_of(i)].needs_memory; break;
      case Role::Step:
      case Role::Substitute:
        for (const InstructionIndex operand : instruction(i).operands)
          for (const Slot slot : slots_of(operand)) use_in_memory(slot, i);
        break;
    }
  }
}

bool Planner::is_immediate(InstructionIndex i) const {
  const Instruction& it = instruction(i);
  return !traced_ && it.shape.is_array() && it.shape.element_count() == 1 && it.literal != nullptr;
}

void Planner::join_groups(InstructionIndex i) {
  std::vector<uint32_t> groups = groups_to_join(i);
  if (groups.empty()) groups.push_back(new_group(i, instruction(i).shape.element_count()));
  nodes_[i].group = groups[0];
  for (const uint32_t group : groups) {
    groups_[group].members.push_back(i);
    for (size_t k = 0; k < instruction(i).operands.size(); ++k) use_by_group(i, k, group);
  }
}

std::vector<uint32_t> Planner::groups_to_join(InstructionIndex i) {
  constexpr size_t most_copies = 4;  // of a cheap operation
  const Users& users = users_[slot_of(i)];
  if (traced_ || is_dynamic(instruction(i)) || users.groups.empty()) return {};
  const bool all_have_room =
      std::all_of(users.groups.begin(), users.groups.end(), [&](uint32_t group) { return has_room_for(group, i); });
  if (!users.elsewhere && all_have_room &&
      (users.groups.size() == 1 || (users.groups.size() <= most_copies && is_cheap(i))))
    return users.groups;
  const auto root = [&](uint32_t group) { return groups_[group].root; };
  const uint32_t first = std::ranges::min(users.groups, {}, root);
  if (users.first <= root(first) || !has_room_for(first, i)) return {};
  groups_[first].results.push_back(i);
  return {first};
}

bool Planner::has_room_for(uint32_t group, InstructionIndex i) const {
  constexpr size_t most_members = 120;  // with three sources each: within LaneProgram's registers
  return groups_[group].element_count == instruction(i).shape.element_count() &&
         groups_[group].members.size() < most_members;
}

// Takes less than reading a value from memory does, and reads one itself.
bool Planner::is_cheap(InstructionIndex i) const {
  const Instruction& it = instruction(i);
  switch (it.opcode) {
    case Opcode::Abs:
    case Opcode::Add:
    case Opcode::And:
    case Opcode::Compare:
    case Opcode::Convert:
    case Opcode::Maximum:
    case Opcode::Minimum:
    case Opcode::Multiply:
    case Opcode::Negate:
    case Opcode::Not:
    case Opcode::Or:
    case Opcode::Select:
    case Opcode::Subtract: break;
    default: return false;
  }
  const auto read = std::count_if(it.operands.begin(), it.operands.end(), [&](InstructionIndex operand) {
    const Role role = nodes_[definition_[slot_of(operand)]].role;
    return role != Role::View && role != Role::Constant;
  });
  return read <= 1;
}

// Elementwise operations that only this reduction needs are computed as it folds them; short runs are not worth it.
void Planner::take_operand(InstructionIndex reduce) {
  constexpr int64_t shortest_run = 128;
  const Instruction& it = instruction(reduce);
  use_in_memory(slot_of(it.operands[1]), reduce);
  if (reduces_.at(reduce).run_length() < shortest_run) return use_in_memory(slot_of(it.operands[0]), reduce);
  nodes_[reduce].group = new_group(reduce, operand_shape(it, 0).element_count());
  use_by_group(reduce, 0, nodes_[reduce].group);
}

uint32_t Planner::new_group(InstructionIndex root, int64_t element_count) {
  groups_.push_back({root, element_count, {}, {}});
  return static_cast<uint32_t>(groups_.size() - 1);
}

// `i`, which belongs to the group, reads its operand k.
void Planner::use_by_group(InstructionIndex i, size_t operand, uint32_t group) {
  const Instruction& it = instruction(i);
  const Slot slot = slot_of(it.operands[operand]);
  const Shape& shape = operand_shape(it, operand);
  if (traced_ || is_dynamic(it)) {
    use_in_memory(slot, groups_[group].root);
  } else if (shape.element_count() == groups_[group].element_count && lanes_of_slot_are(slot, shape)) {
    std::vector<uint32_t>& groups = users_[slot].groups;
    // Those further back may be there twice: then there are more than an operation is copied to.
    constexpr std::ptrdiff_t most_remembered = 8;
    const auto recent = std::ssize(groups) > most_remembered ? groups.end() - most_remembered : groups.begin();
    if (std::find(recent, groups.end(), group) == groups.end()) groups.push_back(group);
  } else {
    use_elsewhere(slot, groups_[group].root);
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
    use_elsewhere(node.base, i);
  } else {
    use_in_memory(node.base, i);
  }
}

void Planner::use_elsewhere(Slot slot, InstructionIndex step) {
  users_[slot].elsewhere = true;
  users_[slot].first = std::min(users_[slot].first, step);
}

void Planner::use_in_memory(Slot slot, InstructionIndex step) {
  use_elsewhere(slot, step);
  users_[slot].needs_memory = true;
}

}  // namespace sapper::eval
