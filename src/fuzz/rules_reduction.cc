// Backward rules of reductions, windows, sorting and top-k.
#include <algorithm>
#include <array>
#include <cmath>

#include "fuzz/rule_builders.h"
#include "fuzz/windows.h"

namespace sapper::fuzz {
namespace {

bool is_real(ElementType type) { return hlo::is_integer(type) || hlo::is_float(type); }

// An associative and commutative operation on the type, over about so many elements.
Opcode chosen_combiner(Choices& choices, ElementType type, int64_t elements) {
  constexpr std::array<Opcode, 3> of_pred = {Opcode::Or, Opcode::And, Opcode::Xor};
  constexpr std::array<Opcode, 7> of_integers = {Opcode::Add, Opcode::Maximum, Opcode::Minimum, Opcode::Multiply,
                                                 Opcode::And, Opcode::Or,      Opcode::Xor};
  constexpr std::array<Opcode, 4> of_floats = {Opcode::Add, Opcode::Maximum, Opcode::Minimum, Opcode::Multiply};
  if (type == ElementType::Pred) return choices.of(of_pred);
  if (hlo::is_integer(type)) return choices.of(of_integers);
  if (hlo::is_complex(type)) return Opcode::Add;
  constexpr int64_t factors = 8;  // products of more leave the type's range
  return of_floats[choices.below(elements <= factors ? 4 : 3)];
}

Index neutral(Builder& builder, Opcode combiner, ElementType type) {
  const int bits = hlo::bit_width(type);
  const bool is_signed = hlo::element_class(type) == hlo::ElementClass::Signed;
  hlo::Literal literal(Shape::scalar(type));
  switch (combiner) {
    case Opcode::Multiply: return builder.number(type, 1);
    case Opcode::And:
      literal.set_integer(0, type == ElementType::Pred ? 1 : -1);
      return builder.constant(std::move(literal));
    case Opcode::Maximum:
    case Opcode::Minimum: {
      const bool lowest = combiner == Opcode::Maximum;
      if (hlo::is_float(type)) {
        const hlo::FloatFormat format = *hlo::float_format(type);
        const double most = format.specials == hlo::FloatFormat::Specials::IEEE
                                ? std::numeric_limits<double>::infinity()
                                : hlo::largest_finite(format);
        literal.set_real(0, lowest ? -most : most);
      } else if (is_signed) {
        const auto least = static_cast<int64_t>(~uint64_t{0} << (bits - 1));
        literal.set_integer(0, lowest ? least : ~least);
      } else {
        literal.set_integer(0, lowest ? 0 : -1);
      }
      return builder.constant(std::move(literal));
    }
    default: return builder.number(type, 0);
  }
}

// More dimensions among those of `wanted`: where, and how large.
struct Reduced {
  std::vector<int64_t> sizes;
  std::vector<int64_t> dimensions;
  int64_t elements = 1;
};

Reduced reduced_dimensions(Builder& builder, const Shape& wanted) {
  Choices& choices = builder.choices();
  Reduced made;
  const int64_t free = std::max<int64_t>(1, builder.grammar().rank - std::ssize(wanted.dimensions()));
  const auto count = static_cast<size_t>(choices.between(1, std::min<int64_t>(2, free)));
  made.dimensions = choices.subset(count, wanted.rank() + count);
  size_t next = 0;
  for (size_t i = 0; i < wanted.rank() + count; ++i) {
    if (!std::ranges::binary_search(made.dimensions, static_cast<int64_t>(i))) {
      made.sizes.push_back(wanted.dimension(next++));
      continue;
    }
    const int64_t most = builder.grammar().elements / std::max<int64_t>(1, wanted.element_count() * made.elements);
    made.sizes.push_back(choose_size(builder.grammar(), choices, most));
    made.elements *= made.sizes.back();
  }
  return made;
}

// (value, index) of the first largest value: greater, or equal with a smaller index.
hlo::ComputationIndex first_largest(Builder& builder, ElementType type) {
  const Shape value = Shape::scalar(type), index = Shape::scalar(ElementType::S32);
  const Shape pred = Shape::scalar(ElementType::Pred);
  return builder.computation("first_largest", {value, index, value, index}, [&](const std::vector<Index>& p) {
    const Index greater = builder.compare("GT", p[0], p[2]);
    const Index equal = builder.compare("EQ", p[0], p[2]);
    const Index earlier = builder.compare("LT", p[1], p[3]);
    const Index tie = builder.add(Opcode::And, pred, {equal, earlier});
    const Index first = builder.add(Opcode::Or, pred, {greater, tie});
    const Index best = builder.add(Opcode::Select, value, {first, p[0], p[2]});
    const Index at = builder.add(Opcode::Select, index, {first, p[1], p[3]});
    return builder.add(Opcode::Tuple, Shape::tuple({value, index}), {best, at});
  });
}

// The index of the first largest element, as an argmax of a frontend.
Index build_argmax(Builder& builder, const Shape& wanted, const Reduced& reduced) {
  const ElementType type = choose_type(builder.grammar(), builder.choices(), [&](ElementType t) {
                             return is_real(t) && builder.grammar().takes(Opcode::Reduce, t) && hlo::bit_width(t) >= 8;
                           }).value_or(ElementType::S32);
  const hlo::ComputationIndex body = first_largest(builder, type);
  const Shape values = Shape::array(type, reduced.sizes), indices = values.with_element_type(ElementType::S32);
  const Index array = builder.value(values);
  const Index positions = builder.iota(indices, builder.choices().of(reduced.dimensions));
  const Index least = neutral(builder, Opcode::Maximum, type);
  const Index last = neutral(builder, Opcode::Minimum, ElementType::S32);
  const Index made = builder.add(Opcode::Reduce, Shape::tuple({wanted.with_element_type(type), wanted}),
                                 {array, positions, least, last});
  builder.at(made).called = {body};
  builder.at(made).dimensions = reduced.dimensions;
  return builder.element_of(made, 1);
}

}  // namespace

bool makes_reduction(const Rule& rule, const Grammar& grammar, const Shape& wanted) {
  return std::ssize(wanted.dimensions()) < grammar.rank + 1 && grammar.takes(rule.opcode, wanted.element_type());
}

bool makes_window_reduction(const Rule& rule, const Grammar& grammar, const Shape& wanted) {
  return makes_array(rule, grammar, wanted);
}

bool makes_selection(const Rule& rule, const Grammar& grammar, const Shape& wanted) {
  return makes_array(rule, grammar, wanted) && is_real(wanted.element_type());
}

bool makes_sorted(const Rule& rule, const Grammar& grammar, const Shape& wanted) {
  return makes_array(rule, grammar, wanted) && is_real(wanted.element_type());
}

bool makes_top(const Rule& rule, const Grammar& grammar, const Shape& wanted) {
  return makes_array(rule, grammar, wanted) &&
         (wanted.element_type() == ElementType::S32 || is_real(wanted.element_type()));
}

Index build_reduce(const Rule& rule, Builder& builder, const Shape& wanted) {
  const Reduced reduced = reduced_dimensions(builder, wanted);
  const ElementType type = wanted.element_type();
  if (type == ElementType::S32 && builder.choices().chance(30)) return build_argmax(builder, wanted, reduced);
  const Opcode operation = chosen_combiner(builder.choices(), type, reduced.elements);
  const hlo::ComputationIndex body = builder.combiner(operation, type);
  const Index array = builder.value(Shape::array(type, reduced.sizes));
  const Index made = builder.add(rule.opcode, wanted, {array, neutral(builder, operation, type)});
  builder.at(made).called = {body};
  builder.at(made).dimensions = reduced.dimensions;
  return made;
}

Index build_reduce_window(const Rule& rule, Builder& builder, const Shape& wanted) {
  Choices& choices = builder.choices();
  proto::Window window;
  std::vector<int64_t> sizes;
  int64_t covered = 1;
  const auto running = choices.chance(30) ? choices.between(0, std::ssize(wanted.dimensions()) - 1) : -1;
  for (size_t i = 0; i < wanted.rank(); ++i) {
    const int64_t positions = wanted.dimension(i);
    const bool most = covered > 16 || running >= 0;
    const WindowOver over = static_cast<int64_t>(i) == running ? running_window(positions, choices.chance(50))
                            : most || choices.chance(40)
                                ? trivial_window(positions)
                                : choose_window(choices, positions, {.operand = 2 * positions + 8});
    *window.add_dimensions() = over.window;
    sizes.push_back(over.operand);
    covered *= over.window.size();
  }
  const ElementType type = wanted.element_type();
  const Opcode operation = chosen_combiner(choices, type, covered);
  const hlo::ComputationIndex body = builder.combiner(operation, type);
  const Index array = builder.value(Shape::array(type, sizes));
  const Index made = builder.add(rule.opcode, wanted, {array, neutral(builder, operation, type)});
  builder.at(made).called = {body};
  *builder.at(made).edit_attributes().mutable_window() = window;
  return made;
}

Index build_select_and_scatter(const Rule& rule, Builder& builder, const Shape& wanted) {
  Choices& choices = builder.choices();
  proto::Window window;
  std::vector<int64_t> source;
  for (const int64_t size : wanted.dimensions()) {
    proto::WindowDimension& dimension = *window.add_dimensions();
    dimension = trivial_window(size).window;
    dimension.set_size(choices.between(1, std::min<int64_t>(3, size)));
    dimension.set_stride(choices.between(1, 3));
    if (dimension.size() > 1 && choices.chance(30)) dimension.set_padding_low(1);
    source.push_back((dimension.padding_low() + size - dimension.size()) / dimension.stride() + 1);
  }
  const ElementType type = wanted.element_type();
  const Shape scalar = Shape::scalar(type);
  const hlo::ComputationIndex select = builder.computation(
      "select", {scalar, scalar}, [&](const std::vector<Index>& p) { return builder.compare("GE", p[0], p[1]); });
  const hlo::ComputationIndex scatter = builder.combiner(Opcode::Add, type);
  const Index array = builder.value(wanted);
  const Index sources = builder.value(Shape::array(type, source));
  const Index made = builder.add(rule.opcode, wanted, {array, sources, builder.number(type, 0)});
  builder.at(made).called = {select, scatter};
  *builder.at(made).edit_attributes().mutable_window() = window;
  return made;
}

Index build_sort(const Rule& rule, Builder& builder, const Shape& wanted) {
  Choices& choices = builder.choices();
  const int64_t dimension = choices.between(0, std::ssize(wanted.dimensions()) - 1);
  const bool companions = choices.chance(50);
  const ElementType wanted_type = wanted.element_type();
  const ElementType key = !companions ? wanted_type : choose_type(builder.grammar(), choices, [&](ElementType t) {
                                                        return is_real(t) && hlo::bit_width(t) >= 8 &&
                                                               builder.grammar().takes(rule.opcode, t);
                                                      }).value_or(wanted_type);
  std::vector<Shape> shapes = {wanted.with_element_type(key)};
  if (companions) shapes.push_back(wanted);
  std::vector<Shape> scalars;
  for (const Shape& shape : shapes) scalars.insert(scalars.end(), 2, Shape::scalar(shape.element_type()));
  const hlo::ComputationIndex before = builder.computation("before", scalars, [&](const std::vector<Index>& p) {
    return builder.compare(choices.chance(40) ? "GT" : "LT", p[0], p[1], hlo::bit_width(key) >= 16);
  });
  std::vector<Index> operands;
  for (const Shape& shape : shapes) operands.push_back(builder.value(shape));
  const Index made = builder.add(rule.opcode, companions ? Shape::tuple(shapes) : wanted, std::move(operands));
  builder.at(made).called = {before};
  builder.at(made).dimensions = {dimension};
  builder.at(made).edit_attributes().set_is_stable(companions || choices.chance(50));
  return companions ? builder.element_of(made, 1) : made;
}

Index build_topk(const Rule& rule, Builder& builder, const Shape& wanted) {
  Choices& choices = builder.choices();
  const int64_t k = wanted.dimensions().back();
  std::vector<int64_t> sizes = wanted.dimensions();
  const int64_t most = builder.grammar().elements / std::max<int64_t>(1, wanted.element_count() / k);
  sizes.back() = std::max(k, choose_size(builder.grammar(), choices, most));
  const bool indices = wanted.element_type() == ElementType::S32 && choices.chance(50);
  const ElementType type =
      !indices ? wanted.element_type() : choose_type(builder.grammar(), choices, [&](ElementType t) {
                                           return is_real(t) && builder.grammar().takes(rule.opcode, t);
                                         }).value_or(ElementType::S32);
  const Index array = builder.value(Shape::array(type, sizes));
  const Shape values = wanted.with_element_type(type);
  const Index made =
      builder.add(rule.opcode, Shape::tuple({values, wanted.with_element_type(ElementType::S32)}), {array});
  hlo::Attributes& attributes = builder.at(made).edit_attributes();
  attributes.set_k(k);
  attributes.set_largest(!choices.chance(25));
  attributes.set_is_stable(true);
  return builder.element_of(made, indices ? 1 : 0);
}

}  // namespace sapper::fuzz
