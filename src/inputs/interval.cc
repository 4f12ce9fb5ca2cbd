#include "inputs/interval.h"

#include <algorithm>
#include <cmath>

namespace sapper::inputs {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// 0 times anything is 0 here: the bounds of what was computed from finite values.
double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

hlo::FloatFormat format_of(hlo::ElementType type) {
  return *hlo::float_format(hlo::is_complex(type) ? hlo::component_type(type) : type);
}

}  // namespace

bool Interval::contains(double value) const { return low <= value && value <= high && std::fabs(value) >= away; }

bool Interval::contains(const Interval& other) const {
  return low <= other.low && other.high <= high && (away == 0 || other.smallest() >= away);
}

double Interval::largest() const { return std::max(std::fabs(low), std::fabs(high)); }

double Interval::smallest() const {
  const double to_bounds = low > 0 ? low : high < 0 ? -high : 0;
  return std::max(away, to_bounds);
}

Interval intersection(const Interval& a, const Interval& b) {
  return {std::max(a.low, b.low), std::min(a.high, b.high), std::max(a.away, b.away)};
}

Interval hull(const Interval& a, const Interval& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high), std::min(a.smallest(), b.smallest())};
}

Interval sum(const Interval& a, const Interval& b) { return {a.low + b.low, a.high + b.high}; }

Interval negated(const Interval& a) { return {-a.high, -a.low, a.away}; }

Interval product(const Interval& a, const Interval& b) {
  const double corners[4] = {times(a.low, b.low), times(a.low, b.high), times(a.high, b.low), times(a.high, b.high)};
  return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4),
          times(a.smallest(), b.smallest())};
}

Interval quotient(const Interval& a, const Interval& b) {
  const double nearest = b.smallest();
  if (nearest == 0) {
    if (b.low >= 0 && a.low >= 0) return {0, infinity};
    return {};
  }
  const double farthest = b.largest();
  if (b.low > 0) return product(a, {1 / farthest, 1 / nearest});
  if (b.high < 0) return product(a, {-1 / nearest, -1 / farthest});
  return product(a, {-1 / nearest, 1 / nearest, 1 / farthest});
}

Interval magnitude(const Interval& a) { return {a.smallest(), a.largest(), a.smallest()}; }

Interval scaled(const Interval& a, double factor) {
  return {a.low < 0 ? times(a.low, factor) : a.low, a.high > 0 ? times(a.high, factor) : a.high,
          a.low >= 0 || a.high <= 0 ? a.smallest() : 0};
}

Interval finite_values(hlo::ElementType type) {
  switch (hlo::element_class(type)) {
    case hlo::ElementClass::Pred: return {0, 1};
    case hlo::ElementClass::Signed: {
      const double bound = std::ldexp(1.0, hlo::bit_width(type) - 1);
      return {-bound, bound - 1};
    }
    case hlo::ElementClass::Unsigned: return {0, std::ldexp(1.0, hlo::bit_width(type)) - 1};
    case hlo::ElementClass::Float:
    case hlo::ElementClass::Complex: {
      const hlo::FloatFormat format = format_of(type);
      const double largest = largest_finite(format);
      return {format.has_sign ? -largest : least_normal(type), largest};
    }
    case hlo::ElementClass::None: break;
  }
  return {};
}

double least_normal(hlo::ElementType type) {
  if (!hlo::is_float(type) && !hlo::is_complex(type)) return 1;
  return hlo::least_normal(format_of(type));
}

double epsilon(hlo::ElementType type) {
  if (!hlo::is_float(type) && !hlo::is_complex(type)) return 1;
  return std::ldexp(1.0, -format_of(type).mantissa_bits);
}

}  // namespace sapper::inputs
