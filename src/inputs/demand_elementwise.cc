#include <algorithm>
#include <cmath>

#include "inputs/demand.h"
#include "inputs/elementwise_bounds.h"
#include "inputs/shares.h"

namespace sapper::inputs {
namespace {

using hlo::Opcode;

constexpr double infinity = std::numeric_limits<double>::infinity();

// A function that rises everywhere (or falls), by its inverse. Bounds on the result outside of its values bound
// nothing.
struct Inverse {
  Opcode opcode;
  double (*inverse)(double);
  double least = -infinity, most = infinity;  // what the function's values are between
  bool falls = false;
  bool is_odd = false;  // keeps the distance from zero
};

constexpr double largest_angle = 4096;  // beyond, the roundings of the reduction turn it

// What is not zero stays so.
double kept_from_zero(double x, double from) { return x == 0 && from != 0 ? std::copysign(1e-300, from) : x; }

double square(double x) { return kept_from_zero(x * x, std::fabs(x)); }
double cube(double x) { return kept_from_zero(x * x * x, x); }
double logit(double x) { return std::log(x / (1 - x)); }
double identity(double x) { return x; }
double reciprocal_square(double x) { return 1 / (x * x); }

const Inverse inverses[] = {
    {Opcode::Acos, std::cos, 0, M_PI, true},
    {Opcode::Acosh, std::cosh, 0},
    {Opcode::Asin, std::sin, -M_PI_2, M_PI_2, false, true},
    {Opcode::Asinh, std::sinh, -infinity, infinity, false, true},
    {Opcode::Atanh, std::tanh, -infinity, infinity, false, true},
    {Opcode::Cbrt, cube, -infinity, infinity, false, true},
    {Opcode::Ceil, std::floor},
    {Opcode::Convert, identity, -infinity, infinity, false, true},
    {Opcode::Exponential, std::log, 0},
    {Opcode::ExponentialMinusOne, std::log1p, -1},
    {Opcode::Floor, std::ceil},
    {Opcode::Log, std::exp},
    {Opcode::LogPlusOne, std::expm1},
    {Opcode::Logistic, logit, 0, 1},
    {Opcode::ReducePrecision, identity, -infinity, infinity, false, true},
    {Opcode::RoundNearestAfz, identity},
    {Opcode::RoundNearestEven, identity},
    {Opcode::Rsqrt, reciprocal_square, 0, infinity, true},
    {Opcode::Sinh, std::asinh, -infinity, infinity, false, true},
    {Opcode::Sqrt, square, 0},
    {Opcode::StochasticConvert, identity, -infinity, infinity, false, true},
    {Opcode::Tanh, std::atanh, -1, 1, false, true},
};

Estimate negative(Estimate it) {
  it.bounds = negated(it.bounds);
  return it;
}

bool is_whole(const Interval& values) { return values.low == values.high && values.low == std::nearbyint(values.low); }

}  // namespace

void Demand::domain(Node n) {
  const auto x = operands(n);
  const Cause cause{n, Because::Domain};
  const Opcode opcode = node(n).instruction->opcode;
  const hlo::ElementType of = type(n);
  if (hlo::is_integer(of)) {
    if (opcode == Opcode::Divide || opcode == Opcode::Remainder) needs_.away_from_zero(x[1], 1, cause);
    return;
  }
  const double least = least_normal(of);
  const auto between = [&](Node operand, double low, double high) {
    needs_.at_least(operand, low, cause);
    needs_.at_most(operand, high, cause);
  };
  if (hlo::is_complex(of)) {
    if (opcode == Opcode::Divide) needs_.away_from_zero(x[1], least, cause);
    if (opcode == Opcode::Log) needs_.away_from_zero(x[0], least, cause);
    return;
  }
  switch (opcode) {
    case Opcode::Log:
    case Opcode::Rsqrt: return needs_.at_least(x[0], least, cause);
    case Opcode::Sqrt: return needs_.at_least(x[0], 0, cause);
    case Opcode::LogPlusOne: return needs_.at_least(x[0], epsilon(of) - 1, cause);
    case Opcode::Acos:
    case Opcode::Asin: return between(x[0], -1, 1);
    case Opcode::Acosh: return needs_.at_least(x[0], 1, cause);
    case Opcode::Cosine:
    case Opcode::Sine:
    case Opcode::Tan: return between(x[0], -largest_angle, largest_angle);
    case Opcode::Atanh: return between(x[0], epsilon(of) - 1, 1 - epsilon(of));
    case Opcode::Divide:  // the divisor's reciprocal is normal
      between(x[1], -0.5 / least, 0.5 / least);
      return needs_.away_from_zero(x[1], least, cause);
    case Opcode::Remainder: return needs_.away_from_zero(x[1], least, cause);
    case Opcode::Power: {
      const Interval& exponent = estimates_[x[1]].bounds;
      if (exponent.low < 0) needs_.away_from_zero(x[0], least, cause);
      if (!is_whole(exponent) || estimates_[x[1]].adjustable)
        needs_.at_least(x[0], exponent.low < 0 ? least : 0, cause);
      return;
    }
    default: return;
  }
}

bool Demand::elementwise(Node n) {
  const auto x = operands(n);
  const Opcode opcode = node(n).instruction->opcode;
  if (opcode == Opcode::Convert) needs_.add_roles(x[0], need_.roles);
  switch (opcode) {
    case Opcode::Add: return add(n, false);
    case Opcode::Subtract: return add(n, true);
    case Opcode::Multiply:
      for (const Node operand : x) needs_.add_roles(operand, need_.roles & (RoleHeavyDiagonal | RoleBits));
      return x[0] == x[1] && !hlo::is_complex(type(n)) ? square(n) : product(n, hlo::is_complex(type(n)) ? 2 : 1);
    case Opcode::Divide: return divide(n);
    case Opcode::Power: return power(n);
    case Opcode::Maximum: return maximum(n, false);
    case Opcode::Minimum: return maximum(n, true);
    case Opcode::Clamp: return clamp(n);
    case Opcode::Select: return select(n);
    case Opcode::And:
      if (masked(n)) return true;
      [[fallthrough]];
    case Opcode::Or:
    case Opcode::Xor:
    case Opcode::Not:
    case Opcode::Popcnt:
    case Opcode::CountLeadingZeros:
      for (const Node operand : x) needs_.add_roles(operand, RoleBits);
      return need_.low.because == Because::Overflow && need_.high.because == Because::Overflow;
    case Opcode::ShiftRightLogical:
      if (shifted_down(n)) return true;
      [[fallthrough]];
    case Opcode::ShiftLeft:
    case Opcode::ShiftRightArithmetic:
      needs_.add_roles(x[0], RoleBits);
      return need_.low.because == Because::Overflow && need_.high.because == Because::Overflow;
    case Opcode::RngBitGenerator: needs_.add_roles(x[0], RoleBits); return true;
    case Opcode::BitcastConvert: {
      const double most = finite_values(type(n)).high;
      if (!hlo::is_float(type(n)) || !hlo::is_integer(type(x[0])) ||
          hlo::bit_width(type(x[0])) != hlo::bit_width(type(n)))
        return !hlo::is_float(type(n));
      const hlo::FloatFormat format = *hlo::float_format(type(n));
      needs_.at_least(x[0], 0, {n, Because::Domain});  // the numbers that are not negative
      needs_.at_most(x[0], static_cast<double>(hlo::encode_float(format, most)), {n, Because::Domain});
      return true;
    }
    default: return function_of_one(n);
  }
}

bool Demand::function_of_one(Node n) {
  const auto x = operands(n);
  const Opcode opcode = node(n).instruction->opcode;
  const Need need = need_of_result(n);
  const Interval& values = need.values;
  if (opcode == Opcode::Negate) {
    needs_.at_least(x[0], -values.high, need.high);
    needs_.at_most(x[0], -values.low, need.low);
    needs_.away_from_zero(x[0], values.away, need.away);
    return true;
  }
  if (opcode == Opcode::Abs || opcode == Opcode::Cosh) {
    const bool is_cosh = opcode == Opcode::Cosh;
    const double most = is_cosh ? std::acosh(std::max(1.0, values.high)) : values.high;
    needs_.at_least(x[0], -most, need.high);
    needs_.at_most(x[0], most, need.high);
    const double least = is_cosh ? std::acosh(std::max(1.0, values.low)) : std::max(values.low, values.away);
    needs_.away_from_zero(x[0], least, values.low > values.away ? need.low : need.away);
    return true;
  }
  for (const Inverse& it : inverses) {
    if (it.opcode != opcode) continue;
    // Where the result must not be zero, rounding should not make it that: 1 and what is next to it under a logarithm.
    const auto bound_for = [&](double value) {
      const double zero = it.inverse(0);
      const double bound = it.inverse(value);
      const double unit = 4 * epsilon(type(x[0])) * std::fabs(zero);
      if (value == 0 || !std::isfinite(unit) || std::fabs(bound - zero) >= unit) return bound;
      return (value > 0) != it.falls ? zero + unit : zero - unit;
    };
    if (values.low > it.least) {
      const double bound = bound_for(std::min(values.low, it.most));
      it.falls ? needs_.at_most(x[0], bound, need.low) : needs_.at_least(x[0], bound, need.low);
    }
    if (values.high < it.most) {
      const double bound = bound_for(std::max(values.high, it.least));
      it.falls ? needs_.at_least(x[0], bound, need.high) : needs_.at_most(x[0], bound, need.high);
    }
    if (values.away == 0) return true;
    if (it.is_odd) {
      needs_.away_from_zero(x[0], it.inverse(std::min(values.away, it.most)), need.away);
      return true;
    }
    if (opcode == Opcode::Sqrt || opcode == Opcode::Exponential) {
      needs_.at_least(x[0], it.inverse(values.away), need.away);
      return true;
    }
    if (!it.falls) return values.low > 0;
    needs_.at_most(x[0], bound_for(values.away), need.away);  // rsqrt, acos: not negative
    return true;
  }
  // Bounded whatever the operand is (sine, erf, atan2, ...), or not looked into.
  const std::vector<Interval> anything(x.size(), finite_values(type(n)));
  const auto bounds = x.empty() ? std::nullopt : elementwise_bounds(opcode, anything, type(n));
  return bounds && values.contains(*bounds);
}

bool Demand::add(Node n, bool subtract) {
  const auto x = operands(n);
  const Estimate& a = estimates_[x[0]];
  const Estimate b = subtract ? negative(estimates_[x[1]]) : estimates_[x[1]];
  const Need need = need_of_result(n);
  Interval values = need.values;
  Cause low_cause = need.low;
  Cause high_cause = need.high;
  needs_.add_roles(x[0], need.roles & (RoleHeavyDiagonal | RoleBits));
  needs_.add_roles(x[1], need.roles & (RoleHeavyDiagonal | RoleBits));
  // Away from zero on the side where the sum is expected to be.
  const Interval expected = sum(a.bounds, b.bounds);
  bool enough = true;
  const bool rises = values.low >= 0 || expected.low >= 0;
  const bool falls = values.high <= 0 || expected.high <= 0;
  if (values.away > 0 && rises && values.away > values.low) {
    values.low = values.away;
    low_cause = need.away;
  } else if (values.away > 0 && falls && -values.away < values.high) {
    values.high = -values.away;
    high_cause = need.away;
  } else if (values.away > std::max(values.low, -values.high)) {
    enough = false;  // random numbers do not cancel
  }
  // What remains of a constant is a unit of its last place or more.
  for (const auto& [fixed, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    if (fixed->adjustable || !other->adjustable) continue;
    const double unit = hlo::is_integer(type(n)) ? 1 : 4 * epsilon(type(n)) * fixed->bounds.largest();
    if (values.low > 0) values.low = std::max(values.low, unit);
    if (values.high < 0) values.high = std::min(values.high, -unit);
  }
  // What remains of operands that cancel is, too; not of such sizes that nothing is known of them.
  const auto rounding_unit = [&](const Share& share) {
    constexpr double largest_known = 100;
    const double largest = std::max(std::fabs(share.a), std::fabs(share.b));
    const bool applies = !hlo::is_integer(type(n)) && a.adjustable && b.adjustable && largest < largest_known;
    return applies ? 4 * epsilon(type(n)) * largest : 0;
  };
  if (values.low > 0) values.low = std::max(values.low, rounding_unit(share_of_sum(values.low, a, b)));
  if (values.high < 0)
    values.high = -std::max(-values.high, rounding_unit(share_of_sum(-values.high, negative(a), negative(b))));
  const bool below_maximum = subtract && is_maximum_over(module_, program_, x[1], x[0]);
  const Share low = share_of_sum(values.low, a, b);
  Share high = share_of_sum(-values.high, negative(a), negative(b));
  if (below_maximum && values.high >= 0) high = {-infinity, -infinity};
  needs_.at_least(x[0], low.a, low_cause);
  needs_.at_most(x[0], -high.a, high_cause);
  if (subtract) {
    needs_.at_most(x[1], -low.b, low_cause);
    needs_.at_least(x[1], high.b, high_cause);
  } else {
    needs_.at_least(x[1], low.b, low_cause);
    needs_.at_most(x[1], -high.b, high_cause);
  }
  return enough && low.is_proof && high.is_proof;
}

// x * x: not negative, whatever x is.
bool Demand::square(Node n) {
  const Node x = operands(n)[0];
  const Need need = need_of_result(n);
  const double most = std::sqrt(std::max(need.values.high, 0.0));
  needs_.at_least(x, -most, need.high);
  needs_.at_most(x, most, need.high);
  const double least = std::max(need.values.low, need.values.away);
  if (least > 0) needs_.away_from_zero(x, std::sqrt(least), need.values.low > need.values.away ? need.low : need.away);
  return need.values.high >= 0;
}

bool Demand::divide(Node n) {
  const auto x = operands(n);
  const Estimate& a = estimates_[x[0]];
  const Estimate& b = estimates_[x[1]];
  if (hlo::is_integer(type(n))) {
    within(x[0], need_.values.largest(), need_);
    return need_.low.because == Because::Overflow;
  }
  const Need need = need_of_result(n);
  const Interval expected = quotient(a.bounds, b.bounds);
  const bool must_rise = need.values.low >= 0 && need.low.because != Because::Overflow;
  const bool must_fall = need.values.high <= 0 && need.high.because != Because::Overflow;
  bool enough = true;
  double limit = std::min(-need.values.low, need.values.high);
  if (must_rise || (!must_fall && expected.low >= 0)) {
    enough &= give_sign(x[0], x[1], true, must_rise ? need.low : Cause{n, Because::Overflow});
    limit = need.values.high;
  } else if (must_fall || expected.high <= 0) {
    enough &= give_sign(x[0], x[1], false, must_fall ? need.high : Cause{n, Because::Overflow});
    limit = -need.values.low;
  }
  const Share share = share_of_quotient(std::max(limit, 0.0), a, b);
  within(x[0], share.a, need);
  needs_.away_from_zero(x[1], share.b, need.high);
  needs_.add_roles(x[0], need.roles & RoleHeavyDiagonal);
  const double least = std::max({need.values.low, -need.values.high, need.values.away});
  if (least > 0 && a.adjustable)
    needs_.away_from_zero(x[0], least * b.working().largest(), need.away.node == no_node ? need.low : need.away);
  return enough && share.is_proof && least <= 0;
}

bool Demand::power(Node n) {
  const auto x = operands(n);
  const Estimate& base = estimates_[x[0]];
  const Estimate& exponent = estimates_[x[1]];
  if (hlo::is_integer(type(n))) return true;  // wraps on purpose
  const Need need = need_of_result(n);
  const double most = std::log(std::max(need.values.high, 1.0));
  if (!exponent.adjustable && exponent.bounds.low == exponent.bounds.high && exponent.bounds.low != 0) {
    const double e = exponent.bounds.low;
    const double bound = std::exp(most / std::fabs(e));
    if (e > 0) within(x[0], bound, need);
    if (e < 0) needs_.away_from_zero(x[0], 1 / bound, need.high);
    const double least = std::max(need.values.low, need.values.away);
    if (least > 0 && e > 0) needs_.away_from_zero(x[0], std::pow(least, 1 / e), need.low);
    if (need.values.low >= 0 && need.low.because != Because::Overflow && is_whole(exponent.bounds) &&
        std::fmod(e, 2) != 0)
      needs_.at_least(x[0], 0, need.low);
    return true;
  }
  // |exponent * log(base)| <= most; a result that must not vanish bounds it on the other side in the same way.
  if (!base.adjustable) {
    const double log_low = std::log(std::max(base.bounds.smallest(), 1e-300));
    const double log_high = std::log(std::max(base.bounds.largest(), 1e-300));
    const double log_most = std::log(need.values.high);
    if (log_low > 0) needs_.at_most(x[1], log_most / log_high, need.high);
    if (log_high < 0) needs_.at_least(x[1], log_most / log_low, need.high);
    if (need.values.low > 0 && log_high < 0) needs_.at_most(x[1], std::log(need.values.low) / log_low, need.low);
    return (log_low > 0 || log_high < 0) && base.bounds.low > 0;
  }
  Estimate logarithm;
  logarithm.bounds = {std::log(std::max(base.bounds.smallest(), 1e-3)),
                      std::log(std::max(base.working().largest(), 2.0))};
  logarithm.size = logarithm.bounds.largest();
  logarithm.adjustable = true;
  const Share share = share_of_product(most, 1, logarithm, exponent);
  within(x[1], share.b, need);
  needs_.at_least(x[0], std::exp(-share.a), need.high);
  needs_.at_most(x[0], std::exp(share.a), need.high);
  return true;
}

// Both below what the result must be below; the one that is expected to be larger above what it must be above.
bool Demand::maximum(Node n, bool minimum) {
  const auto x = operands(n);
  const Need need = need_;
  const Interval& values = need.values;
  const double sign = minimum ? -1 : 1;
  const auto low_of = [&](Node operand) {
    const Interval& bounds = estimates_[operand].bounds;
    return minimum ? -bounds.high : bounds.low;
  };
  const double low = minimum ? -values.high : values.low;
  const auto bound_below = [&](Node operand) {
    sign > 0 ? needs_.at_least(operand, values.low, need.low) : needs_.at_most(operand, values.high, need.high);
  };
  for (const Node operand : x) {
    sign > 0 ? needs_.at_most(operand, values.high, need.high) : needs_.at_least(operand, values.low, need.low);
    needs_.away_from_zero(operand, values.away, need.away);
  }
  for (const Node operand : x)
    if (!estimates_[operand].adjustable && low_of(operand) >= low) return true;
  const Node larger = low_of(x[0]) >= low_of(x[1]) ? x[0] : x[1];
  bound_below(estimates_[larger].adjustable ? larger : larger == x[0] ? x[1] : x[0]);
  return true;
}

// A clamp whose own bounds are fine needs nothing of what it clamps.
bool Demand::clamp(Node n) {
  const auto x = operands(n);
  const Need need = need_;
  const Interval& low = estimates_[x[0]].bounds;
  const Interval& high = estimates_[x[2]].bounds;
  const bool fixed = !estimates_[x[0]].adjustable && !estimates_[x[2]].adjustable;
  if (fixed && need.values.contains({low.low, high.high})) return true;
  for (const Node operand : x) needs_.as(operand, need.values, need);
  return !fixed || need.values.contains({low.low, std::min(high.high, need.values.high)});
}

bool Demand::select(Node n) {
  const auto x = operands(n);
  const Need need = need_;
  // select(i < 0, i + n, i), as indices from the end are written: i itself is as needed, so it is not negative.
  const auto is_negative_test = [&](Node value) {
    const FlatNode& test = node(behind_moves(program_, x[0]));
    if (test.step != Step::Operation || test.instruction->opcode != Opcode::Compare) return false;
    const auto compared = program_.operands_of(test);
    const Estimate& with = estimates_[compared[1]];
    return test.instruction->attributes().comparison_direction() == "LT" && !with.adjustable && with.bounds.low == 0 &&
           with.bounds.high == 0 && behind_moves(program_, compared[0]) == behind_moves(program_, value);
  };
  if (need.values.low >= 0 && is_negative_test(x[2])) return move(x.subspan(2, 1));
  // Fills and masks that are not finite, or outside, are the program's own business.
  bool enough = true;
  for (const Node operand : x.subspan(1))
    if (estimates_[operand].adjustable) enough &= move(std::span(&operand, 1));
  return enough;
}

}  // namespace sapper::inputs
