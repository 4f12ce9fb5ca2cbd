#include "bounds/transformer.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "bounds/narrow.h"

namespace sapper::bounds {

using hlo::Computation;
using hlo::ComputationIndex;
using hlo::ElementType;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Module;
using hlo::Opcode;
using hlo::Shape;

namespace {

// The values of a computation's parameters, by number: the original ones and, after them, their deviations.
std::vector<Value> make_parameters(Builder& builder, const Computation& computation,
                                   const std::vector<bool>& deviates) {
  std::vector<Value> values;
  const std::vector<InstructionIndex> parameters = computation.parameters();
  values.reserve(parameters.size());
  for (const InstructionIndex parameter : parameters)
    values.push_back({builder.copy(computation.instructions[parameter], {}), {}});
  auto number = static_cast<int64_t>(parameters.size());
  size_t leaf_number = 0;
  for (size_t p = 0; p < parameters.size(); ++p) {
    builder.name_after(computation.instructions[parameters[p]].name);
    for (const Shape& leaf : leaf_shapes(computation.instructions[parameters[p]].shape)) {
      Deviation deviation;
      if (deviates[leaf_number++]) {
        const Shape shape = leaf.with_element_type(deviation_type(leaf.element_type()));
        deviation = Expression{&builder, builder.parameter(number++, shape)};
      }
      values[p].deviations.push_back(deviation);
    }
  }
  return values;
}

bool only_moves(Opcode opcode) {
  switch (opcode) {
    case Opcode::Bitcast:
    case Opcode::Broadcast:
    case Opcode::Concatenate:
    case Opcode::Copy:
    case Opcode::GetTupleElement:
    case Opcode::Pad:
    case Opcode::Reshape:
    case Opcode::Reverse:
    case Opcode::Slice:
    case Opcode::Transpose:
    case Opcode::Tuple: return true;
    default: return false;
  }
}

// Instructions whose f64 arrays are no pairs of f32 yet, where f64 is held in such.
bool makes_numbers(const Instruction& instruction) {
  const bool moves = only_moves(instruction.opcode) && instruction.opcode != Opcode::GetTupleElement;
  return !moves && instruction.shape.is_array() && instruction.shape.element_type() == ElementType::F64;
}

// The pairs of f32 that stand for numbers: what they are rounded to, and what the rest is rounded to.
Expression as_pairs(Expression numbers) {
  const Expression leading = converted(converted(numbers, ElementType::F32), ElementType::F64);
  const Expression rest = converted(converted(numbers - leading, ElementType::F32), ElementType::F64);
  // A zero without a rest keeps its sign.
  const Expression has_rest = (abs(leading) < std::numeric_limits<double>::infinity()) & (abs(rest) > 0.0);
  return where(has_rest, leading + rest, leading);
}

// Of a computation whose root leaves the program: instructions whose values do too, and go nowhere else.
std::vector<bool> only_outputs(const Computation& computation) {
  std::vector<bool> outputs(computation.instructions.size(), true);
  for (size_t i = outputs.size(); i-- > 0;) {
    const Instruction& user = computation.instructions[i];
    if (outputs[i] && only_moves(user.opcode)) continue;
    for (const InstructionIndex operand : user.operands) outputs[operand] = false;
  }
  return outputs;
}

// Instructions whose values no parameter decides.
std::vector<bool> constant_values(const Computation& computation) {
  std::vector<bool> constant(computation.instructions.size());
  for (size_t i = 0; i < constant.size(); ++i) {
    const Instruction& instruction = computation.instructions[i];
    constant[i] =
        instruction.opcode != Opcode::Parameter && !instruction.shape.is_token() &&
        std::ranges::all_of(instruction.operands, [&](InstructionIndex operand) { return constant[operand]; });
  }
  return constant;
}

}  // namespace

Transformer::Transformer(const Module& from, const numerics::Contract& contract, RuleTable rules)
    : from_(from), contract_(contract), rules_(rules) {
  to_.name = from.name;
}

ComputationIndex Transformer::add(Computation computation) {
  to_.computations.push_back(std::move(computation));
  return static_cast<ComputationIndex>(to_.computations.size() - 1);
}

ComputationIndex Transformer::copied(ComputationIndex computation) {
  if (const auto found = copied_.find(computation); found != copied_.end()) return found->second;
  Computation copy = from_.computations[computation];
  for (Instruction& instruction : copy.instructions)
    for (ComputationIndex& called : instruction.called) called = copied(called);
  return copied_[computation] = add(std::move(copy));
}

ComputationIndex Transformer::operation(Opcode opcode, ElementType type) {
  if (const auto found = operations_.find({opcode, type}); found != operations_.end()) return found->second;
  Builder builder(fmt::format("{}_{}", hlo::to_string(opcode), hlo::to_string(type)));
  builder.name_after("x");
  const Shape scalar = Shape::scalar(type);
  const InstructionIndex a = builder.parameter(0, scalar);
  const InstructionIndex b = builder.parameter(1, scalar);
  const InstructionIndex root = builder.add(opcode, scalar, {a, b});
  return operations_[{opcode, type}] = add(std::move(builder).finish(root));
}

void Transformer::report_unbounded(const Computation& computation, const Instruction& instruction) {
  std::string text =
      fmt::format("{} ({}, in {})", hlo::to_string(instruction.opcode), instruction.name, computation.name);
  if (std::find(unbounded_.begin(), unbounded_.end(), text) == unbounded_.end()) unbounded_.push_back(std::move(text));
}

const BoundedComputation& Transformer::bounded(ComputationIndex computation, const std::vector<bool>& deviates,
                                               bool is_output) {
  const auto key = std::tuple(computation, deviates, is_output);
  if (const auto found = bounded_.find(key); found != bounded_.end()) return found->second;
  return bounded_[key] = transform(from_.computations[computation], deviates, is_output);
}

BoundedComputation Transformer::transform(const Computation& computation, const std::vector<bool>& deviates,
                                          bool is_output) {
  const std::vector<bool> outputs =
      is_output ? only_outputs(computation) : std::vector<bool>(computation.instructions.size());
  const std::vector<bool> constant = constant_values(computation);
  Builder builder(fmt::format("{}.bounded{}", computation.name, to_.computations.size()));
  const std::vector<Value> parameters = make_parameters(builder, computation, deviates);
  std::vector<Value> values(computation.instructions.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const Instruction& instruction = computation.instructions[i];
    builder.name_after(instruction.name);
    if (instruction.opcode == Opcode::Parameter) {
      values[i] = parameters[static_cast<size_t>(instruction.parameter_number)];
      if (contract_.float64_pairs && makes_numbers(instruction))
        values[i].index = as_pairs({&builder, values[i].index}).index;
      continue;
    }
    Site site{*this, builder, computation, instruction, {}, outputs[i], constant[i], 0, &values};
    std::vector<InstructionIndex> operands;
    for (const InstructionIndex operand : instruction.operands) {
      site.operands.push_back(&values[operand]);
      operands.push_back(values[operand].index);
    }
    if (const ControlRule rule = find_control_rule(instruction.opcode)) {
      values[i] = rule(site);
      continue;
    }
    const Rule rule = rules_(instruction.opcode);
    if (rules_ == find_rule && is_narrow_arithmetic(site)) {
      values[i] = narrow_arithmetic(site, rule);
      continue;
    }
    Instruction copy = instruction;
    for (ComputationIndex& called : copy.called) called = copied(called);
    site.result = builder.copy(std::move(copy), std::move(operands));
    if (contract_.float64_pairs && makes_numbers(instruction)) site.result = as_pairs({&builder, site.result}).index;
    values[i] = {site.result, rule != nullptr ? rule(site) : site.unbounded()};
  }

  const Value& root = values[computation.root];
  BoundedComputation made;
  std::vector<InstructionIndex> results = {root.index};
  std::vector<Shape> shapes = {builder.shape(root.index)};
  for (const Deviation& deviation : root.deviations) {
    made.deviates.push_back(deviation.has_value());
    if (!deviation) continue;
    results.push_back(deviation->index);
    shapes.push_back(deviation->shape());
  }
  builder.name_after(computation.instructions[computation.root].name);
  const InstructionIndex result =
      results.size() == 1 ? root.index : builder.add(Opcode::Tuple, Shape::tuple(std::move(shapes)), results);
  made.index = add(std::move(builder).finish(result));
  return made;
}

}  // namespace sapper::bounds
