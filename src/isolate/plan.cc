#include "isolate/plan.h"

#include <algorithm>

#include "base/assert.h"
#include "hlo/instruction_hash.h"
#include "isolate/roles.h"

namespace sapper::isolate {
namespace {

using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Opcode;
using hlo::Shape;
using What = PlanNode::What;

constexpr uint64_t plan_domain = 34;

bool is_flat_tuple_of_arrays(const Shape& shape) {
  if (!shape.is_tuple() || shape.elements().empty()) return false;
  return std::all_of(shape.elements().begin(), shape.elements().end(), [](const Shape& s) { return s.is_array(); });
}

}  // namespace

void Planner::enter(hlo::ComputationIndex computation) {
  index_ = computation;
  computation_ = &module_.computations[computation];
  const size_t size = computation_->instructions.size();
  if (size <= node_of_.size()) return;
  node_of_.resize(size);
  stamp_of_.resize(size, 0);
}

void Planner::reset() {
  plan_.nodes.clear();
  plan_.operands.clear();
  plan_.inputs.clear();
  plan_.outputs.clear();
  plan_.constants.clear();
  plan_.problem = {};
  ++stamp_;
}

uint32_t Planner::add(PlanNode node, std::span<const uint32_t> operands) {
  node.first_operand = static_cast<uint32_t>(plan_.operands.size());
  node.operand_count = static_cast<uint32_t>(operands.size());
  plan_.operands.insert(plan_.operands.end(), operands.begin(), operands.end());
  plan_.nodes.push_back(std::move(node));
  return static_cast<uint32_t>(plan_.nodes.size() - 1);
}

const Plan& Planner::plan(std::span<const InstructionIndex> members, std::span<const InstructionIndex> outputs) {
  reset();
  is_called_ = false;
  for (const InstructionIndex member : members) add_member(member);
  set_root(outputs);
  return plan_;
}

const Plan& Planner::plan_called() {
  reset();
  is_called_ = true;
  for (InstructionIndex i = 0; i < computation_->instructions.size(); ++i) add_member(i);
  plan_.root = resolve(computation_->root);
  return plan_;
}

void Planner::add_member(InstructionIndex member) {
  const Instruction& instruction = at(member);
  uint32_t node = 0;
  switch (instruction.opcode) {
    case Opcode::AsyncStart:
    case Opcode::AsyncUpdate:
    case Opcode::CopyStart:
    case Opcode::AllGatherStart:
    case Opcode::AllReduceStart:
    case Opcode::CollectivePermuteStart: return;  // their second halves stand for them
    case Opcode::AddDependency:
    case Opcode::Domain:
    case Opcode::OptBarrier: node = resolve(instruction.operands[0]); break;
    case Opcode::Constant:
    case Opcode::GetTupleElement:
    case Opcode::Tuple: node = resolve(member); break;
    case Opcode::AfterAll: node = add({.what = What::Token}); break;
    default: node = copy(member);
  }
  node_of_[member] = node;
  stamp_of_[member] = stamp_;
}

uint32_t Planner::copy(InstructionIndex index) {
  const Instruction& instruction = at(index);
  std::vector<InstructionIndex> operands;
  if (!append_operands(*computation_, instruction, operands))
    plan_.problem = "an asynchronous operation begins in another computation";
  std::vector<uint32_t> nodes;
  nodes.reserve(operands.size());
  for (const InstructionIndex operand : operands) nodes.push_back(resolve(operand));
  return add({.what = What::Copy, .instruction = index}, nodes);
}

uint32_t Planner::resolve(InstructionIndex value) {
  // An element of a tuple that stands there is what went into it, and may itself be such an element.
  while (stamp_of_[value] != stamp_ && at(value).opcode == Opcode::GetTupleElement &&
         at(at(value).operands[0]).opcode == Opcode::Tuple)
    value = at(at(value).operands[0]).operands[static_cast<size_t>(at(value).tuple_index)];
  if (stamp_of_[value] == stamp_) return node_of_[value];
  const uint32_t node = resolve_new(value);
  node_of_[value] = node;
  stamp_of_[value] = stamp_;
  return node;
}

// A value that is no member. Depth is that of nested tuples.
uint32_t Planner::resolve_new(InstructionIndex value) {
  const Instruction& instruction = at(value);
  switch (instruction.opcode) {
    case Opcode::Constant: return constant(value);
    case Opcode::GetTupleElement: return resolve_element(value);
    case Opcode::Tuple: {
      std::vector<uint32_t> elements;
      for (const InstructionIndex operand : instruction.operands) elements.push_back(resolve(operand));
      return add({.what = What::Tuple, .shape = instruction.shape}, elements);
    }
    case Opcode::AfterAll: return add({.what = What::Token});
    default: break;
  }
  if (is_copied(instruction)) return copy(value);
  uint32_t leaf = 0;
  return outside(value, instruction.shape, leaf);
}

uint32_t Planner::resolve_element(InstructionIndex element) {
  const Instruction& instruction = at(element);
  const InstructionIndex tuple = instruction.operands[0];
  // Inside where what gives the tuple is.
  InstructionIndex base = tuple;
  while (at(base).opcode == Opcode::GetTupleElement && stamp_of_[base] != stamp_) base = at(base).operands[0];
  if (stamp_of_[base] != stamp_) {
    uint32_t leaf = 0;
    return outside(element, instruction.shape, leaf);
  }
  const uint32_t operand = resolve(tuple);
  const PlanNode& node = plan_.nodes[operand];
  const auto number = static_cast<uint32_t>(instruction.tuple_index);
  if (node.what == What::Tuple) return plan_.operands[node.first_operand + number];
  return add({.what = What::Element, .index = number, .shape = instruction.shape}, std::span(&operand, 1));
}

// The value from outside, leaf by leaf.
uint32_t Planner::outside(InstructionIndex value, const Shape& shape, uint32_t& leaf) {
  if (shape.is_tuple()) {
    std::vector<uint32_t> elements;
    for (const Shape& element : shape.elements()) elements.push_back(outside(value, element, leaf));
    return add({.what = What::Tuple, .shape = shape}, elements);
  }
  const uint32_t number = leaf++;
  if (shape.is_token()) return add({.what = What::Token});
  if (!shape.is_array()) plan_.problem = "takes a value that is no array";
  plan_.inputs.push_back({value, number});
  return add({.what = What::Parameter, .instruction = value, .index = number, .shape = shape});
}

uint32_t Planner::constant(InstructionIndex value) {
  const Instruction& instruction = at(value);
  const ConstantFate fate = is_called_ ? ConstantFate::Kept : fates_.of(instruction);
  if (fate == ConstantFate::Kept) return add({.what = What::Copy, .instruction = value});
  if (fate == ConstantFate::Splat) return add({.what = What::Splat, .instruction = value});
  if (instruction.literal != nullptr) plan_.constants.push_back(static_cast<uint32_t>(plan_.inputs.size()));
  uint32_t leaf = 0;
  return outside(value, instruction.shape, leaf);
}

bool Planner::is_copied(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::Iota: return true;
    case Opcode::Constant: return fates_.of(instruction) != ConstantFate::Parameter;
    case Opcode::Broadcast: {
      const Instruction& operand = at(instruction.operands[0]);
      return operand.opcode == Opcode::Constant && fates_.of(operand) != ConstantFate::Parameter;
    }
    default: return false;
  }
}

void Planner::append_leaves(uint32_t node, const Shape& shape, std::vector<uint32_t>& leaves,
                            std::vector<Shape>& shapes) {
  if (shape.is_array()) {
    leaves.push_back(node);
    shapes.push_back(shape);
    return;
  }
  if (!shape.is_tuple()) return;  // tokens are no results
  for (uint32_t k = 0; k < shape.elements().size(); ++k) {
    const PlanNode& tuple = plan_.nodes[node];
    const uint32_t element = tuple.what == What::Tuple
                                 ? plan_.operands[tuple.first_operand + k]
                                 : add({.what = What::Element, .index = k, .shape = shape.elements()[k]}, {&node, 1});
    append_leaves(element, shape.elements()[k], leaves, shapes);
  }
}

void Planner::set_root(std::span<const InstructionIndex> outputs) {
  for (const InstructionIndex output : outputs) {
    uint32_t leaf = 0;
    hlo::for_each_leaf(at(output).shape, [&](const Shape& shape) {
      if (shape.is_array()) plan_.outputs.push_back({output, leaf});
      if (!shape.is_array() && !shape.is_token()) plan_.problem = "gives a value that is no array";
      ++leaf;
    });
  }
  if (plan_.outputs.empty()) plan_.problem = "gives no array";
  if (!plan_.problem.empty()) return;
  if (outputs.size() == 1 && (at(outputs[0]).shape.is_array() || is_flat_tuple_of_arrays(at(outputs[0]).shape))) {
    plan_.root = resolve(outputs[0]);
    return;
  }
  std::vector<uint32_t> leaves;
  std::vector<Shape> shapes;
  for (const InstructionIndex output : outputs) append_leaves(resolve(output), at(output).shape, leaves, shapes);
  SAPPER_ASSERT(leaves.size() == plan_.outputs.size());
  if (leaves.size() == 1) {
    plan_.root = leaves[0];
    return;
  }
  plan_.root = add({.what = What::Tuple, .shape = Shape::tuple(std::move(shapes))}, leaves);
}

hlo::Hash Planner::hash(const Plan& plan) const {
  hlo::Hasher hasher(plan_domain);
  const ComputationFacts& facts = facts_[index_];
  for (const PlanNode& node : plan.nodes) {
    hasher.add(static_cast<uint64_t>(node.what));
    for (uint32_t k = 0; k < node.operand_count; ++k) hasher.add(uint64_t{plan.operands[node.first_operand + k]});
    switch (node.what) {
      case What::Parameter:
      case What::Tuple:
      case What::Element: hlo::add_shape(node.shape, hasher.add(uint64_t{node.index})); break;
      case What::Copy: {
        hasher.add(facts.own[node.instruction]);
        if (is_done(at(node.instruction).opcode)) {
          const Instruction& start = start_of(*computation_, at(node.instruction));
          hasher.add(facts.own[static_cast<size_t>(&start - computation_->instructions.data())]);
        }
        break;
      }
      case What::Splat: hasher.add(facts.own[node.instruction]); break;
      case What::Token: break;
    }
  }
  return hasher.add(uint64_t{plan.root}).get();
}

}  // namespace sapper::isolate
