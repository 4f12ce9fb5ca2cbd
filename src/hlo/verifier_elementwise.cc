// Rules of the operations that work element by element, and of conversions of element type.
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "hlo/verifier_rules.h"

namespace sapper::hlo::verifier {
namespace {

std::string class_names(uint8_t accepts) {
  std::string names;
  const auto add = [&](uint8_t bit, std::string_view name) {
    if ((accepts & bit) == 0) return;
    if (!names.empty()) names += ", ";
    names += name;
  };
  add(accepts::pred, "pred");
  add(accepts::signed_integer, "signed integer");
  add(accepts::unsigned_integer, "unsigned integer");
  add(accepts::floating, "floating-point");
  add(accepts::complex, "complex");
  return names;
}

uint8_t class_bit(ElementType type) {
  switch (element_class(type)) {
    case ElementClass::None: return accepts::nothing;
    case ElementClass::Pred: return accepts::pred;
    case ElementClass::Signed: return accepts::signed_integer;
    case ElementClass::Unsigned: return accepts::unsigned_integer;
    case ElementClass::Float: return accepts::floating;
    case ElementClass::Complex: return accepts::complex;
  }
  return accepts::nothing;
}

// Operand i is an array of a class that the opcode takes.
Status check_operand_type(const Site& site, size_t i) {
  const ElementType type = site.operand(i).element_type();
  if ((class_bit(type) & site.rule.accepts) != 0) return {};
  SAPPER_CHECKED(expect_array(site, i));
  return site.bad("operand {} has element type {}, expected one of: {}", i, to_string(type),
                  class_names(site.rule.accepts));
}

// Operand i has the dimensions of operand j; a scalar will do when `or_scalar`.
Status check_same_dimensions(const Site& site, size_t i, size_t j, bool or_scalar = false) {
  if (site.operand(i).dimensions() == site.operand(j).dimensions() || (or_scalar && site.operand(i).is_scalar()))
    return {};
  return site.bad("operand shapes {} and {} differ", text(site.operand(j)), text(site.operand(i)));
}

Status check_same_type(const Site& site, size_t i, size_t j) {
  const ElementType first = site.operand(i).element_type();
  const ElementType second = site.operand(j).element_type();
  if (interchangeable(first, second)) return {};
  return site.bad("operands {} and {} have element types {} and {}, expected the same", i, j, to_string(first),
                  to_string(second));
}

// The common shape of operands first .. : dimensions of operand `first`, dynamic where any is, the widest type.
Inferred merge(const Site& site, size_t first) {
  const Shape& shape = site.operand(first);
  bool same = true;
  for (size_t i = first + 1; i < site.operand_count(); ++i) same = same && shape.same_ignoring_layout(site.operand(i));
  if (same) return shape;
  ElementType type = shape.element_type();
  for (size_t i = first + 1; i < site.operand_count(); ++i)
    if (bit_width(site.operand(i).element_type()) > bit_width(type)) type = site.operand(i).element_type();
  ShapeBuilder builder(site.stated(), type);
  for (size_t d = 0; d < shape.rank(); ++d) {
    bool dynamic = false;
    for (size_t i = first; i < site.operand_count(); ++i)
      dynamic = dynamic || (site.operand(i).rank() == shape.rank() && site.operand(i).is_dynamic(d));
    builder.add(shape.dimension(d), dynamic);
  }
  return builder.finish();
}

ElementType complex_of(ElementType component) {
  switch (component) {
    case ElementType::F32: return ElementType::C64;
    case ElementType::F64: return ElementType::C128;
    default: return ElementType::Invalid;
  }
}

}  // namespace

Result<Inferred> infer_elementwise(const Site& site) {
  for (size_t i = 0; i < site.operand_count(); ++i) {
    SAPPER_CHECKED(check_operand_type(site, i));
    if (i == 0) continue;
    SAPPER_CHECKED(check_same_dimensions(site, i, 0));
    SAPPER_CHECKED(check_same_type(site, 0, i));
  }
  return merge(site, 0);
}

// is-finite
Result<Inferred> infer_predicate(const Site& site) {
  SAPPER_CHECKED(check_operand_type(site, 0));
  return with_element_type(site.stated(), site.operand(0), ElementType::Pred);
}

// abs, real, imag: the component type of complex, else the type itself.
Result<Inferred> infer_component(const Site& site) {
  SAPPER_CHECKED(check_operand_type(site, 0));
  const ElementType type = site.operand(0).element_type();
  return with_element_type(site.stated(), site.operand(0), is_complex(type) ? component_type(type) : type);
}

Result<Inferred> infer_complex(const Site& site) {
  SAPPER_CHECKED(expect_arrays(site));
  const ElementType component = site.operand(0).element_type();
  const ElementType type = complex_of(component);
  if (type == ElementType::Invalid || site.operand(1).element_type() != component)
    return site.bad("operands are {} and {}, expected both f32 or both f64", text(site.operand(0)),
                    text(site.operand(1)));
  SAPPER_CHECKED(check_same_dimensions(site, 1, 0));
  return with_element_type(site.stated(), merge(site, 0).shape(), type);
}

Result<Inferred> infer_compare(const Site& site) {
  for (size_t i = 0; i < 2; ++i) SAPPER_CHECKED(check_operand_type(site, i));
  SAPPER_CHECKED(check_same_dimensions(site, 1, 0));
  SAPPER_CHECKED(check_same_type(site, 0, 1));
  constexpr std::array<std::string_view, 6> directions = {"EQ", "NE", "GE", "GT", "LE", "LT"};
  const std::string& direction = site.attributes().comparison_direction();
  if (std::find(directions.begin(), directions.end(), direction) == directions.end())
    return site.bad("direction is '{}', expected one of: {}", direction, fmt::join(directions, ", "));
  const std::string& type = site.attributes().comparison_type();
  const bool fits = [&] {
    switch (element_class(site.operand(0).element_type())) {
      case ElementClass::Float: return type == "FLOAT" || type == "TOTALORDER";
      case ElementClass::Complex: return type == "FLOAT";
      case ElementClass::Signed: return type == "SIGNED";
      default: return type == "UNSIGNED";
    }
  }();
  if (!type.empty() && !fits)
    return site.bad("comparison type '{}' does not fit operands of {}", type,
                    to_string(site.operand(0).element_type()));
  return with_element_type(site.stated(), merge(site, 0).shape(), ElementType::Pred);
}

Result<Inferred> infer_select(const Site& site) {
  SAPPER_CHECKED(expect_arrays(site));
  if (site.operand(0).element_type() != ElementType::Pred)
    return site.bad("operand 0 is {}, expected pred", text(site.operand(0)));
  SAPPER_CHECKED(check_same_dimensions(site, 2, 1));
  SAPPER_CHECKED(check_same_dimensions(site, 0, 1, /*or_scalar=*/true));
  SAPPER_CHECKED(check_same_type(site, 1, 2));
  return merge(site, 1);
}

Result<Inferred> infer_clamp(const Site& site) {
  for (size_t i = 0; i < 3; ++i) SAPPER_CHECKED(check_operand_type(site, i));
  for (const size_t bound : {0, 2}) {
    SAPPER_CHECKED(check_same_dimensions(site, bound, 1, /*or_scalar=*/true));
    SAPPER_CHECKED(check_same_type(site, 1, bound));
  }
  return site.operand(1);
}

Result<Inferred> infer_convert(const Site& site) {
  SAPPER_CHECKED(expect_array(site, 0));
  if (!site.stated().is_array()) return site.bad("stated shape {} is not an array", text(site.stated()));
  return with_element_type(site.stated(), site.operand(0), site.stated().element_type());
}

Result<Inferred> infer_bitcast_convert(const Site& site) {
  SAPPER_CHECKED(expect_array(site, 0));
  const Shape& operand = site.operand(0);
  const ElementType type = site.stated().element_type();
  if (!is_array_type(type)) return site.bad("stated shape {} is not an array", text(site.stated()));
  if (is_complex(type) != is_complex(operand.element_type()))
    return site.bad("cannot reinterpret {} as {}: only one is complex", text(operand), to_string(type));
  const int from = bit_width(operand.element_type());
  const int to = bit_width(type);
  if (std::max(from, to) % std::min(from, to) != 0)
    return site.bad("cannot reinterpret {} as {}: {} and {} bits", text(operand), to_string(type), from, to);
  const size_t kept = to > from ? operand.rank() - 1 : operand.rank();
  if (to > from && (operand.rank() == 0 || operand.dimension(operand.rank() - 1) != to / from))
    return site.bad("operand {} must have a last dimension of {} to be read as {}", text(operand), to / from,
                    to_string(type));
  ShapeBuilder builder(site.stated(), type);
  for (size_t i = 0; i < kept; ++i) builder.add(operand.dimension(i), operand.is_dynamic(i));
  if (to < from) builder.add(from / to);
  return builder.finish();
}

Result<Inferred> infer_stochastic_convert(const Site& site) {
  SAPPER_CHECKED(expect_arrays(site));
  const ElementType from = site.operand(0).element_type();
  const ElementType random = site.operand(1).element_type();
  if (!is_float(from)) return site.bad("operand 0 is {}, expected floating-point", text(site.operand(0)));
  if (element_class(random) != ElementClass::Unsigned || bit_width(random) != bit_width(from))
    return site.bad("operand 1 is {}, expected unsigned integers of {} bits", text(site.operand(1)), bit_width(from));
  SAPPER_CHECKED(check_same_dimensions(site, 1, 0));
  if (!site.stated().is_array()) return site.bad("stated shape {} is not an array", text(site.stated()));
  return with_element_type(site.stated(), site.operand(0), site.stated().element_type());
}

Result<Inferred> infer_reduce_precision(const Site& site) {
  SAPPER_CHECKED(check_operand_type(site, 0));
  constexpr int most = 64;  // of either: more than any format has
  const int exponent = site.attributes().exponent_bits();
  const int mantissa = site.attributes().mantissa_bits();
  if (exponent < 1 || exponent > most) return site.bad("exponent_bits is {}, expected 1 to {}", exponent, most);
  if (mantissa < 0 || mantissa > most) return site.bad("mantissa_bits is {}, expected 0 to {}", mantissa, most);
  return site.operand(0);
}

}  // namespace sapper::hlo::verifier
