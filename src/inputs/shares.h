// How a bound on a result is shared between the operands that make it: each gives or gets an equal part of the room
// between what the result may be and what it is expected to be. Sums share differences, products share quotients.
#pragma once

#include "inputs/estimate.h"

namespace sapper::inputs {

struct Share {
  double a = 0, b = 0;   // bounds of the operands
  bool is_proof = true;  // false: only for values of expected sizes is the result as it should be
};

// Least values of a and b for a + b >= low. An operand that does not depend on parameters takes no part.
[[nodiscard]] Share share_of_sum(double low, const Estimate& a, const Estimate& b);
// Largest magnitudes of a and b for a sum of `terms` products a * b within `limit`.
[[nodiscard]] Share share_of_product(double limit, double terms, const Estimate& a, const Estimate& b);
// Least magnitudes of a and b for |a * b| >= least > 0.
[[nodiscard]] Share share_of_least(double least, const Estimate& a, const Estimate& b);
// The largest magnitude of a and the least of b for |a / b| <= limit.
[[nodiscard]] Share share_of_quotient(double limit, const Estimate& a, const Estimate& b);

}  // namespace sapper::inputs
