#include "inputs/elementwise_bounds.h"

#include <algorithm>
#include <cmath>

namespace sapper::inputs {
namespace {

using hlo::Opcode;

constexpr double infinity = std::numeric_limits<double>::infinity();

// A function that nowhere falls (or nowhere rises), on its domain.
struct Monotone {
  Opcode opcode;
  double (*function)(double);
  double domain_low = -infinity, domain_high = infinity;
  bool falls = false;
};

double logistic(double x) { return 1 / (1 + std::exp(-x)); }
double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }
double identity(double x) { return x; }

const Monotone monotone_functions[] = {
    {Opcode::Acos, std::acos, -1, 1, true},
    {Opcode::Acosh, std::acosh, 1},
    {Opcode::Asin, std::asin, -1, 1},
    {Opcode::Asinh, std::asinh},
    {Opcode::Atanh, std::atanh, -1, 1},
    {Opcode::Cbrt, std::cbrt},
    {Opcode::Ceil, std::ceil},
    {Opcode::Convert, identity},
    {Opcode::Erf, std::erf},
    {Opcode::Exponential, std::exp},
    {Opcode::ExponentialMinusOne, std::expm1},
    {Opcode::Floor, std::floor},
    {Opcode::Log, std::log, 0},
    {Opcode::LogPlusOne, std::log1p, -1},
    {Opcode::Logistic, logistic},
    {Opcode::ReducePrecision, identity},
    {Opcode::RoundNearestAfz, std::round},
    {Opcode::RoundNearestEven, std::nearbyint},
    {Opcode::Sign, sign},
    {Opcode::Sinh, std::sinh},
    {Opcode::Sqrt, std::sqrt, 0},
    {Opcode::StochasticConvert, identity},
    {Opcode::Tanh, std::tanh},
};

// What is finite of the result: at the poles of logarithms the type's next number counts.
Interval apply(const Monotone& it, const Interval& x, hlo::ElementType type) {
  const bool has_pole = it.opcode == Opcode::Log || it.opcode == Opcode::LogPlusOne || it.opcode == Opcode::Atanh;
  const double step = !has_pole ? 0 : it.opcode == Opcode::Log ? least_normal(type) * epsilon(type) : epsilon(type) / 2;
  const double domain_low = it.domain_low + step;
  const double domain_high = it.domain_high - step;
  const double low = it.function(std::clamp(x.low, domain_low, domain_high));
  const double high = it.function(std::clamp(x.high, domain_low, domain_high));
  Interval result{it.falls ? high : low, it.falls ? low : high};
  // Odd functions keep zero; what is away from it stays so.
  if (x.away > 0 && x.low < 0 && it.domain_low < 0 && it.function(0) == 0) {
    const double positive = std::fabs(it.function(std::clamp(x.away, domain_low, domain_high)));
    const double negative = std::fabs(it.function(std::clamp(-x.away, domain_low, domain_high)));
    result.away = std::min(positive, negative);
  }
  return result;
}

Interval power(const Interval& base, const Interval& exponent) {
  if (exponent.low == exponent.high && exponent.low == std::nearbyint(exponent.low)) {
    const double n = exponent.low;
    const double smallest = std::pow(base.smallest(), n);
    const double largest = std::pow(base.largest(), n);
    const Interval magnitudes{std::min(smallest, largest), std::max(smallest, largest), std::min(smallest, largest)};
    if (base.low >= 0 || std::fmod(n, 2) == 0) return magnitudes;
    return base.high <= 0 ? negated(magnitudes) : Interval{-magnitudes.high, magnitudes.high, magnitudes.low};
  }
  if (base.low < 0) return {};
  const Interval logarithm{std::log(std::max(base.smallest(), 1e-300)), std::log(base.high)};
  const Interval bounds = product(logarithm, exponent);
  return {base.smallest() > 0 ? std::exp(bounds.low) : 0, std::exp(bounds.high)};
}

Interval maximum(const Interval& a, const Interval& b) {
  const double low = std::max(a.low, b.low);
  return {low, std::max(a.high, b.high), low > 0 ? low : std::min(a.smallest(), b.smallest())};
}

Interval minimum(const Interval& a, const Interval& b) { return negated(maximum(negated(a), negated(b))); }

}  // namespace

std::optional<Interval> elementwise_bounds(Opcode opcode, std::span<const Interval> x, hlo::ElementType type) {
  if (hlo::is_complex(type) && opcode != Opcode::Add && opcode != Opcode::Subtract && opcode != Opcode::Multiply &&
      opcode != Opcode::Negate && opcode != Opcode::Convert)
    return std::nullopt;
  for (const Monotone& it : monotone_functions)
    if (it.opcode == opcode) return apply(it, x[0], type);
  switch (opcode) {
    case Opcode::Abs: return magnitude(x[0]);
    case Opcode::Negate: return negated(x[0]);
    case Opcode::Add: return sum(x[0], x[1]);
    case Opcode::Subtract: return sum(x[0], negated(x[1]));
    case Opcode::Multiply: {
      const Interval bounds = product(x[0], x[1]);
      return hlo::is_complex(type) ? sum(bounds, product(x[0], x[1])) : bounds;
    }
    case Opcode::Divide: return quotient(x[0], x[1]);
    case Opcode::Rsqrt:
      return Interval{1 / std::sqrt(std::max(x[0].high, 0.0)), 1 / std::sqrt(std::max(x[0].low, 0.0))};
    case Opcode::Power: return power(x[0], x[1]);
    case Opcode::Remainder: {
      const double largest = std::min(x[0].largest(), x[1].largest());
      return Interval{x[0].low < 0 ? -largest : 0, x[0].high > 0 ? largest : 0};
    }
    case Opcode::Maximum: return maximum(x[0], x[1]);
    case Opcode::Minimum: return minimum(x[0], x[1]);
    case Opcode::Clamp: return minimum(maximum(x[1], x[0]), x[2]);
    case Opcode::Cosh: {
      const Interval m = magnitude(x[0]);
      return Interval{std::cosh(m.low), std::cosh(m.high)};
    }
    case Opcode::Sine:
    case Opcode::Cosine: return Interval{-1, 1};
    case Opcode::Tan: return Interval{-16 / epsilon(type), 16 / epsilon(type)};  // no number is closer to a pole
    case Opcode::Atan2: return Interval{-M_PI, M_PI};
    case Opcode::Compare:
    case Opcode::IsFinite: return Interval{0, 1};
    case Opcode::Select: return hull(x[1], x[2]);
    case Opcode::And:
      if (x[0].low >= 0 || x[1].low >= 0)
        return Interval{0, x[0].low < 0 ? x[1].high : x[1].low < 0 ? x[0].high : std::min(x[0].high, x[1].high)};
      return std::nullopt;
    case Opcode::Or:
      if (x[0].low < 0 || x[1].low < 0) return std::nullopt;
      return Interval{std::max(x[0].low, x[1].low), x[0].high + x[1].high};
    case Opcode::ShiftRightLogical: {
      const double bits = x[0].low < 0 ? std::exp2(hlo::bit_width(type)) - 1 : x[0].high;
      return Interval{0, std::floor(bits / std::exp2(std::clamp(x[1].low, 0.0, 64.0)))};
    }
    case Opcode::CountLeadingZeros:
    case Opcode::Popcnt: return Interval{0, static_cast<double>(hlo::bit_width(type))};
    default: return std::nullopt;
  }
}

bool may_leave_domain(Opcode opcode, std::span<const Interval> x, hlo::ElementType type) {
  if (!hlo::is_float(type)) return false;
  switch (opcode) {
    case Opcode::Log:
    case Opcode::Rsqrt: return x[0].low < 0 || x[0].smallest() == 0;
    case Opcode::Sqrt: return x[0].low < 0;
    case Opcode::LogPlusOne: return x[0].low <= -1;
    case Opcode::Acos:
    case Opcode::Asin: return x[0].low < -1 || x[0].high > 1;
    case Opcode::Acosh: return x[0].low < 1;
    case Opcode::Atanh: return x[0].low <= -1 || x[0].high >= 1;
    case Opcode::Divide:
    case Opcode::Remainder: return x[1].smallest() == 0;
    case Opcode::Power: {
      const bool whole = x[1].low == x[1].high && x[1].low == std::nearbyint(x[1].low);
      return (x[0].low < 0 && !whole) || (x[0].smallest() == 0 && x[1].low < 0);
    }
    default: return false;
  }
}

}  // namespace sapper::inputs
