// Backward rules of operations that work element by element, and of conversions of type.
#include <algorithm>
#include <array>
#include <cmath>

#include "fuzz/rule_builders.h"
#include "hlo/verifier_rules.h"

namespace sapper::fuzz {
namespace {

using hlo::ElementClass;

uint8_t class_bit(ElementType type) {
  namespace classes = hlo::verifier::accepts;
  switch (hlo::element_class(type)) {
    case ElementClass::None: return classes::nothing;
    case ElementClass::Pred: return classes::pred;
    case ElementClass::Signed: return classes::signed_integer;
    case ElementClass::Unsigned: return classes::unsigned_integer;
    case ElementClass::Float: return classes::floating;
    case ElementClass::Complex: return classes::complex;
  }
  return classes::nothing;
}

bool is_signed(ElementType type) { return hlo::element_class(type) == ElementClass::Signed; }

ElementType complex_of(ElementType component) {
  return component == ElementType::F64 ? ElementType::C128 : ElementType::C64;
}

struct Range {
  double low = 0;
  double high = 0;
};

// Where the numbers of a type are, of everyday sizes.
Range range_of(ElementType type) {
  constexpr double everyday = 1e6;
  if (type == ElementType::Pred) return {0, 1};
  if (hlo::is_float(type)) {
    const hlo::FloatFormat format = *hlo::float_format(type);
    const double most = std::min(hlo::largest_finite(format), everyday);
    return {format.has_sign ? -most : hlo::least_normal(format), most};
  }
  const double most = std::min(std::ldexp(1.0, hlo::bit_width(type) - (is_signed(type) ? 1 : 0)) - 1, everyday);
  return {is_signed(type) ? -most - 1 : 0, most};
}

}  // namespace

bool accepts(Opcode opcode, ElementType type) {
  return (hlo::verifier::rule_for(opcode).accepts & class_bit(type)) != 0;
}

bool makes_same_type(const Rule& rule, const Grammar& grammar, const Shape& wanted) {
  return accepts(rule.opcode, wanted.element_type()) && grammar.takes(rule.opcode, wanted.element_type());
}

bool makes_real_function(const Rule& rule, const Grammar& grammar, const Shape& wanted) {
  return hlo::is_float(wanted.element_type()) && grammar.takes(rule.opcode, wanted.element_type());
}

bool makes_copy(const Rule& rule, const Grammar& grammar, const Shape& wanted) {
  return grammar.takes(rule.opcode, wanted.element_type());
}

bool makes_any(const Rule& rule, const Grammar& grammar, const Shape& wanted) {
  return grammar.takes(rule.opcode, wanted.element_type());
}

bool makes_quotient(const Rule& rule, const Grammar& grammar, const Shape& wanted) {
  return makes_same_type(rule, grammar, wanted) && hlo::bit_width(wanted.element_type()) >= 4;
}

bool makes_float(const Rule& rule, const Grammar& grammar, const Shape& wanted) {
  return hlo::is_float(wanted.element_type()) && hlo::bit_width(wanted.element_type()) >= 16 &&
         grammar.takes(rule.opcode, wanted.element_type());
}

bool makes_predicate(const Rule&, const Grammar&, const Shape& wanted) {
  return wanted.element_type() == ElementType::Pred;
}

bool makes_part(const Rule& rule, const Grammar& grammar, const Shape& wanted) {
  const ElementType type = wanted.element_type();
  if (type != ElementType::F32 && type != ElementType::F64) return false;
  return grammar.has(complex_of(type)) && grammar.takes(rule.opcode, complex_of(type));
}

bool makes_magnitude(const Rule& rule, const Grammar& grammar, const Shape& wanted) {
  const ElementType type = wanted.element_type();
  return (hlo::is_float(type) || is_signed(type)) && grammar.takes(rule.opcode, type);
}

bool makes_complex(const Rule& rule, const Grammar& grammar, const Shape& wanted) {
  return hlo::is_complex(wanted.element_type()) && grammar.takes(rule.opcode, wanted.element_type());
}

bool makes_ordered(const Rule& rule, const Grammar& grammar, const Shape& wanted) {
  const ElementType type = wanted.element_type();
  return (hlo::is_integer(type) || hlo::is_float(type)) && grammar.takes(rule.opcode, type);
}

bool makes_bits(const Rule& rule, const Grammar& grammar, const Shape& wanted) {
  const ElementType type = wanted.element_type();
  return type != ElementType::Pred && !hlo::is_complex(type) && hlo::bit_width(type) >= 4 &&
         grammar.takes(rule.opcode, type);
}

bool makes_narrow_float(const Rule& rule, const Grammar& grammar, const Shape& wanted) {
  const ElementType type = wanted.element_type();
  return (type == ElementType::BF16 || type == ElementType::F16) && grammar.takes(rule.opcode, type) &&
         grammar.has(ElementType::F32) && grammar.has(ElementType::U32);
}

Index build_unary(const Rule& rule, Builder& builder, const Shape& wanted) {
  return builder.add(rule.opcode, wanted, {builder.within(wanted, rule.low, rule.high, true)});
}

Index build_binary(const Rule& rule, Builder& builder, const Shape& wanted) {
  const Index left = builder.value(wanted);
  return builder.add(rule.opcode, wanted, {left, builder.value(wanted)});
}

Index build_quotient(const Rule& rule, Builder& builder, const Shape& wanted) {
  const ElementType type = wanted.element_type();
  const Index dividend = builder.value(wanted);
  const Index divisor = hlo::is_integer(type) ? builder.within(wanted, 1, 1e9) : builder.within(wanted, 0.5, 64, true);
  return builder.add(rule.opcode, wanted, {dividend, divisor});
}

Index build_power(const Rule& rule, Builder& builder, const Shape& wanted) {
  const bool integer = hlo::is_integer(wanted.element_type());
  const Index base = integer ? builder.value(wanted) : builder.within(wanted, 0.25, 4);
  return builder.add(rule.opcode, wanted, {base, builder.within(wanted, integer ? 0 : -3, 3)});
}

Index build_shift(const Rule& rule, Builder& builder, const Shape& wanted) {
  const Index operand = builder.value(wanted);
  const Index amount = builder.within(wanted, 0, hlo::bit_width(wanted.element_type()) - 1);
  return builder.add(rule.opcode, wanted, {operand, amount});
}

Index build_compare(const Rule& rule, Builder& builder, const Shape& wanted) {
  Choices& choices = builder.choices();
  const ElementType type = choose_type(builder.grammar(), choices, [&](ElementType t) {
                             return builder.grammar().takes(rule.opcode, t);
                           }).value_or(ElementType::Pred);
  const Shape operand = wanted.with_element_type(type);
  const Index left = builder.value(operand);
  const Index right = builder.value(operand);
  constexpr std::array<std::string_view, 6> directions = {"EQ", "NE", "LT", "LE", "GT", "GE"};
  const std::string_view direction = directions[choices.below(hlo::is_complex(type) ? 2 : 6)];
  const bool total_order = hlo::is_float(type) && hlo::bit_width(type) >= 16 && choices.chance(25);
  return builder.compare(direction, left, right, total_order);
}

Index build_is_finite(const Rule& rule, Builder& builder, const Shape& wanted) {
  const ElementType type = choose_type(builder.grammar(), builder.choices(), [&](ElementType t) {
                             return hlo::is_float(t) && builder.grammar().takes(rule.opcode, t);
                           }).value_or(ElementType::F32);
  return builder.add(rule.opcode, wanted, {builder.value(wanted.with_element_type(type))});
}

Index build_part(const Rule& rule, Builder& builder, const Shape& wanted) {
  const Shape operand = wanted.with_element_type(complex_of(wanted.element_type()));
  return builder.add(rule.opcode, wanted, {builder.value(operand)});
}

Index build_magnitude(const Rule& rule, Builder& builder, const Shape& wanted) {
  const bool complex = makes_part(rule, builder.grammar(), wanted) && builder.choices().chance(30);
  if (complex) return build_part(rule, builder, wanted);
  return builder.add(rule.opcode, wanted, {builder.value(wanted)});
}

Index build_complex(const Rule& rule, Builder& builder, const Shape& wanted) {
  const Shape part = wanted.with_element_type(hlo::component_type(wanted.element_type()));
  const Index real = builder.value(part);
  return builder.add(rule.opcode, wanted, {real, builder.value(part)});
}

Index build_select(const Rule& rule, Builder& builder, const Shape& wanted) {
  const Index predicate = builder.value(wanted.with_element_type(ElementType::Pred));
  const Index on_true = builder.value(wanted);
  return builder.add(rule.opcode, wanted, {predicate, on_true, builder.value(wanted)});
}

Index build_clamp(const Rule& rule, Builder& builder, const Shape& wanted) {
  const ElementType type = wanted.element_type();
  if (builder.choices().chance(60)) {
    const auto [least, most] = range_of(type);
    const Index operand = builder.value(wanted);
    const Index low = builder.splat(wanted, std::max(least, -1.0));
    const double high = static_cast<double>(builder.choices().between(1, 5));
    return builder.add(rule.opcode, wanted, {low, operand, builder.splat(wanted, std::min(high, most))});
  }
  const Index a = builder.value(wanted);
  const Index b = builder.value(wanted);
  if (!builder.grammar().takes(Opcode::Minimum, type) || !builder.grammar().takes(Opcode::Maximum, type)) return a;
  const Index low = builder.add(Opcode::Minimum, wanted, {a, b});
  const Index high = builder.add(Opcode::Maximum, wanted, {a, b});
  return builder.add(rule.opcode, wanted, {low, builder.value(wanted), high});
}

Index build_convert(const Rule& rule, Builder& builder, const Shape& wanted) {
  const ElementType to = wanted.element_type();
  const Grammar& grammar = builder.grammar();
  const auto from = choose_type(grammar, builder.choices(), [&](ElementType type) {
    return type != to && (!hlo::is_complex(type) || hlo::is_complex(to)) && grammar.takes(rule.opcode, type);
  });
  if (!from) return builder.value(wanted);
  const Shape operand = wanted.with_element_type(*from);
  const bool open = (hlo::is_float(*from) && hlo::is_integer(to)) ||
                    (hlo::is_float(to) && hlo::bit_width(to) <= 16 && hlo::bit_width(*from) >= 4);
  if (!open || to == ElementType::Pred) return builder.add(rule.opcode, wanted, {builder.value(operand)});
  const Range source = range_of(*from), target = range_of(to);
  const Index kept = builder.within(operand, std::max(source.low, target.low), std::min(source.high, target.high));
  return builder.add(rule.opcode, wanted, {kept});
}

Index build_bitcast_convert(const Rule& rule, Builder& builder, const Shape& wanted) {
  const ElementType to = wanted.element_type();
  const int width = hlo::bit_width(to);
  const Grammar& grammar = builder.grammar();
  const int64_t minor = wanted.rank() == 0 ? 0 : wanted.dimensions().back();
  const auto fits = [&](ElementType type) {
    if (type == ElementType::Pred || hlo::is_complex(type) || type == to || !grammar.takes(rule.opcode, type))
      return false;
    const int other = hlo::bit_width(type);
    if (other < 4) return false;
    if (other <= width) return other == width || wanted.rank() < static_cast<size_t>(grammar.rank);
    return minor == other / width;
  };
  const auto from = choose_type(grammar, builder.choices(), fits);
  if (!from) return builder.value(wanted);
  std::vector<int64_t> dimensions = wanted.dimensions();
  const int other = hlo::bit_width(*from);
  if (other > width) dimensions.pop_back();
  if (other < width) dimensions.push_back(width / other);
  return builder.add(rule.opcode, wanted, {builder.value(Shape::array(*from, dimensions))});
}

Index build_reduce_precision(const Rule& rule, Builder& builder, const Shape& wanted) {
  const hlo::FloatFormat format = *hlo::float_format(wanted.element_type());
  const Index made = builder.add(rule.opcode, wanted, {builder.value(wanted)});
  hlo::Attributes& attributes = builder.at(made).edit_attributes();
  attributes.set_exponent_bits(static_cast<int>(builder.choices().between(4, format.exponent_bits)));
  attributes.set_mantissa_bits(static_cast<int>(builder.choices().between(1, format.mantissa_bits)));
  return made;
}

Index build_stochastic_convert(const Rule& rule, Builder& builder, const Shape& wanted) {
  const Index operand = builder.value(wanted.with_element_type(ElementType::F32));
  return builder.add(rule.opcode, wanted, {operand, builder.leaf(wanted.with_element_type(ElementType::U32))});
}

}  // namespace sapper::fuzz
