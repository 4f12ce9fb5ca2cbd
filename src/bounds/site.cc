#include "bounds/site.h"

#include <algorithm>
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

// What an implementation multiplies before it reduces its argument, at most.
Expression scaled_argument(const Site& site) {
  // Exponentials of infinite arguments are exact.
  const bool real_exponential = site.instruction.opcode == Opcode::Exponential && hlo::is_float(site.type());
  const Expression first = real_exponential ? abs(site.real(0)) : site.magnitude(0);
  const Deviation moves = site.deviation(0);
  if (site.instruction.opcode != Opcode::Power) return moves ? first + *moves : first;
  Expression logarithm = magnitude_of(log(first));
  if (hlo::is_complex(site.type())) logarithm = logarithm + 3.15;  // and the angle
  const Expression exponent = logarithm * site.magnitude(1);
  // Where it deviates by more than 1, power has no bound.
  const bool deviates = moves || site.deviation(1);
  return where(exponent > 0.0, deviates ? exponent + 1 : exponent, exponent.constant(0));  // pow(1, inf), pow(0, 0)
}

// Where no operand of an elementwise operation is infinite, NaN or (but for sums) 0: what is infinite or 0 then has
// been rounded to it. nullopt: the operation is another.
Deviation ordinary_operands(const Site& site) {
  const Opcode opcode = site.instruction.opcode;
  const bool zeros = opcode == Opcode::Add || opcode == Opcode::Subtract;
  Deviation all;
  for (size_t i = 0; i < site.operands.size(); ++i) {
    if (!site.operand_shape(i).same_dimensions(site.instruction.shape)) return std::nullopt;
    const Expression size = hlo::is_complex(site.operand_type(i)) ? site.real(i) : abs(site.real(i));
    Expression ordinary = size < infinity;
    if (!zeros) ordinary = ordinary & (size > 0.0);
    all = all ? *all & ordinary : ordinary;
  }
  return all;
}

// Where operands make a finite number other than 0 that is so large or small that the result is infinite or 0: an
// implementation that is not correctly rounded may round it elsewhere. Further beyond, none does.
Deviation rounded_to_end(const Site& site) {
  const double vanishing = site.type() == ElementType::F64 ? 800 : 110;
  const double overflowing = overflowing_exponent(site.type());
  switch (site.instruction.opcode) {
    case Opcode::Exponential: {
      if (hlo::is_complex(site.type())) return std::nullopt;
      const Expression x = site.real(0);
      const Deviation e = site.deviation(0);
      return ((e ? x + *e : x) > -vanishing) & ((e ? x - *e : x) < overflowing);
    }
    case Opcode::Cosh:
    case Opcode::ExponentialMinusOne:
    case Opcode::Logistic:
    case Opcode::Power:
    case Opcode::Sinh: {
      if (hlo::is_complex(site.type())) return std::nullopt;
      const Expression argument = scaled_argument(site), result = site.result_real();
      const Expression beyond = where(abs(result) < infinity, result.constant(vanishing), result.constant(overflowing));
      return compare("EQ", result, result) & (argument > 0.0) & (argument < beyond) & (site.magnitude(0) > 0.0);
    }
    case Opcode::Atan2:
    case Opcode::Divide: return hlo::is_complex(site.type()) ? std::nullopt : ordinary_operands(site);
    default: return std::nullopt;
  }
}

// What numbers of these magnitudes may lose because subnormals count as zero: to zero, and not beyond it.
Expression lost_by_underflow(Expression size, const numerics::Underflow& underflow) {
  const Expression most = underflow.most < underflow.below ? min(size, underflow.most) : size;
  return where(size < underflow.below, most, size.constant(0));
}

// Infinite where finite operands have an infinite result that is not exact, as quotients by zero are.
Deviation overflows_to_infinity(const Site& site, const Deviation& total) {
  const Deviation ordinary = ordinary_operands(site);
  if (!total || !ordinary) return total;
  return where(*ordinary & (abs(site.result_real()) >= total->constant(infinity)), total->constant(infinity), *total);
}

// A rounding to a narrow type that may be left out: relative, but where it makes 0 or infinity.
Expression elided_rounding(const Site& site, Expression size, Expression reach, double unit) {
  Expression error = where(size > 0.0, reach * unit + smallest(site.type()), size.constant(0));
  Expression overflow = size >= size.constant(largest_finite(size.shape().element_type()));
  if (const Deviation ordinary = ordinary_operands(site)) {
    overflow = overflow & *ordinary;
    const Opcode opcode = site.instruction.opcode;
    if (opcode == Opcode::Convert || opcode == Opcode::Multiply || opcode == Opcode::Divide)
      error = where((size <= 0.0) & *ordinary, size.constant(smallest(site.type())), error);
  }
  return where(overflow, size.constant(infinity),
               where(size < largest_finite(size.shape().element_type()), error, size.constant(0)));
}

// Real, where each result is rounded once, subnormals too.
bool is_plain_float(const Site& site) {
  return hlo::is_float(site.type()) && numerics::underflow(site.contract(), site.type()).below == 0 &&
         !numerics::are_pairs(site.contract(), site.type());
}

bool has_error(const numerics::FunctionError& own) {
  return own.relative > 0 || own.absolute > 0 || own.argument > 0 || own.elided > 0;
}

// Whether an implementation has no error of its own but the rounding of the result, as the reference has.
bool only_rounds(const Site& site, numerics::FunctionError own) {
  if (site.is_output) own.elided = 0;
  return site.unit_roundoff() > 0 && is_plain_float(site) && !has_error(own);
}

}  // namespace

double smallest(ElementType type) {
  if (hlo::is_complex(type)) type = hlo::component_type(type);
  const auto format = hlo::float_format(type);
  return format ? hlo::decode_float(*format, format->mantissa_bits == 0 ? 0 : 1) : 0;
}

// e^90 is 3.5 times the largest f32, e^711 3.3 times the largest f64: half of it is beyond as well, which sinh and cosh
// are, and what is less by 71 %, which the short formula of exponentials of bf16 may be (numerics::function_error).
// Nothing else is off by much.
double overflowing_exponent(ElementType type) { return type == ElementType::F64 ? 711 : 90; }

ElementType deviation_type(ElementType type) {
  switch (type) {
    case ElementType::F64:
    case ElementType::C128:
    case ElementType::S32:  // whose numbers f32 rounds
    case ElementType::S64:
    case ElementType::U32:
    case ElementType::U64: return ElementType::F64;
    default: return ElementType::F32;
  }
}

std::vector<Shape> leaf_shapes(const Shape& shape) {
  std::vector<Shape> leaves;
  for_each_leaf(shape, [&](const Shape& leaf) { leaves.push_back(leaf); });
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
  // The modulus of subnormal parts is rounded by much of itself.
  return min(complex ? real + 0x1p-149 : abs(real), largest_finite(real.shape().element_type()));
}

Expression undetermined_where(Expression doubt) {
  return where(doubt <= 0.0, doubt.constant(0), doubt.constant(infinity));
}

Expression where_positive(Expression deviation, Expression bound) { return where(deviation <= 0.0, deviation, bound); }

Expression or_infinite(Expression condition, Expression bound) {
  return where(condition, bound, bound.constant(infinity));
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
Expression Site::result_size() const { return hlo::is_complex(type()) ? result_magnitude() : abs(result_real()); }

Deviation Site::deviation(size_t i) const {
  const Deviation& moved = moved_deviation(i);
  const numerics::Underflow underflow = numerics::underflow(contract(), operand_type(i));
  return underflow.below > 0 ? sum(moved, lost_by_underflow(magnitude(i), underflow)) : moved;
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
  const numerics::FunctionError own = numerics::function_error(contract(), instruction.opcode, type());
  if (propagated && only_rounds(*this, own)) return rounded(Movement{*propagated <= 0.0, *propagated});
  return rounded(propagated, own);
}

Deviation Site::rounded(const std::optional<Movement>& movement) const {
  const numerics::FunctionError own = numerics::function_error(contract(), instruction.opcode, type());
  if (!movement) return rounded(Deviation(), own);
  const auto& [exact, bound, relative] = *movement;
  if (!only_rounds(*this, own))
    return rounded(where(exact, bound.constant(0), relative ? bound + result_size() * *relative : bound), own);
  // All that comes after in one: as rounded() and with_own_error() have it.
  const double both = 2 * unit_roundoff() * (1 + 2 * unit_roundoff());
  const Expression size = result_size();
  const Expression moved = bound + (relative ? size * (*relative + both) : size * both);
  const Expression total = moved * ((1 + both) * inflation) + smallest(type());
  return where(exact, total.constant(0), in_range(total));
}

Deviation Site::rounded(Deviation propagated, numerics::FunctionError own) const {
  const double unit = unit_roundoff();
  if (unit == 0) return propagated ? Deviation(inflated(*propagated)) : propagated;
  Deviation total;
  if (propagated) {
    // Where the operands deviate, the reference's result is rounded from elsewhere than the implementation's.
    const Expression both = (result_size() + *propagated) * (2 * unit * (1 + 2 * unit)) + smallest(type());
    total = *propagated + where(*propagated <= 0.0, propagated->constant(0), both);
  }
  return with_own_error(total, propagated, own);
}

Deviation Site::with_own_error(Deviation total, const Deviation& propagated, numerics::FunctionError own) const {
  if (is_output) own.elided = 0;
  const double unit = unit_roundoff();
  const numerics::Underflow underflow = numerics::underflow(contract(), type());
  const bool always = has_error(own) || underflow.below > 0;
  if (!total && !always) return std::nullopt;
  const Expression size = result_size();
  // At most what both have before they are rounded, but for a factor.
  const Expression reach = propagated ? size + *propagated : size;
  const double rounds = 1 + 2 * unit;
  // What exact operands make 0, NaN or infinite is that everywhere, but where a finite number is rounded to it.
  const auto inexact = [&] {
    const Deviation rounds_to_end = rounded_to_end(*this);
    // Where an exponential is finite and not 0 its argument says.
    const bool by_argument = instruction.opcode == Opcode::Exponential && rounds_to_end.has_value();
    Expression doubtful = by_argument ? *rounds_to_end : (size > 0.0) & (size < infinity);
    if (propagated) doubtful = doubtful | (*propagated > 0.0);
    if (rounds_to_end && !by_argument) doubtful = doubtful | *rounds_to_end;
    return doubtful;
  };
  // An implementation that is not correctly rounded may be off by its error and by a rounding, the reference by
  // another.
  if (own.relative > 0) {
    const double factor = rounds * inflation;
    const double relative = (own.relative + 2 * unit) * factor;
    const Expression error =
        (own.argument > 0 ? reach * (scaled_argument(*this) * (own.argument * factor) + relative) : reach * relative) +
        2 * smallest(type());
    const bool sole = !total && own.absolute == 0 && own.elided == 0 && is_plain_float(*this);
    if (sole) return where(inexact(), in_range(error), size.constant(0));
    total = sum(total, where(inexact(), error, size.constant(0)));
  }
  if (own.absolute > 0) {
    Expression finite = size < infinity;
    // Wherever the argument may be.
    const double reduced = hlo::is_complex(type()) ? 0 : numerics::unreduced_below(instruction.opcode);
    if (reduced > 0) finite = finite & (scaled_argument(*this) >= size.constant(reduced));
    total = sum(total, where(finite, size.constant(own.absolute * rounds), size.constant(0)));
  }
  if (own.elided > 0) total = sum(total, elided_rounding(*this, size, reach * rounds, own.elided));
  if (total) total = inflated(*total);
  // The unrounded result may lose it before it is rounded.
  if (underflow.below > 0) total = sum(total, lost_by_underflow(size, {2 * underflow.below, 2 * underflow.most}));
  if (numerics::are_pairs(contract(), type())) total = overflows_to_infinity(*this, total);
  return within_range(total);
}

Expression Site::sum_within_range(Expression roundings, double unit) const {
  return or_infinite(roundings < numerics::overflow(contract(), type()) * unit, roundings);
}

Expression Site::in_range(Expression total) const {
  return or_infinite(result_size() + total < numerics::overflow(contract(), type()), total);
}

Deviation Site::within_range(Deviation total) const {
  return total ? Deviation(where_positive(*total, in_range(*total))) : total;
}

Expression Site::arithmetic_deviation_or_zero(size_t i) const {
  const Deviation deviation = this->deviation(i);
  return deviation ? *deviation : deviation_or_zero(i);
}

bool Site::any_deviates_in_arithmetic() const {
  if (any_deviates()) return true;
  for (size_t i = 0; i < operands.size(); ++i)
    if (numerics::underflow(contract(), operand_type(i)).below > 0) return true;
  return false;
}

Expression Site::any_of_zeros(Expression deviation) const {
  const double limit = numerics::underflow(contract(), type()).most;
  if (limit == 0) return deviation;
  return deviation + where(result_magnitude() < limit, deviation.constant(2 * limit), deviation.constant(0));
}

double Site::flushed_terms(double terms) const { return terms * numerics::underflow(contract(), type()).most; }

Expression Site::reduced_along(Opcode operation, Expression a, std::vector<int64_t> dimensions) const {
  const ElementType type = a.shape().element_type();
  std::vector<int64_t> kept;
  for (size_t d = 0; d < a.shape().rank(); ++d)
    if (std::ranges::find(dimensions, static_cast<int64_t>(d)) == dimensions.end())
      kept.push_back(a.shape().dimension(d));
  hlo::Instruction reduce;
  reduce.opcode = Opcode::Reduce;
  reduce.dimensions = std::move(dimensions);
  reduce.called = {transformer.operation(operation, type)};
  return {&builder,
          builder.add_like(reduce, Shape::array(type, std::move(kept)), {a.index, builder.constant(type, 0)})};
}

Expression Site::everywhere(Expression a) const {
  if (a.shape().rank() > 0) return a;
  return {&builder, builder.broadcast(a.index, instruction.shape)};
}

double Site::window_elements() const {
  double elements = 1;
  for (const auto& dimension : instruction.attributes().window().dimensions())
    elements *= static_cast<double>(dimension.size());
  return elements;
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
