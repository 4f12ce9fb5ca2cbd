#include "eval/planner.h"

#include <algorithm>

#include "eval/lane_tables.h"

namespace sapper::eval {

using hlo::Computation;
using hlo::ElementType;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Module;
using hlo::Opcode;
using hlo::Shape;

namespace {

View iota_view(const Instruction& it) {
  View view;
  for (const int64_t size : it.shape.dimensions()) view.dims.push_back({size, 0});
  const size_t dimension = it.dimensions.empty() ? 0 : static_cast<size_t>(it.dimensions[0]);
  if (dimension < view.dims.size()) view.dims[dimension].stride = 1;
  return view;
}

}  // namespace

Plan Planner::make() {
  find_needed();
  for (InstructionIndex i = 0; i < nodes_.size(); ++i)
    if (needed_[i]) assign(i);
  for (const InstructionIndex i : computation_.parameters()) {
    if (!needed_[i]) assign(i);
    for (const Slot slot : slots_of(i)) plan_.parameters.push_back({slot, false});
  }
  for (const Slot slot : slots_of(computation_.root)) plan_.results.push_back({slot, false});
  form_groups();
  for (InstructionIndex i = 0; i < nodes_.size(); ++i)
    if (needed_[i]) emit(i);
  mark_last_uses();
  plan_.computation = &computation_;
  plan_.slot_count = static_cast<uint32_t>(definition_.size());
  if (traced_) {
    for (InstructionIndex i = 0; i < nodes_.size(); ++i) {
      const auto slots = slots_of(i);
      plan_.instruction_slots.emplace_back(slots.begin(), slots.end());
    }
  }
  return std::move(plan_);
}

void Planner::find_needed() {
  needed_.assign(nodes_.size(), false);
  needed_[computation_.root] = true;
  for (size_t i = nodes_.size(); i-- > 0;) {
    if (!needed_[i]) continue;
    for (const InstructionIndex operand : computation_.instructions[i].operands) needed_[operand] = true;
  }
}

// Does a dynamic dimension of result or operands need looking after?
bool Planner::is_dynamic(const Instruction& user) const {
  return user.shape.is_dynamic() ||
         std::any_of(user.operands.begin(), user.operands.end(),
                     [&](InstructionIndex operand) { return instruction(operand).shape.is_dynamic(); });
}

// Is a lane of one type, bit for bit, a lane of the other?
bool Planner::lanes_are_bits(ElementType from, ElementType to) {
  if (from == to) return true;
  return lane_type(from) == from && lane_type(to) == to && to != ElementType::Pred;
}

Slot Planner::new_slot(InstructionIndex i, const Shape& leaf) {
  definition_.push_back(i);
  slot_types_.push_back(leaf.element_type());
  plan_.slot_bytes.push_back(leaf.host_byte_size());
  return static_cast<Slot>(definition_.size() - 1);
}

void Planner::define(InstructionIndex i, Role role) {
  Node& node = nodes_[i];
  node.role = role;
  node.first_leaf = static_cast<uint32_t>(leaves_.size());
  node.leaves = leaf_count(instruction(i).shape);
  for_each_leaf(instruction(i).shape, [&](const Shape& leaf) { leaves_.push_back(new_slot(i, leaf)); });
}

// `i` is leaves [first, first + count) of `of`.
void Planner::rename(InstructionIndex i, InstructionIndex of, uint32_t first, uint32_t count) {
  nodes_[i].role = Role::Rename;
  nodes_[i].first_leaf = nodes_[of].first_leaf + first;
  nodes_[i].leaves = count;
}

void Planner::rename_leaves(InstructionIndex i, const std::vector<Slot>& slots) {
  nodes_[i].role = Role::Rename;
  nodes_[i].first_leaf = static_cast<uint32_t>(leaves_.size());
  nodes_[i].leaves = static_cast<uint32_t>(slots.size());
  leaves_.insert(leaves_.end(), slots.begin(), slots.end());
}

void Planner::assign(InstructionIndex i) {
  const Instruction& it = instruction(i);
  const Substitute& substitute = options_.substitute;
  if (substitute.covers && substitute.covers(computation_, it)) return define(i, Role::Substitute);
  switch (it.opcode) {
    case Opcode::Tuple: {
      std::vector<Slot> slots;
      for (const InstructionIndex operand : it.operands) {
        const auto leaves = slots_of(operand);
        slots.insert(slots.end(), leaves.begin(), leaves.end());
      }
      return rename_leaves(i, slots);
    }
    case Opcode::GetTupleElement: return rename_element(i, static_cast<size_t>(it.tuple_index));
    case Opcode::Copy:
    case Opcode::OptBarrier:
    case Opcode::AddDependency:
    case Opcode::Domain: return rename(i, it.operands[0]);
    case Opcode::AsyncUpdate: return it.operands.size() > 1 ? assign_start(i) : rename(i, it.operands[0]);
    case Opcode::CopyDone: return rename_element(i, 0);
    case Opcode::AsyncDone: return rename_element(i, 1);
    case Opcode::CopyStart:
    case Opcode::AsyncStart: return assign_start(i);
    case Opcode::Constant: return define(i, Role::Constant);
    case Opcode::Reshape:
      if (is_dynamic(it)) return define(i, Role::Step);
      return rename(i, it.operands[0]);
    case Opcode::Bitcast: return assign_bitcast(i);
    case Opcode::BitcastConvert: return assign_bitcast_convert(i);
    case Opcode::Iota:
    case Opcode::Broadcast:
    case Opcode::Transpose:
    case Opcode::Slice:
    case Opcode::Reverse: return assign_view(i);
    case Opcode::Reduce: return assign_reduce(i);
    default: return assign_operation(i);
  }
}

void Planner::rename_element(InstructionIndex i, size_t element) {
  const InstructionIndex tuple = instruction(i).operands[0];
  const std::vector<Shape>& elements = instruction(tuple).shape.elements();
  uint32_t first = 0;
  for (size_t k = 0; k < element; ++k) first += leaf_count(elements[k]);
  rename(i, tuple, first, leaf_count(elements[element]));
}

// (destination, source, context) of a copy; ((operands), results, contexts...) of an async computation, some of whose
// operands may come with a later async-update.
void Planner::assign_start(InstructionIndex i) {
  const Instruction& it = instruction(i);
  std::vector<Slot> slots;
  if (it.opcode == Opcode::AsyncUpdate) {
    const auto state = slots_of(it.operands[0]);
    const uint32_t bound = leaf_count(operand_shape(it, 0).elements()[0]);
    slots.assign(state.begin(), state.begin() + bound);
  }
  const auto append_operands = [&] {
    for (const InstructionIndex operand : std::span(it.operands).subspan(it.opcode == Opcode::AsyncUpdate ? 1 : 0)) {
      const auto leaves = slots_of(operand);
      slots.insert(slots.end(), leaves.begin(), leaves.end());
    }
  };
  if (it.opcode == Opcode::CopyStart) append_operands();
  append_operands();
  const size_t renamed = slots.size();
  size_t leaf = 0;
  for_each_leaf(it.shape, [&](const Shape& shape) {
    if (leaf++ >= renamed) slots.push_back(new_slot(i, shape));
  });
  rename_leaves(i, slots);
  nodes_[i].role = Role::Step;
  own_leaves_[i] = std::vector<Slot>(slots.begin() + static_cast<int64_t>(renamed), slots.end());
}

void Planner::assign_bitcast(InstructionIndex i) {
  const Instruction& it = instruction(i);
  bitcasts_[i] = make_bitcast(operand_shape(it, 0), it.shape);
  const auto& bitcast = bitcasts_[i];
  const bool lanes_agree = lanes_are_bits(operand_shape(it, 0).element_type(), it.shape.element_type());
  if (bitcast && bitcast->is_rename() && lanes_agree && !is_dynamic(it)) return rename(i, it.operands[0]);
  define(i, Role::Step);
}

void Planner::assign_bitcast_convert(InstructionIndex i) {
  const Instruction& it = instruction(i);
  const ElementType from = operand_shape(it, 0).element_type();
  const ElementType to = it.shape.element_type();
  const bool whole_bytes = hlo::bit_width(from) % 8 == 0 && hlo::bit_width(to) % 8 == 0;
  if (whole_bytes && to != ElementType::Pred && lanes_are_bits(from, to) && !is_dynamic(it))
    return rename(i, it.operands[0]);
  define(i, Role::Step);
}

void Planner::assign_view(InstructionIndex i) {
  const Instruction& it = instruction(i);
  define(i, Role::View);
  Node& node = nodes_[i];
  if (it.opcode == Opcode::Iota) {
    node.view = iota_view(it);
    node.base_type = it.shape.element_type();
    return;
  }
  if (is_dynamic(it)) {
    node.role = Role::Step;
    return;
  }
  // A view of a view is a view of what that one is of.
  const Shape& shape = operand_shape(it, 0);
  const Slot operand = slot_of(it.operands[0]);
  const Node& source = nodes_[definition_[operand]];
  if (source.role == Role::View && !traced_) {
    if (const auto under_shape = source.view.reshaped(shape.dimensions())) {
      if (auto composed = apply_to_view(it, *under_shape)) {
        node.view = std::move(*composed);
        node.base = source.base;
        node.base_type = source.base_type;
        return;
      }
    }
  }
  node.view = *apply_to_view(it, View::of(shape.dimensions()));
  node.base = operand;
  node.base_type = shape.element_type();
}

void Planner::assign_reduce(InstructionIndex i) {
  const Instruction& it = instruction(i);
  define(i, Role::Step);
  if (it.operands.size() != 2 || is_dynamic(it)) return;
  std::optional<FastReduce> reduce = FastReduce::make(module_, it, operand_shape(it, 0));
  if (!reduce || operand_shape(it, 1).element_type() != it.shape.element_type()) return;
  nodes_[i].role = Role::Reduce;
  reduces_.emplace(i, std::move(*reduce));
}

void Planner::assign_operation(InstructionIndex i) {
  const Instruction& it = instruction(i);
  define(i, Role::Step);
  if (it.operands.empty() || it.opcode == Opcode::Parameter || !it.shape.is_array()) return;
  const size_t typed_operand = it.opcode == Opcode::Select ? 1 : 0;
  const Shape& shape = operand_shape(it, typed_operand);
  if (!shape.is_array()) return;
  std::optional<LaneOperation> operation = lane_operation(it, shape.element_type());
  if (it.opcode == Opcode::StochasticConvert) {
    const LaneOperation convert = stochastic_convert(lane_type(shape.element_type()),
                                                     operand_shape(it, 1).element_type(), it.shape.element_type());
    if (convert.function != nullptr) operation = convert;
  }
  if (!operation) return;
  nodes_[i].role = Role::Lane;
  nodes_[i].operation = operation;
}

Plan make_plan(const Module& module, const Computation& computation, const Options& options) {
  return Planner(module, computation, options).make();
}

}  // namespace sapper::eval
