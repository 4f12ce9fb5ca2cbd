// Operations that run computations on whole values.
#include <algorithm>

#include "bounds/rules.h"
#include "bounds/transformer.h"

namespace sapper::bounds {

using hlo::ComputationIndex;
using hlo::ElementType;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Opcode;
using hlo::Shape;

namespace {

std::vector<bool> mask_of(const Deviations& deviations) {
  std::vector<bool> mask;
  for (const Deviation& deviation : deviations) mask.push_back(deviation.has_value());
  return mask;
}

bool any(const std::vector<bool>& mask) { return std::find(mask.begin(), mask.end(), true) != mask.end(); }

Shape deviation_shape(const Shape& leaf) {
  return Shape::array(deviation_type(leaf.element_type()), leaf.dimensions());
}

// The result of a computation that gives a bounded value: `shape` alone when nothing deviates.
Value taken_apart(Builder& builder, InstructionIndex result, const std::vector<bool>& deviates) {
  if (!any(deviates)) return {result, Deviations(deviates.size())};
  Value value{builder.element(result, 0), {}};
  size_t next = 1;
  for (const bool deviation : deviates)
    value.deviations.push_back(deviation ? Deviation(Expression{&builder, builder.element(result, next++)})
                                         : std::nullopt);
  return value;
}

const Shape& result_shape(Transformer& transformer, const BoundedComputation& computation) {
  return transformer.to().computations[computation.index].root_instruction().shape;
}

// The deviations of a value for those leaves that `mask` has; zeros where it has none.
std::vector<InstructionIndex> masked(Builder& builder, const Value& value, const std::vector<Shape>& leaves,
                                     const std::vector<bool>& mask) {
  std::vector<InstructionIndex> all;
  for (size_t i = 0; i < mask.size(); ++i) {
    if (!mask[i]) continue;
    all.push_back(value.deviations[i] ? value.deviations[i]->index : builder.splat(0, deviation_shape(leaves[i])));
  }
  return all;
}

// What the computation takes for `value`: itself, then its deviations.
InstructionIndex packed(Builder& builder, const Value& value, const std::vector<Shape>& leaves,
                        const std::vector<bool>& mask) {
  std::vector<InstructionIndex> parts = masked(builder, value, leaves, mask);
  if (parts.empty()) return value.index;
  parts.insert(parts.begin(), value.index);
  std::vector<Shape> shapes;
  shapes.reserve(parts.size());
  for (const InstructionIndex part : parts) shapes.push_back(builder.shape(part));
  return builder.add(Opcode::Tuple, Shape::tuple(std::move(shapes)), std::move(parts));
}

// The one parameter of a computation, which is a packed value of `shape`, taken apart.
Value packed_parameter(Builder& builder, const Shape& shape, const std::vector<bool>& mask) {
  std::vector<Shape> parts = {shape};
  const std::vector<Shape> leaves = leaf_shapes(shape);
  for (size_t i = 0; i < mask.size(); ++i)
    if (mask[i]) parts.push_back(deviation_shape(leaves[i]));
  return taken_apart(builder, builder.parameter(0, parts.size() == 1 ? shape : Shape::tuple(std::move(parts))), mask);
}

// Calls a bounded computation of one parameter on `state`.
Value call(Transformer& transformer, Builder& builder, const BoundedComputation& computation, const Value& state) {
  std::vector<InstructionIndex> arguments = {state.index};
  for (const Deviation& deviation : state.deviations)
    if (deviation) arguments.push_back(deviation->index);
  Instruction made;
  made.opcode = Opcode::Call;
  made.called = {computation.index};
  return taken_apart(builder, builder.add_like(made, result_shape(transformer, computation), std::move(arguments)),
                     computation.deviates);
}

// Infinite deviations for all leaves of a value where the scalar `doubt` is.
void put_in_doubt(Builder& builder, Value& value, const std::vector<Shape>& leaves, Expression doubt) {
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!leaves[i].is_array()) continue;
    const Shape shape = deviation_shape(leaves[i]);
    const Expression everywhere{&builder, builder.broadcast(converted(doubt, shape.element_type()).index, shape)};
    value.deviations[i] = sum(value.deviations[i], everywhere);
  }
}

}  // namespace

Value bound_call(const Site& site) {
  std::vector<bool> mask;
  std::vector<InstructionIndex> arguments, deviations;
  for (const Value* operand : site.operands) {
    arguments.push_back(operand->index);
    for (const Deviation& deviation : operand->deviations) {
      mask.push_back(deviation.has_value());
      if (deviation) deviations.push_back(deviation->index);
    }
  }
  arguments.insert(arguments.end(), deviations.begin(), deviations.end());
  const BoundedComputation body = site.transformer.bounded(site.instruction.called[0], mask, site.is_output);
  Instruction made;
  made.opcode = Opcode::Call;
  made.called = {body.index};
  const InstructionIndex result =
      site.builder.add_like(made, result_shape(site.transformer, body), std::move(arguments));
  return taken_apart(site.builder, result, body.deviates);
}

// The state carries the deviations of its leaves. When the number of iterations is itself in doubt the state carries
// that too, and everything is undetermined once it was.
Value bound_while(const Site& site) {
  const Shape& shape = site.instruction.shape;
  const std::vector<Shape> leaves = leaf_shapes(shape);
  std::vector<bool> mask = mask_of(site.operands[0]->deviations);
  BoundedComputation body, condition;
  for (;;) {  // until the leaves that deviate after an iteration are those that do before: at most once a leaf
    body = site.transformer.bounded(site.instruction.called[0], mask);
    bool more = false;
    for (size_t i = 0; i < mask.size(); ++i) {
      more = more || (body.deviates[i] && !mask[i]);
      mask[i] = mask[i] || body.deviates[i];
    }
    if (!more) break;
  }
  condition = site.transformer.bounded(site.instruction.called[1], mask);
  const bool in_doubt = condition.deviates[0];

  // The loop's state: (value, deviations..., doubt).
  const auto with_doubt = [&](Builder& builder, InstructionIndex packed_state, Expression doubt) {
    return builder.add(Opcode::Tuple, Shape::tuple({builder.shape(packed_state), doubt.shape()}),
                       {packed_state, doubt.index});
  };
  const InstructionIndex initial = packed(site.builder, *site.operands[0], leaves, mask);
  const Shape state_shape = site.builder.shape(initial);
  const Shape doubt_shape = Shape::scalar(ElementType::F32);

  const auto make = [&](const char* role, auto&& result_of) {
    Builder builder(fmt::format("{}.{}{}", site.instruction.name, role, site.transformer.to().computations.size()));
    builder.name_after("state");
    InstructionIndex state = builder.parameter(0, in_doubt ? Shape::tuple({state_shape, doubt_shape}) : state_shape);
    Expression doubt{&builder, 0};
    if (in_doubt) {
      doubt.index = builder.element(state, 1);
      state = builder.element(state, 0);
    }
    const Value value = taken_apart(builder, state, mask);
    const InstructionIndex root = result_of(builder, value, doubt);
    return site.transformer.add(std::move(builder).finish(root));
  };
  const auto doubt_after = [&](Builder& builder, const Value& state, Expression doubt) {
    const Value decision = call(site.transformer, builder, condition, state);
    return max(doubt, *decision.deviations[0]);
  };

  const ComputationIndex new_condition = make("condition", [&](Builder& builder, const Value& state, Expression) {
    return call(site.transformer, builder, condition, state).index;
  });
  const ComputationIndex new_body = make("body", [&](Builder& builder, const Value& state, Expression doubt) {
    const Value next = call(site.transformer, builder, body, state);
    const InstructionIndex result = packed(builder, next, leaves, mask);
    return in_doubt ? with_doubt(builder, result, doubt_after(builder, state, doubt)) : result;
  });

  Instruction loop = site.instruction;
  loop.called = {new_body, new_condition};
  InstructionIndex start = initial;
  if (in_doubt) start = with_doubt(site.builder, initial, {&site.builder, site.builder.constant(ElementType::F32, 0)});
  const InstructionIndex end = site.builder.add_like(loop, site.builder.shape(start), {start});
  if (!in_doubt) return taken_apart(site.builder, end, mask);
  Value value = taken_apart(site.builder, site.builder.element(end, 0), mask);
  // The last decision, to leave, may have been another too.
  const Expression doubt = doubt_after(site.builder, value, {&site.builder, site.builder.element(end, 1)});
  put_in_doubt(site.builder, value, leaves, undetermined_where(doubt));
  return value;
}

Value bound_conditional(const Site& site) {
  const std::vector<Shape> leaves = leaf_shapes(site.instruction.shape);
  std::vector<bool> mask(leaves.size(), false);
  std::vector<BoundedComputation> branches;
  for (size_t b = 0; b < site.instruction.called.size(); ++b) {
    branches.push_back(site.transformer.bounded(site.instruction.called[b], mask_of(site.operands[b + 1]->deviations)));
    for (size_t i = 0; i < mask.size(); ++i) mask[i] = mask[i] || branches[b].deviates[i];
  }
  std::vector<InstructionIndex> operands = {site.operands[0]->index};
  Instruction made = site.instruction;
  made.called.clear();
  Shape shape = site.instruction.shape;
  for (size_t b = 0; b < branches.size(); ++b) {
    const Value& argument = *site.operands[b + 1];
    const std::vector<bool> argument_mask = mask_of(argument.deviations);
    const Shape& argument_shape = site.operand_shape(b + 1);
    operands.push_back(packed(site.builder, argument, leaf_shapes(argument_shape), argument_mask));
    Builder builder(fmt::format("{}.branch{}_{}", site.instruction.name, b, site.transformer.to().computations.size()));
    builder.name_after("state");
    const Value state = packed_parameter(builder, argument_shape, argument_mask);
    const InstructionIndex root = packed(builder, call(site.transformer, builder, branches[b], state), leaves, mask);
    shape = builder.shape(root);
    made.called.push_back(site.transformer.add(std::move(builder).finish(root)));
  }
  Value value = taken_apart(site.builder, site.builder.add_like(made, std::move(shape), std::move(operands)), mask);
  if (const Deviation& decision = site.moved_deviation(0))
    put_in_doubt(site.builder, value, leaves, undetermined_where(*decision));
  return value;
}

}  // namespace sapper::bounds
