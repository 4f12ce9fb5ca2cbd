// The steps of a plan, but for those with lane programs (plan_lanes.cc).
#include <algorithm>

#include "eval/planner.h"

namespace sapper::eval {

using hlo::Computation;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Opcode;
using hlo::Shape;

void Planner::emit(InstructionIndex i) {
  Node& node = nodes_[i];
  if (!types_agree(i)) return add_plain_step(i, UnsupportedStep{});
  switch (node.role) {
    case Role::Unneeded: return;
    case Role::Rename:
      if (traced_) add_step(i, RenameStep{});
      return;
    case Role::Lane:
      if (groups_[node.group].root == i) emit_lanes(i);
      return;
    case Role::Reduce: return emit_reduce(i);
    case Role::View:
      if (!node.in_place && users_[slot_of(i)].any()) emit_view(i);
      return;
    case Role::Constant:
      if (!node.in_place) add_plain_step(i, ConstantStep{});
      return;
    case Role::Step: return emit_step(i);
    case Role::Substitute: return add_plain_step(i, SubstituteStep{});
  }
}

void Planner::emit_view(InstructionIndex i) {
  const Node& node = nodes_[i];
  if (node.base == none) return emit_counter(i);
  Step& step = add_step(i, ViewStep{node.view});
  step.operands.push_back({node.base, false});
  step.outputs.push_back({slot_of(i), false});
}

void Planner::emit_step(InstructionIndex i) {
  const Instruction& it = instruction(i);
  switch (it.opcode) {
    case Opcode::Parameter:
    case Opcode::AfterAll:
      if (traced_) add_step(i, RenameStep{});
      return;
    case Opcode::CopyStart:
    case Opcode::AsyncStart:
    case Opcode::AsyncUpdate: return emit_start(i);
    case Opcode::Bitcast:
      if (!bitcasts_[i]) return add_plain_step(i, UnsupportedStep{});
      return add_plain_step(i, BitcastStep{*bitcasts_[i]});
    case Opcode::BitcastConvert: return add_plain_step(i, RepackStep{});
    case Opcode::Call:
    case Opcode::Fusion: return add_plain_step(i, CallStep{it.called[0]});
    case Opcode::Scatter: return add_plain_step(i, ScatterStep{});
    case Opcode::While: return add_plain_step(i, WhileStep{it.called[0], it.called[1]});
    case Opcode::Conditional: return emit_conditional(i);
    case Opcode::CustomCall:
      if (is_offload(it)) return add_plain_step(i, CallStep{it.called[0]});
      break;
    default: break;
  }
  if (is_dynamic(it)) return emit_dynamic_step(i);
  switch (it.opcode) {
    case Opcode::Pad: return add_plain_step(i, PadStep{});
    case Opcode::Concatenate: return add_plain_step(i, ConcatenateStep{});
    case Opcode::DynamicSlice: return add_plain_step(i, DynamicSliceStep{});
    case Opcode::DynamicUpdateSlice: return add_plain_step(i, DynamicUpdateSliceStep{});
    case Opcode::PartitionId:
    case Opcode::ReplicaId: return add_plain_step(i, ZeroStep{});
    default: break;
  }
  if (const Op op = find_op(it.opcode)) return add_plain_step(i, OpStep{op});
  add_plain_step(i, UnsupportedStep{});
}

// A custom call on another core of the chip (XLA:TPU's SparseCore) that says what it computes by a computation on the
// same operands, whatever its target is named.
bool Planner::is_offload(const Instruction& call) const {
  if (computation_.execution_thread != "sparsecore" || call.called.size() != 1) return false;
  const Computation& called = module_.computations[call.called[0]];
  const std::vector<InstructionIndex> parameters = called.parameters();
  return called.root_instruction().shape.same_ignoring_layout(call.shape) &&
         std::equal(parameters.begin(), parameters.end(), call.operands.begin(), call.operands.end(),
                    [&](InstructionIndex parameter, InstructionIndex operand) {
                      return called.instructions[parameter].shape.same_ignoring_layout(instruction(operand).shape);
                    });
}

// Operations that know about the actual sizes of dynamic dimensions; with any other the elements past these would
// count.
void Planner::emit_dynamic_step(InstructionIndex i) {
  const Instruction& it = instruction(i);
  switch (it.opcode) {
    case Opcode::Broadcast:
    case Opcode::Transpose: {
      const Shape& operand = operand_shape(it, 0);
      return add_plain_step(i, ViewStep{*apply_to_view(it, View::of(operand.dimensions()))});
    }
    case Opcode::DynamicReshape:
    case Opcode::Gather:
    case Opcode::GetDimensionSize:
    case Opcode::Map:
    case Opcode::Reduce:
    case Opcode::ReduceWindow:
    case Opcode::SelectAndScatter:
    case Opcode::SetDimensionSize:
    case Opcode::Sort:
    case Opcode::Topk: return add_plain_step(i, OpStep{find_op(it.opcode)});
    default: return add_plain_step(i, UnsupportedStep{});
  }
}

// The computation that an asynchronous operation wraps; nullopt when its start is not in sight.
std::optional<hlo::ComputationIndex> Planner::wrapped_computation(InstructionIndex i) const {
  while (instruction(i).opcode == Opcode::AsyncUpdate) i = instruction(i).operands[0];
  if (instruction(i).opcode != Opcode::AsyncStart) return std::nullopt;
  return instruction(i).called[0];
}

void Planner::emit_start(InstructionIndex i) {
  const std::vector<Slot>& own = own_leaves_.at(i);
  const size_t computed = instruction(i).opcode == Opcode::CopyStart ? 0 : emit_async_call(i, own);
  if (computed >= own.size()) return;
  Step& zeros = add_step(i, ZeroStep{});
  for (size_t k = computed; k < own.size(); ++k) zeros.outputs.push_back({own[k], false});
}

// Runs the wrapped computation as soon as all its operands are there. Returns how many of the leaves it makes.
size_t Planner::emit_async_call(InstructionIndex i, const std::vector<Slot>& own) {
  const std::vector<Shape>& state = instruction(i).shape.elements();
  const std::optional<hlo::ComputationIndex> wrapped = wrapped_computation(i);
  const uint32_t results = leaf_count(state[1]);
  const bool complete = wrapped && state[0].elements().size() == module_.computations[*wrapped].parameters().size();
  if (complete && results == leaf_count(module_.computations[*wrapped].root_instruction().shape)) {
    Step& call = add_step(i, CallStep{*wrapped});
    for (const Slot slot : slots_of(i).first(leaf_count(state[0]))) call.operands.push_back({slot, false});
    for (const Slot slot : std::span(own).first(results)) call.outputs.push_back({slot, false});
  } else if (complete || results > 0) {
    add_plain_step(i, UnsupportedStep{});  // a part of the results, or known before their operands
  }
  return results;
}

void Planner::emit_conditional(InstructionIndex i) {
  const Instruction& it = instruction(i);
  ConditionalStep work;
  uint32_t position = 1;
  for (size_t k = 1; k < it.operands.size(); ++k) {
    work.branch_operands.push_back(position);
    position += nodes_[it.operands[k]].leaves;
  }
  work.branch_operands.push_back(position);
  add_plain_step(i, std::move(work));
}

Step& Planner::add_step(InstructionIndex i, decltype(Step::work) work) {
  Step& step = plan_.steps.emplace_back();
  step.work = std::move(work);
  step.instruction = i;
  return step;
}

void Planner::add_operands(Step& step, const Instruction& it) {
  for (const InstructionIndex operand : it.operands)
    for (const Slot slot : slots_of(operand)) step.operands.push_back({slot, false});
}

void Planner::add_plain_step(InstructionIndex i, decltype(Step::work) work) {
  Step& step = add_step(i, std::move(work));
  add_operands(step, instruction(i));
  for (const Slot slot : slots_of(i)) step.outputs.push_back({slot, false});
}

void Planner::mark_last_uses() {
  std::vector<bool> used(definition_.size(), false);
  const auto mark = [&](SlotUse& use) {
    use.dies = !used[use.slot];
    used[use.slot] = true;
  };
  for (size_t k = plan_.results.size(); k-- > 0;) mark(plan_.results[k]);
  for (size_t s = plan_.steps.size(); s-- > 0;) {
    Step& step = plan_.steps[s];
    for (SlotUse& output : step.outputs) output.dies = !used[output.slot];
    for (size_t k = step.operands.size(); k-- > 0;) mark(step.operands[k]);
  }
  for (SlotUse& parameter : plan_.parameters) parameter.dies = !used[parameter.slot];
}

}  // namespace sapper::eval
