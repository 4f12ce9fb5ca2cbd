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

void Builder::name_after(std::string_view name) { name_.assign(name); }

InstructionIndex Builder::copy(Instruction instruction, std::vector<InstructionIndex> operands) {
  instruction.operands = std::move(operands);
  computation_.instructions.push_back(std::move(instruction));
  return static_cast<InstructionIndex>(computation_.instructions.size() - 1);
}

InstructionIndex Builder::add(Opcode opcode, Shape shape, std::vector<InstructionIndex> operands) {
  Instruction made;
  made.opcode = opcode;
  made.name = fmt::format("{}.{}", name_, computation_.instructions.size());
  made.shape = std::move(shape);
  return copy(std::move(made), std::move(operands));
}

InstructionIndex Builder::add_like(const Instruction& like, Shape shape, std::vector<InstructionIndex> operands) {
  Instruction made = like;
  made.name = fmt::format("{}.{}", name_, computation_.instructions.size());
  made.shape = std::move(shape);
  return copy(std::move(made), std::move(operands));
}

InstructionIndex Builder::parameter(int64_t number, Shape shape) {
  const InstructionIndex index = add(Opcode::Parameter, std::move(shape), {});
  computation_.instructions[index].parameter_number = number;
  return index;
}

InstructionIndex Builder::element(InstructionIndex tuple, size_t index) {
  const InstructionIndex made = add(Opcode::GetTupleElement, shape(tuple).elements()[index], {tuple});
  computation_.instructions[made].tuple_index = static_cast<int64_t>(index);
  return made;
}

InstructionIndex Builder::constant(ElementType type, double value) {
  Literal literal(Shape::scalar(type));
  literal.set_real(0, value);
  const InstructionIndex made = add(Opcode::Constant, literal.shape(), {});
  computation_.instructions[made].literal = std::make_shared<const Literal>(std::move(literal));
  return made;
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
  const InstructionIndex made = add(Opcode::Broadcast, std::move(shape), {array});
  computation_.instructions[made].dimensions = std::move(dimensions);
  return made;
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
  Instruction made;
  made.opcode = Opcode::Compare;
  made.edit_attributes().set_comparison_direction(std::string(direction));
  return {a.builder, a.builder->add_like(made, a.shape().with_element_type(ElementType::Pred), {a.index, b.index})};
}

Expression where(Expression condition, Expression a, Expression b) {
  widen(a, b);
  return {a.builder, a.builder->add(Opcode::Select, a.shape(), {condition.index, a.index, b.index})};
}

}  // namespace sapper::bounds
