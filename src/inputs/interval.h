// Interval: what the elements of a value are, or should be: between two bounds, and perhaps away from zero.
#pragma once

#include <limits>

#include "hlo/element_type.h"

namespace sapper::inputs {

// Bounds of 64-bit integers are exact up to 2^53; beyond it they are rounded. Complex values: of each component.
struct Interval {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  double away = 0;  // no element's magnitude is less; 0: zero is among them

  [[nodiscard]] bool is_empty() const { return !(low <= high) || (high < away && low > -away); }
  [[nodiscard]] bool contains(double value) const;
  [[nodiscard]] bool contains(const Interval& other) const;
  // The largest and the smallest magnitude.
  [[nodiscard]] double largest() const;
  [[nodiscard]] double smallest() const;
  bool operator==(const Interval&) const = default;
};

[[nodiscard]] Interval intersection(const Interval& a, const Interval& b);
[[nodiscard]] Interval hull(const Interval& a, const Interval& b);

// Interval arithmetic on the bounds, without regard to a type's limits. Division by an interval that holds zero is
// bounded by the least magnitude of the divisor; where that is zero too, by nothing.
[[nodiscard]] Interval sum(const Interval& a, const Interval& b);
[[nodiscard]] Interval negated(const Interval& a);
[[nodiscard]] Interval product(const Interval& a, const Interval& b);
[[nodiscard]] Interval quotient(const Interval& a, const Interval& b);
[[nodiscard]] Interval magnitude(const Interval& a);
// `a` times any number of [0, factor], factor >= 1, such as a sum of up to that many terms.
[[nodiscard]] Interval scaled(const Interval& a, double factor);

// All finite values of an array type; pred: 0 and 1.
[[nodiscard]] Interval finite_values(hlo::ElementType type);
// Least positive normal number, and the distance from 1 to the next number; of integers 1. Complex: of the components.
[[nodiscard]] double least_normal(hlo::ElementType type);
[[nodiscard]] double epsilon(hlo::ElementType type);

}  // namespace sapper::inputs
