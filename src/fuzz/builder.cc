#include "fuzz/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/assert.h"
#include "fuzz/rule.h"

namespace sapper::fuzz {

using hlo::ElementClass;
using hlo::ElementType;
using hlo::Instruction;
using hlo::Literal;
using hlo::Opcode;
using hlo::Shape;

namespace {

// How often, in percent, what could be computed is a leaf, or what there is already.
constexpr uint32_t early_leaf = 8;
constexpr uint32_t used_again = 12;
constexpr int64_t largest_listed_constant = 48;

void set_number(Literal& literal, int64_t i, double value) {
  const ElementType type = literal.shape().element_type();
  if (hlo::is_complex(type))
    literal.set_complex(i, value);
  else if (hlo::is_float(type))
    literal.set_real(i, value);
  else
    literal.set_integer(i, static_cast<int64_t>(value));
}

// Integers at their edges, floats of few bits.
void set_chosen(Literal& literal, int64_t i, Choices& choices) {
  const ElementType type = literal.shape().element_type();
  if (!hlo::is_integer(type)) {
    const double value = 0.25 * static_cast<double>(choices.between(0, 32) - 16);
    if (hlo::is_complex(type))
      literal.set_complex(i, {value, 0.25 * static_cast<double>(choices.between(0, 32) - 16)});
    else
      set_number(literal, i, type == ElementType::Pred ? static_cast<double>(value > 0) : value);
    return;
  }
  const int width = hlo::bit_width(type);
  const std::array<int64_t, 10> edges = {
      0, 1, 2, 3, 5, -1, -2, int64_t{1} << (width - 1), static_cast<int64_t>((uint64_t{1} << (width - 1)) - 1), 7};
  literal.set_integer(i, choices.of(edges));
}

}  // namespace

Builder::Builder(Grammar grammar, Choices& choices) : grammar_(std::move(grammar)), choices_(choices) {
  module_.name = "fuzz";
  frames_.emplace_back();
  frame().computation.name = "main";
  frame().is_entry = true;
}

Builder::Index Builder::add(Opcode opcode, const Shape& shape, std::vector<Index> operands) {
  Instruction instruction;
  instruction.opcode = opcode;
  instruction.name = fmt::format("{}.{}", to_string(opcode), names_++);
  instruction.shape = shape;
  instruction.operands = std::move(operands);
  ++instructions_;
  std::vector<Instruction>& all = frame().computation.instructions;
  all.push_back(std::move(instruction));
  return static_cast<Index>(all.size() - 1);
}

Builder::Index Builder::value(const Shape& shape) {
  if (shape.is_tuple()) {
    std::vector<Index> elements;
    for (const Shape& element : shape.elements()) elements.push_back(value(element));
    return add(Opcode::Tuple, shape, std::move(elements));
  }
  if (depth_ >= grammar_.depth || instructions_ >= grammar_.instructions) return leaf(shape);
  if (depth_ > 0 && choices_.chance(early_leaf)) return leaf(shape);
  if (choices_.chance(used_again))
    if (const auto found = existing(shape)) return *found;
  std::vector<double> weights;
  bool any = false;
  for (const Rule& rule : rules()) {
    const bool fits = grammar_.takes(rule.opcode) && rule.makes(rule, grammar_, shape);
    weights.push_back(fits ? rule.weight : 0);
    any = any || fits;
  }
  if (!any) return leaf(shape);
  const Rule& rule = rules()[choices_.weighted(weights)];
  ++depth_;
  const Index made = rule.build(rule, *this, shape);
  --depth_;
  SAPPER_ASSERT(shape_of(made).same_ignoring_layout(shape));
  frame().visible.push_back(made);
  return made;
}

Builder::Index Builder::leaf(const Shape& shape) {
  if (!frame().leaves.empty() && !choices_.chance(15)) {
    std::vector<Index> same;
    for (const Index given : frame().leaves)
      if (shape_of(given).same_ignoring_layout(shape)) same.push_back(given);
    if (!same.empty()) return choices_.of(same);
    return adapted(choices_.of(frame().leaves), shape);
  }
  if (frame().is_entry && !choices_.chance(20)) {
    if (choices_.chance(25))
      if (const auto found = existing(shape)) return *found;
    return parameter(shape);
  }
  return chosen_constant(shape);
}

std::optional<Builder::Index> Builder::existing(const Shape& shape) {
  std::vector<Index> same;
  for (const Index made : frame().visible)
    if (shape_of(made).same_ignoring_layout(shape)) same.push_back(made);
  if (same.empty()) return std::nullopt;
  return choices_.of(same);
}

Builder::Index Builder::parameter(const Shape& shape) {
  if (!grammar_.takes(Opcode::Parameter, shape.element_type()))
    return convert(parameter(shape.with_element_type(ElementType::S8)), shape.element_type());
  const Index made = add(Opcode::Parameter, shape, {});
  at(made).parameter_number = frame().parameters++;
  frame().visible.push_back(made);
  return made;
}

Builder::Index Builder::chosen_constant(const Shape& shape) {
  const ElementType type = shape.element_type();
  if (shape.rank() > 0 && hlo::bit_width(type) >= 16 && grammar_.takes(Opcode::Iota, type) && choices_.chance(40))
    return iota(shape, choices_.between(0, std::ssize(shape.dimensions()) - 1));
  if (shape.element_count() > largest_listed_constant) {
    Literal scalar(Shape::scalar(type));
    set_chosen(scalar, 0, choices_);
    return add(Opcode::Broadcast, shape, {constant(std::move(scalar))});
  }
  Literal literal(shape);
  for (int64_t i = 0; i < shape.element_count(); ++i) set_chosen(literal, i, choices_);
  return constant(std::move(literal));
}

Builder::Index Builder::within(const Shape& shape, double low, double high, bool safe) {
  const ElementType type = shape.element_type();
  const bool ordered = hlo::is_integer(type) || hlo::is_float(type);
  if (!ordered || (std::isinf(low) && std::isinf(high))) return value(shape);
  if (!grammar_.takes(Opcode::Clamp, type) || (safe && frame().is_entry && choices_.chance(40))) return leaf(shape);
  if (hlo::is_integer(type)) {
    const int bits = hlo::bit_width(type) - (hlo::element_class(type) == ElementClass::Signed ? 1 : 0);
    high = std::min(high, std::ldexp(1.0, bits) - 1);
    low = std::max(low, hlo::element_class(type) == ElementClass::Signed ? -std::ldexp(1.0, bits) : 0.0);
  } else {
    const double largest = hlo::largest_finite(*hlo::float_format(type));
    low = std::max(low, -largest);
    high = std::min(high, largest);
  }
  const Index operand = value(shape);
  const Index least = splat(shape, low);
  return add(Opcode::Clamp, shape, {least, operand, splat(shape, high)});
}

Builder::Index Builder::constant(Literal literal) {
  const Index made = add(Opcode::Constant, literal.shape(), {});
  at(made).literal = std::make_shared<const Literal>(std::move(literal));
  return made;
}

Builder::Index Builder::number(ElementType type, double value) {
  Literal literal(Shape::scalar(type));
  set_number(literal, 0, value);
  return constant(std::move(literal));
}

Builder::Index Builder::splat(const Shape& shape, double value) {
  const Index scalar = number(shape.element_type(), value);
  return shape.rank() == 0 ? scalar : add(Opcode::Broadcast, shape, {scalar});
}

Builder::Index Builder::iota(const Shape& shape, int64_t dimension) {
  const Index made = add(Opcode::Iota, shape, {});
  at(made).dimensions = {dimension};
  return made;
}

Builder::Index Builder::element_of(Index tuple, int64_t index) {
  const Index made = add(Opcode::GetTupleElement, shape_of(tuple).elements()[static_cast<size_t>(index)], {tuple});
  at(made).tuple_index = index;
  return made;
}

Builder::Index Builder::compare(std::string_view direction, Index left, Index right, bool total_order) {
  const Shape operand = shape_of(left);
  const Index made = add(Opcode::Compare, operand.with_element_type(ElementType::Pred), {left, right});
  hlo::Attributes& attributes = at(made).edit_attributes();
  attributes.set_comparison_direction(std::string(direction));
  switch (hlo::element_class(operand.element_type())) {
    case ElementClass::Signed: attributes.set_comparison_type("SIGNED"); break;
    case ElementClass::Float: attributes.set_comparison_type(total_order ? "TOTALORDER" : "FLOAT"); break;
    case ElementClass::Complex: attributes.set_comparison_type("FLOAT"); break;
    default: attributes.set_comparison_type("UNSIGNED");
  }
  return made;
}

Builder::Index Builder::convert(Index operand, ElementType type) {
  const Shape shape = shape_of(operand);
  if (shape.element_type() == type) return operand;
  if (hlo::is_complex(shape.element_type()) && !hlo::is_complex(type)) {
    const Index real = add(Opcode::Real, shape.with_element_type(hlo::component_type(shape.element_type())), {operand});
    return convert(real, type);
  }
  return add(Opcode::Convert, shape.with_element_type(type), {operand});
}

Builder::Index Builder::adapted(Index operand, const Shape& wanted) {
  operand = convert(operand, wanted.element_type());
  const Shape shape = shape_of(operand);
  if (shape.dimensions() == wanted.dimensions()) return operand;
  if (shape.rank() == 0) return add(Opcode::Broadcast, wanted, {operand});
  const ElementType type = wanted.element_type();
  const int64_t have = shape.element_count(), need = wanted.element_count();
  if (shape.rank() != 1) operand = add(Opcode::Reshape, Shape::array(type, {have}), {operand});
  if (have > need) {
    operand = add(Opcode::Slice, Shape::array(type, {need}), {operand});
    auto* const slice = at(operand).edit_attributes().add_slice_dimensions();
    slice->set_limit(need);
    slice->set_stride(1);
  } else if (have < need) {
    operand = add(Opcode::Pad, Shape::array(type, {need}), {operand, number(type, 0)});
    at(operand).edit_attributes().mutable_padding_config()->add_dimensions()->set_edge_padding_high(need - have);
  }
  return wanted.rank() == 1 ? operand : add(Opcode::Reshape, wanted, {operand});
}

std::vector<Builder::Index> Builder::begin(const std::string& name, const std::vector<Shape>& parameters) {
  frames_.emplace_back();
  frame().computation.name = fmt::format("{}.{}", name, names_++);
  std::vector<Index> indices;
  for (const Shape& shape : parameters) {
    const Index made = add(Opcode::Parameter, shape, {});
    at(made).parameter_number = frame().parameters++;
    indices.push_back(made);
  }
  return indices;
}

hlo::ComputationIndex Builder::end(Index root) {
  frame().computation.root = root;
  module_.computations.push_back(std::move(frame().computation));
  frames_.pop_back();
  return static_cast<hlo::ComputationIndex>(module_.computations.size() - 1);
}

hlo::ComputationIndex Builder::lifted(const std::string& name, const std::vector<Shape>& parameters,
                                      const Shape& result) {
  return computation(name, parameters, [&](const std::vector<Index>& given) { return over(given, result); });
}

Builder::Index Builder::over(const std::vector<Index>& leaves, const Shape& result) {
  const std::vector<Index> before = std::exchange(frame().leaves, leaves);
  const Index made = value(result);
  frame().leaves = before;
  return made;
}

Builder::Index Builder::over(const std::vector<Index>& leaves, const Shape& result, std::set<Opcode> only, int depth) {
  Grammar before = grammar_;
  grammar_.only = std::move(only);
  grammar_.depth = depth_ + depth;
  grammar_.instructions = instructions_ + int64_t{10} * depth;
  const Index made = over(leaves, result);
  grammar_ = std::move(before);
  return made;
}

hlo::ComputationIndex Builder::combiner(Opcode operation, ElementType type) {
  const Shape scalar = Shape::scalar(type);
  return computation(std::string(to_string(operation)), {scalar, scalar},
                     [&](const std::vector<Index>& given) { return add(operation, scalar, given); });
}

hlo::Module Builder::finish(Index root) {
  SAPPER_ASSERT(frames_.size() == 1);
  module_.entry = end(root);
  return std::move(module_);
}

}  // namespace sapper::fuzz
