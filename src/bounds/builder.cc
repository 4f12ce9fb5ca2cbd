#include "bounds/builder.h"

#include <fmt/format.h>

#include "base/assert.h"

namespace sapper::bounds {

using hlo::ElementType;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Literal;
using hlo::Opcode;
using hlo::Shape;

namespace {

// Of one opcode, on the same operands.
bool same_operation(const Instruction& a, const Instruction& b) {
  const bool same_literal = (a.literal == nullptr && b.literal == nullptr) ||
                            (a.literal != nullptr && b.literal != nullptr && *a.literal == *b.literal);
  return same_literal && a.shape == b.shape && a.dimensions == b.dimensions && a.tuple_index == b.tuple_index &&
         a.parameter_number == b.parameter_number &&
         a.attributes().comparison_direction() == b.attributes().comparison_direction();
}

bool is_elementwise(Opcode opcode) {
  switch (opcode) {
    case Opcode::Abs:
    case Opcode::Add:
    case Opcode::And:
    case Opcode::Compare:
    case Opcode::Convert:
    case Opcode::Divide:
    case Opcode::Maximum:
    case Opcode::Minimum:
    case Opcode::Multiply:
    case Opcode::Not:
    case Opcode::Or:
    case Opcode::Select:
    case Opcode::Sqrt:
    case Opcode::Subtract: return true;
    default: return false;
  }
}

Instruction operation(Opcode opcode, Shape shape, std::vector<InstructionIndex> operands) {
  Instruction made;
  made.opcode = opcode;
  made.shape = std::move(shape);
  made.operands = std::move(operands);
  return made;
}

}  // namespace

void Builder::name_after(std::string_view name) {
  name_.assign(name);
  added_.clear();
}

InstructionIndex Builder::append(Instruction made) {
  computation_.instructions.push_back(std::move(made));
  return static_cast<InstructionIndex>(computation_.instructions.size() - 1);
}

// An elementwise operation on values that are broadcast alike is done once for all elements that share one.
std::optional<InstructionIndex> Builder::before_broadcast(const Instruction& made) {
  if (!is_elementwise(made.opcode)) return std::nullopt;
  const Instruction* widest = nullptr;
  for (const InstructionIndex operand : made.operands) {
    const Instruction& broadcast = at(operand);
    if (broadcast.opcode != Opcode::Broadcast) return std::nullopt;
    const Shape& from = at(broadcast.operands[0]).shape;
    if (from.rank() == 0) continue;
    if (widest == nullptr) widest = &broadcast;
    if (broadcast.dimensions != widest->dimensions || !from.same_dimensions(at(widest->operands[0]).shape))
      return std::nullopt;
  }
  if (widest == nullptr) return std::nullopt;
  const std::vector<int64_t> dimensions = widest->dimensions;
  const Shape narrow = shape(widest->operands[0]);
  Instruction of_narrow = made;
  of_narrow.shape = narrow.with_element_type(made.shape.element_type());
  for (InstructionIndex& operand : of_narrow.operands) {
    operand = at(operand).operands[0];
    if (shape(operand).rank() == 0) operand = broadcast(operand, narrow);
  }
  return broadcast_along(once(std::move(of_narrow)), dimensions, made.shape);
}

InstructionIndex Builder::once(Instruction made) {
  if (const auto narrow = before_broadcast(made)) return *narrow;
  std::vector<InstructionIndex>& alike = added_[{made.opcode, made.operands}];
  for (const InstructionIndex i : alike)
    if (same_operation(at(i), made)) return i;
  made.name = fmt::format("{}.{}", name_, computation_.instructions.size());
  return alike.emplace_back(append(std::move(made)));
}

InstructionIndex Builder::copy(Instruction instruction, std::vector<InstructionIndex> operands) {
  instruction.operands = std::move(operands);
  return append(std::move(instruction));
}

InstructionIndex Builder::add(Opcode opcode, Shape shape, std::vector<InstructionIndex> operands) {
  return once(operation(opcode, std::move(shape), std::move(operands)));
}

InstructionIndex Builder::add_like(const Instruction& like, Shape shape, std::vector<InstructionIndex> operands) {
  Instruction made = like;
  made.name = fmt::format("{}.{}", name_, computation_.instructions.size());
  made.shape = std::move(shape);
  return copy(std::move(made), std::move(operands));
}

InstructionIndex Builder::compare(std::string_view direction, InstructionIndex a, InstructionIndex b) {
  Instruction made = operation(Opcode::Compare, shape(a).with_element_type(ElementType::Pred), {a, b});
  made.edit_attributes().set_comparison_direction(std::string(direction));
  return once(std::move(made));
}

InstructionIndex Builder::parameter(int64_t number, Shape shape) {
  Instruction made = operation(Opcode::Parameter, std::move(shape), {});
  made.parameter_number = number;
  return once(std::move(made));
}

InstructionIndex Builder::element(InstructionIndex tuple, size_t index) {
  Instruction made = operation(Opcode::GetTupleElement, shape(tuple).elements()[index], {tuple});
  made.tuple_index = static_cast<int64_t>(index);
  return once(std::move(made));
}

InstructionIndex Builder::constant(ElementType type, double value) {
  Literal literal(Shape::scalar(type));
  literal.set_real(0, value);
  Instruction made = operation(Opcode::Constant, literal.shape(), {});
  made.literal = std::make_shared<const Literal>(std::move(literal));
  return once(std::move(made));
}

InstructionIndex Builder::splat(double value, const Shape& like) {
  const InstructionIndex scalar = constant(like.element_type(), value);
  return broadcast(scalar, like);
}

InstructionIndex Builder::broadcast(InstructionIndex scalar, const Shape& like) {
  if (like.rank() == 0) return scalar;
  return add(Opcode::Broadcast, like.with_element_type(shape(scalar).element_type()), {scalar});
}

InstructionIndex Builder::broadcast_along(InstructionIndex array, std::vector<int64_t> dimensions, Shape shape) {
  Instruction made = operation(Opcode::Broadcast, std::move(shape), {array});
  made.dimensions = std::move(dimensions);
  return once(std::move(made));
}

hlo::Computation Builder::finish(InstructionIndex root) && {
  computation_.root = root;
  return std::move(computation_);
}

Expression converted(Expression a, ElementType type) {
  if (a.shape().element_type() == type) return a;
  return {a.builder, a.builder->add(Opcode::Convert, a.shape().with_element_type(type), {a.index})};
}

Expression unary(Opcode opcode, Expression a) { return {a.builder, a.builder->add(opcode, a.shape(), {a.index})}; }

Expression abs(Expression a) {
  const Opcode opcode = a.builder->at(a.index).opcode;
  return opcode == Opcode::Exponential || opcode == Opcode::Abs ? a : unary(Opcode::Abs, a);
}

namespace {

// Both in the wider of their types.
void widen(Expression& a, Expression& b) {
  const ElementType types[] = {a.shape().element_type(), b.shape().element_type()};
  SAPPER_ASSERT(a.shape().same_dimensions(b.shape()));
  if (types[0] == types[1]) return;
  a = converted(a, ElementType::F64);
  b = converted(b, ElementType::F64);
}

}  // namespace

Expression binary(Opcode opcode, Expression a, Expression b) {
  widen(a, b);
  return {a.builder, a.builder->add(opcode, a.shape(), {a.index, b.index})};
}

Expression compare(std::string_view direction, Expression a, Expression b) {
  widen(a, b);
  return {a.builder, a.builder->compare(direction, a.index, b.index)};
}

Expression where(Expression condition, Expression a, Expression b) {
  widen(a, b);
  return {a.builder, a.builder->add(Opcode::Select, a.shape(), {condition.index, a.index, b.index})};
}

}  // namespace sapper::bounds
