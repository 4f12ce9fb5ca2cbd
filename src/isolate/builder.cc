#include "isolate/builder.h"

#include <map>
#include <set>

#include "isolate/roles.h"
#include "isolate/sanitize.h"
#include "isolate/single_device.h"

namespace sapper::isolate {
namespace {

using hlo::Computation;
using hlo::ComputationIndex;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Module;
using hlo::Opcode;
using hlo::Shape;
using What = PlanNode::What;

InstructionIndex append(Computation& to, Instruction instruction) {
  to.instructions.push_back(std::move(instruction));
  return static_cast<InstructionIndex>(to.instructions.size() - 1);
}

InstructionIndex append(Computation& to, Opcode opcode, Shape shape, std::vector<InstructionIndex> operands) {
  Instruction made;
  made.opcode = opcode;
  made.name = hlo::to_string(opcode);
  made.shape = std::move(shape);
  made.operands = std::move(operands);
  return append(to, std::move(made));
}

InstructionIndex append_splat(const Instruction& constant, Computation& to) {
  const hlo::Literal value = splat_value(*constant.literal);
  const InstructionIndex scalar = append(to, Opcode::Constant, value.shape(), {});
  to.instructions[scalar].literal = std::make_shared<const hlo::Literal>(value);
  return append(to, Opcode::Broadcast, in_default_memory(constant.shape), {scalar});
}

// The one operation that an asynchronous computation wraps, on its parameters; null: there is more in it.
const Instruction* wrapped_operation(const Computation& wrapped) {
  const Instruction& root = wrapped.root_instruction();
  const auto is_parameter = [&](InstructionIndex i) { return wrapped.instructions[i].opcode == Opcode::Parameter; };
  const bool is_single = root.opcode != Opcode::Parameter && root.opcode != Opcode::Constant &&
                         std::all_of(root.operands.begin(), root.operands.end(), is_parameter);
  return is_single ? &root : nullptr;
}

// What `instruction`, as a piece holds it, calls.
const std::vector<ComputationIndex>& called_by(const Module& module, const Computation& computation,
                                               const Instruction& instruction) {
  static const std::vector<ComputationIndex> nothing;
  if (is_start(instruction.opcode)) return nothing;
  if (instruction.opcode != Opcode::AsyncDone)
    return role_of(computation, instruction) == Role::Collective ? nothing : instruction.called;
  const Instruction& start = start_of(computation, instruction);
  const Instruction* operation = wrapped_operation(module.computations[start.called[0]]);
  return operation == nullptr ? start.called : operation->called;
}

// Whether several instructions may call it as one: each fusion must have a body of its own.
bool may_be_shared(const Computation& computation) {
  const auto calls = [](const Instruction& instruction) { return !instruction.called.empty(); };
  return !computation.is_fusion &&
         std::none_of(computation.instructions.begin(), computation.instructions.end(), calls);
}

}  // namespace

Module Builder::build(ComputationIndex computation, const Plan& plan) {
  const Computation& from = module_.computations[computation];
  out_ = module_like(module_);
  out_.is_scheduled = module_.is_scheduled && !from.is_fusion;  // inside a fusion stands what only a fusion can do
  moved_computations_.clear();
  add_called(from, plan);
  out_.computations.push_back(emit(from, plan));
  out_.computations.back().name = "entry";
  out_.entry = static_cast<ComputationIndex>(out_.computations.size() - 1);
  return std::move(out_);
}

// Callees before callers, as in the source; equal reducers and the like once.
void Builder::add_called(const Computation& computation, const Plan& plan) {
  std::set<ComputationIndex> needed;
  std::vector<ComputationIndex> pending;
  const auto need = [&](const std::vector<ComputationIndex>& called) {
    for (const ComputationIndex c : called)
      if (needed.insert(c).second) pending.push_back(c);
  };
  for (const PlanNode& node : plan.nodes)
    if (node.what == What::Copy) need(called_by(module_, computation, computation.instructions[node.instruction]));
  while (!pending.empty()) {
    const Computation& next = module_.computations[pending.back()];
    pending.pop_back();
    for (const Instruction& instruction : next.instructions) need(called_by(module_, next, instruction));
  }
  std::map<hlo::Hash, ComputationIndex> known;
  for (const ComputationIndex c : needed) {
    const Computation& called = module_.computations[c];
    const auto next = static_cast<ComputationIndex>(out_.computations.size());
    moved_computations_[c] = may_be_shared(called) ? known.try_emplace(facts_[c].hash, next).first->second : next;
    if (moved_computations_[c] != next) continue;
    called_planner_.enter(c);
    Computation copy = emit(called, called_planner_.plan_called());
    copy.name = called.name;
    copy.is_fusion = called.is_fusion;
    out_.computations.push_back(std::move(copy));
  }
}

Computation Builder::emit(const Computation& from, const Plan& plan) {
  Computation to;
  moved_.clear();
  for (const PlanNode& node : plan.nodes) moved_.push_back(emit_node(from, plan, node, to));
  to.root = moved_[plan.root];
  int64_t number = 0;
  for (Instruction& instruction : to.instructions)
    if (instruction.opcode == Opcode::Parameter && instruction.name.empty()) {
      instruction.name = fmt::format("p{}", number);
      instruction.parameter_number = number++;
    }
  return to;
}

InstructionIndex Builder::emit_node(const Computation& from, const Plan& plan, const PlanNode& node, Computation& to) {
  std::vector<InstructionIndex> operands;
  for (uint32_t k = 0; k < node.operand_count; ++k) operands.push_back(moved_[plan.operands[node.first_operand + k]]);
  switch (node.what) {
    case What::Parameter: {
      Instruction parameter;  // named and numbered by emit()
      parameter.shape = in_default_memory(node.shape);
      return append(to, std::move(parameter));
    }
    case What::Copy: return emit_copy(from, from.instructions[node.instruction], std::move(operands), to);
    case What::Splat: return append_splat(from.instructions[node.instruction], to);
    case What::Tuple: {
      std::vector<Shape> shapes;
      shapes.reserve(operands.size());
      for (const InstructionIndex operand : operands) shapes.push_back(to.instructions[operand].shape);
      return append(to, Opcode::Tuple, Shape::tuple(std::move(shapes)), std::move(operands));
    }
    case What::Element: {
      const Shape shape = to.instructions[operands[0]].shape.elements()[node.index];
      const InstructionIndex element = append(to, Opcode::GetTupleElement, shape, std::move(operands));
      to.instructions[element].tuple_index = node.index;
      return element;
    }
    case What::Token: break;
  }
  return append(to, Opcode::AfterAll, Shape::token(), {});
}

InstructionIndex Builder::emit_copy(const Computation& from, const Instruction& instruction,
                                    std::vector<InstructionIndex> operands, Computation& to) {
  if (role_of(from, instruction) == Role::Collective) return append_single_device(instruction, operands, to);
  if (is_done(instruction.opcode)) return emit_done(from, instruction, std::move(operands), to);
  Instruction copy = sanitized(module_, instruction);
  copy.operands = std::move(operands);
  for (ComputationIndex& called : copy.called) called = moved_computations_.at(called);
  return append(to, std::move(copy));
}

// The operation that begins in another instruction and ends in `done`, at once.
InstructionIndex Builder::emit_done(const Computation& from, const Instruction& done,
                                    std::vector<InstructionIndex> operands, Computation& to) {
  if (done.opcode == Opcode::CopyDone)
    return append(to, Opcode::Copy, in_default_memory(done.shape), std::move(operands));
  const ComputationIndex called = start_of(from, done).called[0];
  const Computation& wrapped = module_.computations[called];
  const Instruction* operation = wrapped_operation(wrapped);
  if (operation == nullptr) {
    const InstructionIndex call = append(to, Opcode::Call, in_default_memory(done.shape), std::move(operands));
    to.instructions[call].called = {moved_computations_.at(called)};
    return call;
  }
  std::vector<InstructionIndex> arguments;
  arguments.reserve(operation->operands.size());
  for (const InstructionIndex operand : operation->operands)
    arguments.push_back(operands[static_cast<size_t>(wrapped.instructions[operand].parameter_number)]);
  return emit_copy(wrapped, *operation, std::move(arguments), to);
}

}  // namespace sapper::isolate
