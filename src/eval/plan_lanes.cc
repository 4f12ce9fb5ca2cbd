// The steps with lane programs: elementwise chains and what they end in.
#include <algorithm>

#include "eval/planner.h"

namespace sapper::eval {

using hlo::ElementType;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Shape;

void Planner::emit_lanes(InstructionIndex i) {
  LaneStep lanes;
  Step& step = add_step(i, LaneStep{});
  step.outputs.push_back({slot_of(i), false});
  lanes.program = program_of(groups_[nodes_[i].group], i, step);

  // Over which operand may the result be written? One that is read only as it lies, in elements of the result's size.
  const int result_bytes = hlo::host_bytes(lanes.program->result_type(0));
  lanes.reusable.assign(step.operands.size(), 1);
  for (const LaneProgram::Source& source : lanes.program->sources()) {
    const bool reads_operand =
        source.kind != LaneProgram::Source::Kind::Constant && source.kind != LaneProgram::Source::Kind::Counter;
    if (!reads_operand) continue;
    if (source.kind != LaneProgram::Source::Kind::Linear || hlo::host_bytes(source.type) != result_bytes)
      lanes.reusable[source.operand] = 0;
  }
  step.work = std::move(lanes);
}

// A counter that is needed in memory.
void Planner::emit_counter(InstructionIndex i) {
  auto program = std::make_unique<LaneProgram>();
  const LaneProgram::Register results[] = {program->add_source(counter(nodes_[i]))};
  program->finish(results);
  Step& step = add_step(i, LaneStep{std::move(program), {}});
  step.outputs.push_back({slot_of(i), false});
}

void Planner::emit_reduce(InstructionIndex i) {
  const Instruction& it = instruction(i);
  ReduceStep work{std::move(reduces_.at(i)), nullptr};
  Step& step = add_step(i, ReduceStep{});
  step.operands.push_back({slot_of(it.operands[1]), false});
  step.outputs.push_back({slot_of(i), false});
  const Slot reduced = slot_of(it.operands[0]);
  if (nodes_[i].group != none && (!groups_[nodes_[i].group].members.empty() || nodes_[definition_[reduced]].in_place)) {
    work.program = program_of(groups_[nodes_[i].group], it.operands[0], step);
  } else {
    step.operands.push_back({reduced, false});
  }
  step.work = std::move(work);
}

// The program that computes `result`, a member of the group or what it would read, and then the group's other results.
// What it reads becomes the step's operands, and the group's results its outputs, in the program's order.
std::unique_ptr<LaneProgram> Planner::program_of(const Group& group, InstructionIndex result, Step& step) {
  auto program = std::make_unique<LaneProgram>();
  std::map<Slot, LaneProgram::Register> members;
  for (const InstructionIndex member : group.members) members[slot_of(member)] = 0;
  std::map<std::pair<Slot, ElementType>, LaneProgram::Register> sources;
  const auto add_source = [&](InstructionIndex i) {
    const Shape& shape = instruction(i).shape;
    if (members.contains(slot_of(i))) return;
    const auto [source, is_new] = sources.try_emplace({slot_of(i), shape.element_type()}, 0);
    if (!is_new) return;
    source->second = program->add_source(
        source_of(step, slot_of(i), shape.element_type(), shape.element_count(), group.element_count));
  };
  const auto register_of = [&](InstructionIndex i) {
    const auto member = members.find(slot_of(i));
    return member != members.end() ? member->second : sources.at({slot_of(i), instruction(i).shape.element_type()});
  };
  // Sources first, as LaneProgram wants them; members are listed last first.
  for (size_t m = group.members.size(); m-- > 0;)
    for (const InstructionIndex operand : instruction(group.members[m]).operands) add_source(operand);
  add_source(result);
  for (size_t m = group.members.size(); m-- > 0;) {
    const InstructionIndex member = group.members[m];
    const Instruction& it = instruction(member);
    std::vector<LaneProgram::Register> operands;
    for (const InstructionIndex operand : it.operands) operands.push_back(register_of(operand));
    members[slot_of(member)] = program->add_step(*nodes_[member].operation, it.shape.element_type(), operands);
  }
  std::vector<LaneProgram::Register> results = {register_of(result)};
  const auto keep = [&](InstructionIndex i) { step.outputs.push_back({slot_of(i), false}); };
  const bool kept = std::ranges::find(group.results, result) != group.results.end();
  if (kept) keep(result);
  for (const InstructionIndex other : group.results) {
    if (other == result) continue;
    results.push_back(register_of(other));
    keep(other);
  }
  program->finish(results);
  return program;
}

LaneProgram::Source Planner::counter(const Node& node) {
  LaneProgram::Source source;
  source.kind = LaneProgram::Source::Kind::Counter;
  source.type = node.base_type;
  source.view = node.view.collapsed();
  return source;
}

LaneProgram::Source Planner::immediate(const Instruction& constant) {
  LaneProgram::Source source;
  source.kind = LaneProgram::Source::Kind::Constant;
  source.type = constant.shape.element_type();
  const auto bytes = constant.literal->bytes();
  std::copy(bytes.begin(), bytes.end(), source.constant);
  return source;
}

// What a lane step reads for `slot`, as `type`, `count` times or (when the operand has one element) everywhere.
LaneProgram::Source Planner::source_of(Step& step, Slot slot, ElementType type, int64_t elements, int64_t count) {
  const InstructionIndex defined = definition_[slot];
  const Node& node = nodes_[defined];
  if (node.in_place && node.role == Role::Constant) {
    LaneProgram::Source source = immediate(instruction(defined));
    source.type = type;
    return source;
  }
  LaneProgram::Source source;
  source.type = type;
  if (node.in_place && node.role == Role::View) {
    if (node.base == none) return counter(node);
    const InstructionIndex base = definition_[node.base];
    if (nodes_[base].role == Role::Constant && nodes_[base].in_place) {
      source = immediate(instruction(base));
      source.type = type;
      return source;
    }
    source.view = node.view.collapsed();
    source.kind = LaneProgram::Source::Kind::Strided;
    if (instruction(base).shape.is_array() && source.view.offset == 0 &&
        std::all_of(source.view.dims.begin(), source.view.dims.end(),
                    [](const View::Dim& dim) { return dim.stride == 0; }))
      source.kind = LaneProgram::Source::Kind::Splat;
    slot = node.base;
  } else if (elements != count) {
    source.kind = LaneProgram::Source::Kind::Splat;
  }
  source.operand = operand_index(step, slot);
  return source;
}

uint32_t Planner::operand_index(Step& step, Slot slot) {
  for (uint32_t k = 0; k < step.operands.size(); ++k)
    if (step.operands[k].slot == slot) return k;
  step.operands.push_back({slot, false});
  return static_cast<uint32_t>(step.operands.size() - 1);
}

}  // namespace sapper::eval
