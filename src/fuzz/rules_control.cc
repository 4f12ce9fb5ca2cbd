// Backward rules of what calls computations that rules fill, and of values that come in tuples or from a generator.
#include <algorithm>
#include <array>

#include "fuzz/rule_builders.h"

namespace sapper::fuzz {
namespace {

// Shapes of values that a computation for `wanted` gets: one like it, and others.
std::vector<Shape> given_shapes(Builder& builder, const Shape& wanted) {
  Choices& choices = builder.choices();
  std::vector<Shape> shapes = {wanted};
  for (int64_t more = choices.between(0, 2); more > 0; --more) {
    const ElementType type =
        choose_type(builder.grammar(), choices, [](ElementType) { return true; }).value_or(wanted.element_type());
    const bool like = choices.chance(60);
    shapes.push_back(like ? wanted.with_element_type(type)
                          : Shape::array(type, choose_dimensions(builder.grammar(), choices, builder.grammar().rank,
                                                                 builder.grammar().elements)));
  }
  return shapes;
}

std::vector<Index> values(Builder& builder, const std::vector<Shape>& shapes) {
  std::vector<Index> made;
  for (const Shape& shape : shapes) made.push_back(builder.value(shape));
  return made;
}

}  // namespace

bool makes_random(const Rule& rule, const Grammar& grammar, const Shape& wanted) {
  const ElementType type = wanted.element_type();
  return hlo::element_class(type) == hlo::ElementClass::Unsigned && hlo::bit_width(type) >= 8 &&
         grammar.has(ElementType::U64) && makes_array(rule, grammar, wanted);
}

Index build_map(const Rule& rule, Builder& builder, const Shape& wanted) {
  Choices& choices = builder.choices();
  std::vector<Shape> arrays, scalars;
  // XLA wants all floating-point operands of one type.
  const auto fits = [&](ElementType type) {
    const bool is_whole = hlo::is_integer(type) || type == ElementType::Pred;
    return (is_whole || type == wanted.element_type()) && builder.grammar().takes(rule.opcode, type);
  };
  for (int64_t left = choices.between(1, 3); left > 0; --left) {
    const ElementType type = choose_type(builder.grammar(), choices, fits).value_or(wanted.element_type());
    arrays.push_back(wanted.with_element_type(type));
    scalars.push_back(Shape::scalar(type));
  }
  std::vector<Index> operands = values(builder, arrays);
  const hlo::ComputationIndex body = builder.lifted("mapped", scalars, Shape::scalar(wanted.element_type()));
  const Index made = builder.add(rule.opcode, wanted, std::move(operands));
  builder.at(made).called = {body};
  for (int64_t i = 0; i < std::ssize(wanted.dimensions()); ++i) builder.at(made).dimensions.push_back(i);
  return made;
}

Index build_call(const Rule& rule, Builder& builder, const Shape& wanted) {
  const std::vector<Shape> shapes = given_shapes(builder, wanted);
  std::vector<Index> operands = values(builder, shapes);
  const hlo::ComputationIndex body = builder.lifted("called", shapes, wanted);
  const Index made = builder.add(rule.opcode, wanted, std::move(operands));
  builder.at(made).called = {body};
  return made;
}

Index build_conditional(const Rule& rule, Builder& builder, const Shape& wanted) {
  Choices& choices = builder.choices();
  const bool by_index = choices.chance(40);
  const int64_t branches = by_index ? choices.between(1, 4) : 2;
  std::vector<Index> operands = {builder.value(Shape::scalar(by_index ? ElementType::S32 : ElementType::Pred))};
  std::vector<hlo::ComputationIndex> called;
  for (int64_t i = 0; i < branches; ++i) {
    const std::vector<Shape> shapes = given_shapes(builder, wanted);
    const Shape argument = shapes.size() == 1 ? shapes[0] : Shape::tuple(shapes);
    operands.push_back(builder.value(argument));
    called.push_back(builder.computation("branch", {argument}, [&](const std::vector<Index>& given) {
      std::vector<Index> leaves = given;
      if (argument.is_tuple()) {
        leaves.clear();
        for (int64_t k = 0; k < std::ssize(shapes); ++k) leaves.push_back(builder.element_of(given[0], k));
      }
      return builder.over(leaves, wanted);
    }));
  }
  const Index made = builder.add(rule.opcode, wanted, std::move(operands));
  builder.at(made).called = std::move(called);
  return made;
}

// State: the counter, the wanted value, and what else the body may look at.
Index build_while(const Rule& rule, Builder& builder, const Shape& wanted) {
  Choices& choices = builder.choices();
  const Shape counter = Shape::scalar(choices.chance(15) ? ElementType::S64 : ElementType::S32);
  std::vector<Shape> shapes = {counter};
  for (const Shape& shape : given_shapes(builder, wanted)) shapes.push_back(shape);
  const Shape state = Shape::tuple(shapes);
  const int64_t step = choices.between(1, 3);
  const int64_t start = choices.between(-1, 5);
  const int64_t trips = choices.between(0, 4);
  constexpr std::array<std::string_view, 3> directions = {"LT", "LE", "NE"};
  const std::string_view direction = choices.of(directions);
  const int64_t bound = start + trips * step - (direction == "LE" ? choices.between(0, 1) : 0);
  const hlo::ComputationIndex condition =
      builder.computation("condition", {state}, [&](const std::vector<Index>& given) {
        const Index at = builder.element_of(given[0], 0);
        return builder.compare(direction, at, builder.number(counter.element_type(), static_cast<double>(bound)));
      });
  const hlo::ComputationIndex body = builder.computation("body", {state}, [&](const std::vector<Index>& given) {
    std::vector<Index> elements;
    for (int64_t k = 0; k < std::ssize(shapes); ++k) elements.push_back(builder.element_of(given[0], k));
    const std::vector<Index> leaves = elements;
    const Index by = builder.number(counter.element_type(), static_cast<double>(step));
    elements[0] = builder.add(Opcode::Add, counter, {elements[0], by});
    elements[1] = builder.over(leaves, wanted);
    return builder.add(Opcode::Tuple, state, std::move(elements));
  });
  std::vector<Index> initial = {builder.number(counter.element_type(), static_cast<double>(start))};
  for (size_t k = 1; k < shapes.size(); ++k) initial.push_back(builder.value(shapes[k]));
  const Index first = builder.add(Opcode::Tuple, state, std::move(initial));
  const Index made = builder.add(rule.opcode, state, {first});
  builder.at(made).called = {body, condition};
  return builder.element_of(made, 1);
}

Index build_tuple(const Rule& rule, Builder& builder, const Shape& wanted) {
  std::vector<Shape> shapes = given_shapes(builder, wanted);
  const int64_t at = builder.choices().between(0, std::ssize(shapes) - 1);
  std::swap(shapes[0], shapes[static_cast<size_t>(at)]);
  const Index made = builder.add(rule.opcode, Shape::tuple(shapes), values(builder, shapes));
  return builder.element_of(made, at);
}

Index build_add_dependency(const Rule& rule, Builder& builder, const Shape& wanted) {
  const Index operand = builder.value(wanted);
  return builder.add(rule.opcode, wanted, {operand, builder.add(Opcode::AfterAll, Shape::token(), {})});
}

Index build_rng_bit_generator(const Rule& rule, Builder& builder, const Shape& wanted) {
  const bool philox = builder.choices().chance(50);
  const Shape state = Shape::array(ElementType::U64, {philox ? 3 : 2});
  const Index made = builder.add(rule.opcode, Shape::tuple({state, wanted}), {builder.leaf(state)});
  builder.at(made).edit_attributes().set_rng_algorithm(philox ? proto::RNG_PHILOX : proto::RNG_THREE_FRY);
  return builder.element_of(made, 1);
}

}  // namespace sapper::fuzz
