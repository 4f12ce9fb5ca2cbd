#include "bounds/site.h"

#include <limits>

#include "bounds/transformer.h"

namespace sapper::bounds {

using hlo::ElementType;
using hlo::Opcode;
using hlo::Shape;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
// A rule takes fewer than eight roundings of f32.
constexpr double inflation = 1 + 0x1p-20;

double largest_finite(ElementType type) {
  return type == ElementType::F64 ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
}

// The smallest positive number of a float type.
double smallest(ElementType type) {
  if (hlo::is_complex(type)) type = hlo::component_type(type);
  const auto format = hlo::float_format(type);
  return format ? hlo::decode_float(*format, format->mantissa_bits == 0 ? 0 : 1) : 0;
}

// Below which results may be flushed to zero: the smallest normal f32 for all types that have its exponents.
double flushed_below(ElementType type) {
  switch (type) {
    case ElementType::F32:
    case ElementType::BF16:
    case ElementType::C64: return 0x1p-126;
    default: return 0;
  }
}

}  // namespace

ElementType deviation_type(ElementType type) {
  switch (type) {
    case ElementType::F64:
    case ElementType::C128:
    case ElementType::S64:
    case ElementType::U64: return ElementType::F64;
    default: return ElementType::F32;
  }
}

std::vector<Shape> leaf_shapes(const Shape& shape) {
  if (!shape.is_tuple()) return {shape};
  std::vector<Shape> leaves;
  for (const Shape& element : shape.elements())
    for (Shape& leaf : leaf_shapes(element)) leaves.push_back(std::move(leaf));
  return leaves;
}

Expression real_of(Expression value) {
  const ElementType type = value.shape().element_type();
  if (hlo::is_complex(type))
    value = {value.builder, value.builder->add(Opcode::Abs, value.shape().with_element_type(hlo::component_type(type)),
                                               {value.index})};
  return converted(value, deviation_type(type));
}

Expression magnitude_of(Expression value) {
  const bool complex = hlo::is_complex(value.shape().element_type());
  const Expression real = real_of(value);
  return min(complex ? real : abs(real), largest_finite(real.shape().element_type()));
}

Expression undetermined_where(Expression doubt) {
  return where(doubt <= 0.0, doubt.constant(0), doubt.constant(infinity));
}

Expression inflated(Expression deviation) { return deviation * inflation; }

Deviation largest(const Deviation& a, const Deviation& b) {
  if (!a || !b) return a ? a : b;
  return max(*a, *b);
}

Deviation sum(const Deviation& a, const Deviation& b) {
  if (!a || !b) return a ? a : b;
  return *a + *b;
}

const numerics::Contract& Site::contract() const { return transformer.contract(); }

const hlo::Computation& Site::called(size_t i) const { return transformer.from().computations[instruction.called[i]]; }

Expression Site::real(size_t i) const { return real_of(operand(i)); }
Expression Site::magnitude(size_t i) const { return magnitude_of(operand(i)); }
Expression Site::result_real() const { return real_of({&builder, result}); }
Expression Site::result_magnitude() const { return magnitude_of({&builder, result}); }

Deviation Site::deviation(size_t i) const {
  const Deviation& moved = moved_deviation(i);
  const double limit = contract().flush_subnormals ? flushed_below(operand_type(i)) : 0;
  if (limit == 0) return moved;
  const Expression size = magnitude(i);
  return sum(moved, where(size < limit, size, size.constant(0)));
}

bool Site::any_deviates() const {
  for (const Value* operand : operands)
    for (const Deviation& leaf : operand->deviations)
      if (leaf) return true;
  return false;
}

Expression Site::deviation_or_zero(size_t i) const {
  if (const Deviation deviation = moved_deviation(i)) return *deviation;
  const Shape& shape = operand_shape(i);
  return {&builder, builder.splat(0, shape.with_element_type(deviation_type(shape.element_type())))};
}

Deviation Site::rounded(Deviation propagated) const {
  return rounded(propagated, numerics::function_error(contract(), instruction.opcode, type()));
}

Deviation Site::rounded(Deviation propagated, numerics::FunctionError own) const {
  const double unit = numerics::unit_roundoff(type());
  if (unit == 0) return propagated ? Deviation(inflated(*propagated)) : propagated;
  const double flushed = contract().flush_subnormals ? flushed_below(type()) : 0;
  const bool always = own.relative > 0 || own.absolute > 0 || own.argument > 0 || own.elided > 0 || flushed > 0;
  if (!propagated && !always) return std::nullopt;
  const Expression size = result_magnitude();
  const double largest = largest_finite(size.shape().element_type());
  // What exact operands make 0, NaN or infinite is that everywhere (but for numbers within a rounding of the largest).
  const auto where_finite = [&](Expression error) {
    const Expression at_zero = where(size <= 0.0, size.constant(own.absolute), size.constant(0));
    return where((size > 0.0) & (size < largest), error, own.absolute > 0 ? at_zero : size.constant(0));
  };
  Deviation total;
  if (propagated) {
    // Where the operands deviate, the reference's result is rounded from elsewhere than the implementation's.
    const Expression both = size * (2 * unit) + smallest(type());
    total = *propagated + where(*propagated <= 0.0, propagated->constant(0), both);
  }
  // An implementation that is not correctly rounded may be off by its error and by a rounding.
  if (own.relative > 0 || own.absolute > 0)
    total = sum(total, where_finite(size * (own.relative + unit) + (own.absolute + smallest(type()))));
  if (own.elided > 0) total = sum(total, where_finite(size * (own.elided * (1 + 2 * unit)) + smallest(type())));
  if (own.argument > 0) total = sum(total, where_finite(size * magnitude(0) * own.argument));
  if (total) total = inflated(*total);
  // To zero, and not beyond it.
  if (flushed > 0) total = sum(total, where(size < 2 * flushed, size, size.constant(0)));
  return total;
}

Expression Site::arithmetic_deviation_or_zero(size_t i) const {
  const Deviation deviation = this->deviation(i);
  return deviation ? *deviation : deviation_or_zero(i);
}

bool Site::any_deviates_in_arithmetic() const {
  if (any_deviates()) return true;
  for (size_t i = 0; i < operands.size(); ++i)
    if (contract().flush_subnormals && flushed_below(operand_type(i)) > 0) return true;
  return false;
}

double Site::flushed_terms(double terms) const {
  return contract().flush_subnormals ? terms * flushed_below(type()) : 0;
}

Deviation Site::undetermined_like(const Shape& shape) const {
  if (!shape.is_array()) return std::nullopt;
  return Expression{&builder, builder.splat(infinity, shape.with_element_type(deviation_type(shape.element_type())))};
}

Deviations Site::unbounded() const {
  transformer.report_unbounded(computation, instruction);
  Deviations all;
  for (const Shape& leaf : leaf_shapes(instruction.shape)) all.push_back(undetermined_like(leaf));
  return all;
}

}  // namespace sapper::bounds
