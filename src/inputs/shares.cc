#include "inputs/shares.h"

#include <algorithm>
#include <cmath>

namespace sapper::inputs {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double tiny = 1e-300;

double largest(const Estimate& x) { return std::max(x.working().largest(), tiny); }

// The least magnitude that elements of either sign are expected to have, where nothing says one.
double smallest(const Estimate& x) {
  const double known = x.bounds.smallest();
  return std::max(known > 0 ? known : x.size / 256, tiny);
}

// What a is left with when b is not ours to bound: all that b may be, where there is room for it.
Share beside_fixed(double low, const Estimate& a, const Estimate& b) {
  const double hard = low - b.bounds.low;
  const double expected = low - b.working().low;
  if (hard <= a.working().low || expected >= hard) return {hard, -infinity};
  return {std::max(expected, a.working().low), -infinity, false};
}

}  // namespace

Share share_of_sum(double low, const Estimate& a, const Estimate& b) {
  if (!b.adjustable) return beside_fixed(low, a, b);
  if (!a.adjustable) {
    const Share share = beside_fixed(low, b, a);
    return {share.b, share.a, share.is_proof};
  }
  double of_a = a.working().low;
  double of_b = b.working().low;
  double missing = low - (of_a + of_b);
  if (missing > 0) {  // the lower one first
    double& lower = of_a < of_b ? of_a : of_b;
    const double raise = std::min(missing, std::fabs(of_a - of_b));
    lower += raise;
    missing -= raise;
  }
  of_a += missing / 2;
  of_b += missing / 2;
  const double lost = std::max(0.0, low - (of_a + of_b));  // to rounding: a small bound beside large operands
  return {of_a + lost / 2, of_b + lost / 2};
}

Share share_of_product(double limit, double terms, const Estimate& a, const Estimate& b) {
  const double hard_a = a.adjustable ? largest(a) : std::max(a.bounds.largest(), tiny);
  const double hard_b = b.adjustable ? largest(b) : std::max(b.bounds.largest(), tiny);
  const double of_limit = std::log2(std::max(limit, tiny));
  double room = of_limit - std::log2(terms) - std::log2(hard_a) - std::log2(hard_b);
  bool is_proof = true;
  if (room < 0) {  // not for the worst case, then
    const double typical_terms = std::min(terms, 8 * std::sqrt(terms));
    const double expected = of_limit - std::log2(typical_terms) - std::log2(largest(a)) - std::log2(largest(b));
    is_proof = std::min(0.0, expected) <= room;
    room = std::max(room, std::min(0.0, expected));
  }
  if (!a.adjustable) return {infinity, largest(b) * std::exp2(room), is_proof};
  if (!b.adjustable) return {largest(a) * std::exp2(room), infinity, is_proof};
  return {largest(a) * std::exp2(room / 2), largest(b) * std::exp2(room / 2), is_proof};
}

Share share_of_least(double least, const Estimate& a, const Estimate& b) {
  if (!a.adjustable) return {0, least / std::max(a.bounds.smallest(), tiny), a.bounds.smallest() > 0};
  if (!b.adjustable) return {least / std::max(b.bounds.smallest(), tiny), 0, b.bounds.smallest() > 0};
  const double room = std::log2(smallest(a)) + std::log2(smallest(b)) - std::log2(least);
  return {smallest(a) * std::exp2(-room / 2), smallest(b) * std::exp2(-room / 2)};
}

Share share_of_quotient(double limit, const Estimate& a, const Estimate& b) {
  if (!a.adjustable) return {infinity, a.bounds.largest() / std::max(limit, tiny)};
  if (!b.adjustable) return {limit * b.bounds.smallest(), 0, b.bounds.smallest() > 0};
  const double room = std::log2(std::max(limit, tiny)) - std::log2(largest(a)) + std::log2(smallest(b));
  return {largest(a) * std::exp2(room / 2), smallest(b) * std::exp2(-room / 2)};
}

}  // namespace sapper::inputs
