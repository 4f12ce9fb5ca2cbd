// Elementwise operations. Each rule is the largest |f(a') - f(a)| over a' within `e` of a, from above: by f's slope
// where it has one that is bounded on the interval, by the values at the interval's ends where f is monotone.
#include <cmath>
#include <limits>
#include <string_view>

#include "bounds/modulus.h"
#include "bounds/rules.h"

namespace sapper::bounds {

using hlo::ElementType;
using hlo::Opcode;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double two_pi = 6.2831853071795865;

// a b of numbers that are not negative: above 0 where both are, though it underflows.
Expression product_upwards(Expression a, Expression b) { return a * b + min(min(a, b), 0x1p-149); }

// The same for a function of one operand.
template <class Function>
Expression hull_of(Expression value, Expression operand, Expression deviation, Function&& function) {
  return hull(value, [&](double sign) { return function(operand + deviation * sign); });
}

// |e^(a+d) - e^a| for |d| <= e, given e^a: below e^a (e + e^2) where e <= 1, below e^(a+e) elsewhere.
Expression exponential_slope(Expression exponential, Expression argument, Expression e) {
  // The argument's own rounding is that of a number below 128.
  return where(e <= 1.0, exponential * e * (e + 1), exp(argument + e) * (1 + 0x1p-16));
}

Expression integer_part(Expression a) { return where(a < 0.0, ceil(a), floor(a)); }

// One unit of roundoff more of the result's magnitude, which itself is rounded.
Expression unrounded_magnitude(const Site& site) { return site.result_magnitude() * (1 + 4 * site.unit_roundoff()); }

// Functions of one real variable; `e` is the argument's deviation.
Expression real_function(const Site& site, Expression e) {
  const double u = 4 * site.unit_roundoff();
  const Expression size = unrounded_magnitude(site);
  const auto a = [&] { return site.real(0); };
  switch (site.instruction.opcode) {
    case Opcode::Exponential: return exponential_slope(size, a(), e);
    case Opcode::ExponentialMinusOne: return exponential_slope(site.result_real() + (1 + u), a(), e);
    case Opcode::Sinh:
    case Opcode::Cosh: return or_infinite(e <= 1.0, (size + 1) * e * (e + 1));
    case Opcode::Log: return or_infinite(a() > e, e / (a() - e));
    case Opcode::LogPlusOne: return or_infinite(a() + 1 > e, e / ((a() + 1) - e));
    case Opcode::Sqrt: return or_infinite(a() >= e, min(e / site.result_magnitude(), sqrt(e)));
    case Opcode::Rsqrt: return or_infinite(a() > e, size * (e / (a() - e)));
    case Opcode::Cbrt: {  // nowhere more than 2 cbrt(e / 2)
      const Expression from = site.magnitude(0), most = unary(Opcode::Cbrt, e) * 1.6;
      return where(from > e, min(size * (e / (from - e)), most), most);
    }
    case Opcode::Tanh: return e * min((1 - site.result_magnitude() * site.result_magnitude()) + u + e * 2, 1);
    case Opcode::Logistic: return e * min(site.result_magnitude() * (1 - site.result_magnitude()) + u + e * 0.2, 0.25);
    case Opcode::Sine:
    case Opcode::Cosine: {
      const Expression other_squared = max(1 - site.result_magnitude() * site.result_magnitude(), 0) + u;
      return e * min(sqrt(other_squared) + e, 1);
    }
    case Opcode::Tan: return or_infinite((e < 0.5) & (size * e < 0.25), e * (size * size + 1) * 1.6);
    case Opcode::Erf: return e * min((1 - site.result_magnitude() + u) * 12 + e, 1) * 1.13;
    case Opcode::Asinh: return e;
    case Opcode::Asin:
    case Opcode::Acos: {
      const Expression end = site.magnitude(0) + e;
      return or_infinite(end < 1.0, e / sqrt(1 - end * end));
    }
    case Opcode::Acosh: {
      const Expression end = a() - e;
      return or_infinite(end > 1.0, e / (sqrt(end - 1) * sqrt(end + 1)));
    }
    case Opcode::Atanh: {
      const Expression end = site.magnitude(0) + e;
      return or_infinite(end < 1.0, e / (1 - end * end));
    }
    default:
      return hull_of(site.result_real(), a(), e, [&](Expression x) { return unary(site.instruction.opcode, x); });
  }
}

// Where a function of one real variable is the same infinity or NaN wherever its argument is: beyond the range, outside
// of the domain. Comparisons with what can be represented are exact though sums are rounded.
Deviation settled_function(const Site& site, Expression e) {
  switch (site.instruction.opcode) {
    case Opcode::Exponential: return site.real(0) - e > overflowing_exponent(site.type());
    case Opcode::Log:
    case Opcode::Sqrt:
    case Opcode::Rsqrt: return site.real(0) + e < 0.0;
    case Opcode::LogPlusOne: return site.real(0) + e < -1.0;
    case Opcode::Acosh: return site.real(0) + e < 1.0;
    case Opcode::Acos:
    case Opcode::Asin:
    case Opcode::Atanh: return site.magnitude(0) - e > 1.0;
    default: return std::nullopt;
  }
}

// Functions of one complex variable.
Expression complex_function(const Site& site, Expression e) {
  if (site.instruction.opcode != Opcode::Exponential) return undetermined_where(e);
  return or_infinite(e <= 1.0, unrounded_magnitude(site) * e * (e + 1));
}

// The sign of a zero that has not been computed exactly is free: infinite where the operand is 0, whose sign decides.
Expression undetermined_at_zero(const Site& site, size_t operand, Expression bound) {
  return or_infinite(!(abs(site.real(operand)) <= 0.0), bound);
}

std::optional<Movement> divide(const Site& site) {
  const Deviation a = site.deviation(0), b = site.deviation(1);
  if (!a && !b) return std::nullopt;
  const bool complex = hlo::is_complex(site.type());
  const Expression divisor = complex ? max(site.magnitude(1) - 0x1p-147, 0) : abs(site.real(1));  // at most the modulus
  if (!b) return Movement{*a <= 0.0, *a / divisor + 0x1p-149};
  // (a + |x / y| b) / (|y| - b), by the reciprocal and the ratio: of divisors that rows share they are computed once a
  // row. Where the divisor may be 0 the reciprocal is infinite, and the ratio that or NaN.
  const Expression reciprocal = 1.0 / max(divisor - *b, 0);
  const Expression ratio = *b * reciprocal * (1 + 4 * site.unit_roundoff()) + 0x1p-149;
  const Expression least = ratio * smallest(site.type()) + 0x1p-148;
  // Of a divisor that is 0 the sign is free, too.
  const Expression exact = (*b <= 0.0) & (divisor > 0.0);
  return Movement{a ? (*a <= 0.0) & exact : exact, a ? *a * reciprocal + least : least, ratio};
}

Deviation multiply(const Site& site) {
  const Deviation a = site.deviation(0), b = site.deviation(1);
  if (!a && !b) return std::nullopt;
  if (!b) return where_positive(*a, product_upwards(*a, site.magnitude(1)));
  if (!a) return where_positive(*b, product_upwards(*b, site.magnitude(0)));
  return where_positive(*a + *b, product_upwards(*a, site.magnitude(1) + *b) + product_upwards(*b, site.magnitude(0)));
}

Deviation power(const Site& site) {
  const Deviation a = site.deviation(0), b = site.deviation(1);
  if (!a && !b) return std::nullopt;
  if (hlo::is_complex(site.type())) return undetermined_where(*sum(a, b));
  const Expression base = site.magnitude(0);
  Deviation exponent;  // how far b log a may deviate
  if (a) {
    const Expression most = b ? site.magnitude(1) + *b : site.magnitude(1);
    exponent = where_positive(*a, or_infinite(base > *a, product_upwards(most, *a / (base - *a))));
  }
  if (b) {
    // A base below 0 has a power for integers only.
    const Expression moves =
        or_infinite(site.real(0) > (a ? *a : base.constant(0)), product_upwards(abs(log(site.real(0))), *b));
    exponent = sum(exponent, where_positive(*b, moves));
  }
  const Expression bound =
      or_infinite(*exponent <= 1.0, product_upwards(unrounded_magnitude(site), *exponent) * (*exponent + 1));
  if (!a) return bound;
  return where(site.real(1) < 0.0, undetermined_at_zero(site, 0, bound), bound);
}

// x - y trunc(x / y): while the quotient stays between two integers it deviates as x and trunc(x / y) y do; where it
// need not, by up to y more.
Deviation remainder(const Site& site) {
  const Deviation a = site.deviation(0), b = site.deviation(1);
  const bool approximate = site.contract().short_formulas || numerics::are_pairs(site.contract(), site.type());
  if (!a && !b && !approximate) return std::nullopt;
  const Expression divisor = site.magnitude(1), rest = site.result_magnitude();
  const Expression quotient = site.magnitude(0) / divisor + 1;
  Deviation shift = a;
  if (b) shift = sum(shift, quotient * *b);
  // The emitters' quotient and its product with y are rounded, and so are those of pairs.
  const double unit = std::min(site.unit_roundoff(), numerics::unit_roundoff(ElementType::F32));
  if (approximate) shift = sum(shift, site.magnitude(0) * (16 * unit));
  const auto decided = (rest > *shift) & (divisor - rest > *shift);
  Expression bound = where(decided, *shift, *shift + divisor);
  if (b) bound = or_infinite((*b <= 0.0) | (divisor > *b), bound);
  return where_positive(*shift, bound);
}

Deviation atan2(const Site& site) {
  const Deviation y = site.deviation(0), x = site.deviation(1);
  if (!y && !x) return std::nullopt;
  const Expression shift = *sum(y, x);
  const Expression radius = max(site.magnitude(0), site.magnitude(1));
  Expression bound = where(radius > shift * 2, shift * 1.05 / radius, shift.constant(two_pi));
  bound = where_positive(shift, or_infinite(shift < infinity, bound));
  // The cut along the negative x axis, where the sign of a zero decides.
  const Expression zero = shift.constant(0);
  const Expression crosses = (site.magnitude(0) <= (y ? *y : zero)) & (site.real(1) <= (x ? *x : zero));
  return where(crosses, max(bound, two_pi), bound);
}

Deviation extremum(const Site& site) {
  const Deviation a = site.deviation(0), b = site.deviation(1);
  if (!a && !b) return std::nullopt;
  const auto end = [&](double sign) {
    const Expression low = a ? site.real(0) + *a * sign : site.real(0);
    const Expression high = b ? site.real(1) + *b * sign : site.real(1);
    return binary(site.instruction.opcode, low, high);
  };
  return site.any_of_zeros(where_positive(*sum(a, b), hull(site.result_real(), end)));
}

Deviation clamp(const Site& site) {
  const Deviation deviations[] = {site.deviation(0), site.deviation(1), site.deviation(2)};
  if (!deviations[0] && !deviations[1] && !deviations[2]) return std::nullopt;
  const auto end = [&](double sign) {
    Expression ends[3];
    for (size_t i = 0; i < 3; ++i)  // limits may be scalars
      ends[i] = site.everywhere(deviations[i] ? site.real(i) + *deviations[i] * sign : site.real(i));
    return min(max(ends[1], ends[0]), ends[2]);
  };
  Deviation any;
  for (const Deviation& deviation : deviations)
    if (deviation) any = sum(any, site.everywhere(*deviation));
  return site.any_of_zeros(where_positive(*any, or_infinite(*any < infinity, hull(site.result_real(), end))));
}

Deviation compare_values(const Site& site) {
  const Deviation a = site.deviation(0), b = site.deviation(1);
  if (!a && !b) return std::nullopt;
  const Expression shift = a && b ? inflated(*a + *b) : *sum(a, b);
  const auto verdict = [&](Expression decided) {
    return where((shift <= 0.0) | decided, shift.constant(0), shift.constant(1));
  };
  if (hlo::is_complex(site.operand_type(0)))
    return verdict(real_of(binary(Opcode::Subtract, site.operand(0), site.operand(1))) > shift);
  const Expression distance = site.real(0) - site.real(1);
  const std::string& direction = site.instruction.attributes().comparison_direction();
  if (direction == "EQ" || direction == "NE") return verdict(abs(distance) > shift);
  // An end that ties is on the side of one answer; which is certain only where the distance is not rounded.
  const bool upper = direction == "LT" || direction == "GE";
  const Expression ties = compare("EQ", distance, upper ? shift : 0 - shift);
  const Expression exact = (abs(site.real(0)) <= 0.0) | (abs(site.real(1)) <= 0.0);
  return verdict((shift < infinity) & ((abs(distance) > shift) | (exact & ties)));
}

Deviation select(const Site& site) {
  const Deviation &p = site.moved_deviation(0), &t = site.moved_deviation(1), &f = site.moved_deviation(2);
  if (!p && !t && !f) return std::nullopt;
  Deviation chosen;
  if (t || f) chosen = where(site.everywhere(site.operand(0)), site.deviation_or_zero(1), site.deviation_or_zero(2));
  if (!p) return chosen;
  Expression distance = hlo::is_complex(site.type())
                            ? real_of(binary(Opcode::Subtract, site.operand(1), site.operand(2)))
                            : abs(site.real(1) - site.real(2));
  if (const Deviation more = largest(t, f)) distance = distance + *more;
  if (!hlo::is_integer(site.type())) distance = inflated(distance);
  const Expression otherwise = chosen ? max(*chosen, distance) : distance;
  const Expression by_steps = where(site.everywhere(*p) <= 0.0, chosen ? *chosen : distance.constant(0), otherwise);
  const Deviation whole = expanded_modulus(site);
  return whole ? where(by_steps <= *whole, by_steps, *whole) : by_steps;
}

// How far what a conversion rounds may be from its operand: the leading halves of pairs are what they are rounded to in
// f32, but for ties of both halves.
Deviation rounded_operand(const Site& site) {
  const ElementType to = site.type();
  if (!numerics::are_pairs(site.contract(), site.operand_type(0)) || !hlo::is_float(to) || to == ElementType::F64)
    return site.deviation(0);
  const double unit = to == ElementType::F32 ? 0x1p-48 : numerics::unit_roundoff(ElementType::F32);
  return sum(site.deviation(0), site.magnitude(0) * unit);
}

Deviation convert(const Site& site) {
  const Deviation a = rounded_operand(site);
  const ElementType from = site.operand_type(0), to = site.type();
  const bool to_float = hlo::is_float(to) || hlo::is_complex(to);
  const bool narrows = numerics::unit_roundoff(to) > numerics::unit_roundoff(from);
  if (to_float) {
    if (!a && !narrows) return std::nullopt;
    // A widening convert rounds nothing: nothing to leave out, nothing to round otherwise.
    if (!narrows && numerics::unit_roundoff(from) > 0) return converted(*a, deviation_type(to));
    // What vanishes in f32 may still decide a rounding.
    Deviation shift = a;
    if (a && a->shape().element_type() != deviation_type(to))
      shift = converted(where_positive(*a, *a + 0x1p-149), deviation_type(to));
    const numerics::FunctionError own = numerics::function_error(site.contract(), Opcode::Convert, to);
    const bool real = hlo::is_float(from) && hlo::is_float(to);
    if (!real || !a || (own.elided > 0 && !site.is_output)) return site.rounded(shift);
    // Rounded to what the ends are rounded to.
    const Expression moved = hull_of(site.result_real(), site.real(0), *a,
                                     [&](Expression x) { return converted(converted(x, to), deviation_type(to)); });
    return site.with_own_error(where_positive(*a, moved), shift, own);
  }
  if (!a) return std::nullopt;
  const Expression e = *a;
  if (to == ElementType::Pred) {
    if (from == ElementType::Pred) return e;
    return where((e <= 0.0) | (site.magnitude(0) > e), e.constant(0), e.constant(1));
  }
  // The other end must still be within the type.
  const int bits = hlo::bit_width(to) - (hlo::element_class(to) == hlo::ElementClass::Signed ? 1 : 0);
  const Expression fits = site.magnitude(0) + e < std::ldexp(1.0, bits);
  const Expression moved =
      hlo::is_float(from) ? hull_of(integer_part(site.real(0)), site.real(0), e, &integer_part) : e;
  return converted(where_positive(e, or_infinite(fits, moved)), deviation_type(to));
}

Deviation logic_of_preds(const Site& site) {
  const Deviation &a = site.moved_deviation(0), &b = site.moved_deviation(1);
  if (!a && !b) return std::nullopt;
  if (site.instruction.opcode == Opcode::Xor) return largest(a, b);
  const bool is_and = site.instruction.opcode == Opcode::And;
  // The other operand lets an undecided one through when it is, or may be, true (for `or`: false).
  const auto through = [&](size_t other, const Deviation& e) {
    const Expression open = is_and ? site.operand(other) : !site.operand(other);
    return e ? open | !(*e <= 0.0) : open;
  };
  const auto undecided = [&](const Deviation& e, Expression lets_through) {
    return where(lets_through, *e, e->constant(0));
  };
  Deviation result;
  if (a) result = undecided(a, through(1, b));
  if (b) result = largest(result, undecided(b, through(0, a)));
  return result;
}

// Integer results that have left exact arithmetic: the distance must not wrap.
Deviation integer(const Site& site, Deviation propagated) {
  if (!propagated) return propagated;
  const bool is_signed = hlo::element_class(site.type()) == hlo::ElementClass::Signed;
  const double limit = std::ldexp(1.0, hlo::bit_width(site.type()) - (is_signed ? 1 : 0));
  return where_positive(*propagated, or_infinite(site.result_magnitude() + *propagated < limit, *propagated));
}

// Whatever deviates is undetermined.
Deviation all_or_nothing(const Site& site) {
  Deviation doubt;
  for (size_t i = 0; i < site.operands.size(); ++i)
    if (const Deviation deviation = site.deviation(i)) doubt = largest(doubt, undetermined_where(*deviation));
  if (!doubt) return doubt;
  return converted(*doubt, deviation_type(site.type()));
}

Deviation sign(const Site& site, Expression e) {
  const Expression same = (e <= 0.0) | (site.magnitude(0) > e);
  return where(same, e.constant(0), or_infinite(e < infinity, e.constant(2)));
}

Deviation is_finite(const Site& site, Expression e) {
  const bool wide = deviation_type(site.operand_type(0)) == ElementType::F64;
  const double limit = std::min(numerics::overflow(site.contract(), site.operand_type(0)),
                                wide ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max());
  const Expression decided = (e <= 0.0) | (site.magnitude(0) + e < limit);
  return where(decided, e.constant(0), e.constant(1));
}

Deviation integer_rule(const Site& site) {
  const Deviation a = site.operands.empty() ? std::nullopt : site.deviation(0);
  switch (site.instruction.opcode) {
    case Opcode::Add:
    case Opcode::Subtract: return integer(site, sum(a, site.deviation(1)));
    case Opcode::Multiply: return integer(site, multiply(site));
    case Opcode::Maximum:
    case Opcode::Minimum: return extremum(site);
    case Opcode::Clamp: return clamp(site);
    case Opcode::Abs:
    case Opcode::Negate: return integer(site, a);
    case Opcode::Not:
    case Opcode::Copy: return a;
    case Opcode::Sign: return a ? sign(site, *a) : a;
    default: return all_or_nothing(site);
  }
}

Deviation pred_rule(const Site& site) {
  switch (site.instruction.opcode) {
    case Opcode::Compare: return compare_values(site);
    case Opcode::And:
    case Opcode::Or:
    case Opcode::Xor: return logic_of_preds(site);
    case Opcode::Not: return site.moved_deviation(0);
    case Opcode::IsFinite: {
      const Deviation a = site.deviation(0);
      return a ? is_finite(site, *a) : a;
    }
    default: return all_or_nothing(site);
  }
}

Expression is_exact(const Deviation& deviation, Expression condition) {
  return deviation ? condition & (*deviation <= 0.0) : condition;
}

// Where an exact NaN or infinity decides the result of a binary operation whatever a deviating operand is.
Deviation settled(const Site& site) {
  const Deviation deviations[] = {site.deviation(0), site.deviation(1)};
  Deviation any;
  for (size_t i = 0; i < 2; ++i) {
    const size_t other = 1 - i;
    if (!deviations[other]) continue;
    const Expression value = site.real(i), size = abs(value);
    Expression decides = compare("NE", value, value);
    const Expression infinite = compare("EQ", size, size.constant(infinity));
    const Expression other_size = abs(site.real(other));
    const Expression finite = other_size + *deviations[other] < std::numeric_limits<float>::max();
    const Expression keeps_sign = other_size > *deviations[other];
    switch (site.instruction.opcode) {
      case Opcode::Add:
      case Opcode::Subtract: decides = decides | (infinite & finite); break;
      case Opcode::Multiply: decides = decides | (infinite & keeps_sign); break;
      case Opcode::Divide: decides = decides | (infinite & (i == 0 ? finite & keeps_sign : finite)); break;
      case Opcode::Power: decides = compare("NE", value, value) & (other_size > *deviations[other] + 1); break;
      default: break;
    }
    decides = is_exact(deviations[i], decides);
    any = any ? *any | decides : decides;
  }
  return any;
}

Deviation binary_float_rule(const Site& site) {
  const auto unsettled = [&]() -> Deviation {
    switch (site.instruction.opcode) {
      case Opcode::Add:
      case Opcode::Subtract: return site.rounded(sum(site.deviation(0), site.deviation(1)));
      case Opcode::Multiply: return site.rounded(multiply(site));
      case Opcode::Divide: return site.rounded(divide(site));
      case Opcode::Power: return site.rounded(power(site));
      case Opcode::Remainder: return site.rounded(remainder(site));
      case Opcode::Atan2: return site.rounded(atan2(site));
      default: return extremum(site);
    }
  };
  const Deviation bound = unsettled();
  if (!bound || hlo::is_complex(site.type())) return bound;
  const Deviation by_exact = settled(site);
  return by_exact ? Deviation(where(*by_exact, bound->constant(0), *bound)) : bound;
}

// Rounded to what the ends are rounded to, which near the least number of the format may be far from what a relative
// error says.
Deviation reduced_precision(const Site& site) {
  const Deviation a = site.deviation(0);
  if (!a) return a;
  const auto reduced = [&](Expression x) {
    return Expression{&site.builder, site.builder.add_like(site.instruction, x.shape(), {x.index})};
  };
  return where_positive(*a, hull_of(site.result_real(), site.real(0), *a, reduced));
}

Deviation float_rule(const Site& site) {
  const Deviation a = site.deviation(0);
  switch (site.instruction.opcode) {
    case Opcode::Add:
    case Opcode::Atan2:
    case Opcode::Divide:
    case Opcode::Maximum:
    case Opcode::Minimum:
    case Opcode::Multiply:
    case Opcode::Power:
    case Opcode::Remainder:
    case Opcode::Subtract: return binary_float_rule(site);
    case Opcode::Complex: return sum(a, site.deviation(1));
    case Opcode::Clamp: return clamp(site);
    case Opcode::Negate:
    case Opcode::Real:
    case Opcode::Imag: return a;
    case Opcode::Abs:
      return hlo::is_complex(site.operand_type(0)) ? site.rounded(a, {4 * site.unit_roundoff(), 0, 0}) : a;
    case Opcode::Sign:
      return a ? (hlo::is_complex(site.type()) ? Deviation(undetermined_where(*a)) : sign(site, *a)) : a;
    case Opcode::Floor:
    case Opcode::Ceil:
    case Opcode::RoundNearestAfz:
    case Opcode::RoundNearestEven: return a ? Deviation(where_positive(*a, real_function(site, *a))) : a;
    case Opcode::ReducePrecision: return site.with_own_error(reduced_precision(site), a, {});
    case Opcode::StochasticConvert: return site.unbounded()[0];
    default: break;
  }
  if (!a) return site.rounded(a);
  const bool complex = hlo::is_complex(site.type());
  // Products of a rule may underflow.
  const Expression moved = complex ? complex_function(site, *a) : real_function(site, *a);
  Expression bound = where_positive(*a, moved + 0x1p-149);
  if (site.instruction.opcode == Opcode::Rsqrt) bound = undetermined_at_zero(site, 0, bound);
  if (complex) return site.rounded(bound);
  if (const Deviation settled = settled_function(site, *a)) bound = where(*settled, bound.constant(0), bound);
  return site.rounded(bound);
}

}  // namespace

Deviations bound_elementwise(const Site& site) {
  switch (site.instruction.opcode) {
    case Opcode::Select: return {select(site)};
    case Opcode::Convert: return {convert(site)};
    case Opcode::BitcastConvert:
      if (!site.any_deviates()) return {std::nullopt};
      if (!site.operand_shape(0).same_dimensions(site.instruction.shape)) return site.unbounded();
      return {all_or_nothing(site)};
    default: break;
  }
  if (site.type() == ElementType::Pred) return {pred_rule(site)};
  if (hlo::is_integer(site.type())) return {integer_rule(site)};
  return {float_rule(site)};
}

}  // namespace sapper::bounds
