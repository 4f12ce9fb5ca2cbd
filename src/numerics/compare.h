// Comparison of a value with its reference, element by element: the one place that says what counts as equal
// (docs/verdicts.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hlo/literal.h"

namespace sapper::numerics {

// An element agrees when one of these holds:
//   |got - expected| <= absolute + relative * |expected| + scaled * (largest finite |expected| of the whole array)
//   got and expected are at most `ulps` units in the last place of the element type apart
//   both are NaN; both are the same infinity; both are zero (of either sign)
// Integers and preds agree when equal, or within `absolute`. Complex: each component, relative to the element's
// modulus.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
  double scaled = 0;
  double ulps = 0;
};

struct Difference {
  int64_t elements = 0;
  int64_t mismatches = 0;
  int64_t flushed = 0;    // of the mismatches: expected is subnormal in its type and got is zero
  int64_t lost_nans = 0;  // of the mismatches: expected is NaN and got is not
  int64_t worst = -1;     // row-major position of the worst mismatch; -1: none
  std::vector<int64_t> worst_index;
  std::string got, expected;                                      // the worst element's two values as HLO text
  double worst_absolute = 0, worst_relative = 0, worst_ulps = 0;  // infinite where a non-finite value is on one side
  double max_absolute = 0, max_relative = 0;                      // over all pairs of finite values, mismatching or not
  // With bounds: elements that differ within a bound that says nothing (is over 16 times both the element's
  // magnitude and the root mean square of the array's finite ones), neither agreeing nor
  // mismatching; and the largest |got - expected| / bound of the others that differ (infinite where a bound is 0; above
  // 1: a mismatch).
  int64_t undetermined = 0;
  double max_excess = 0;
  std::vector<int64_t> box_low, box_high;  // bounding box of the mismatches, inclusive
};

// Arrays of the same dimensions and element type (asserted). Linear, in parallel for large arrays; the result does not
// depend on the number of threads.
[[nodiscard]] Difference compare(const hlo::Literal& got, const hlo::Literal& expected, const Tolerance& tolerance);

// The same with a bound for each element on how far it may be from its expected value, of the dimensions of both:
// `deviation` as bounds/bounded.h gives it. An infinite value is as far from a finite one as the largest finite number
// is, once the bound is not 0.
[[nodiscard]] Difference compare_within(const hlo::Literal& got, const hlo::Literal& expected,
                                        const hlo::Literal& deviation);

// An element of a leaf of a value.
struct Element {
  size_t leaf = 0;
  int64_t index = 0;  // row-major
};
// What counts as the same: bits (any NaN being as good as another); also zeros of either sign; also a zero and a
// subnormal that may be flushed to it (contract.h).
enum class Alike { Bits, Zeros, FlushedSubnormals };
// The first element that differs; nullopt: none. Both values have one shape.
[[nodiscard]] std::optional<Element> first_different_bits(const hlo::Literal& a, const hlo::Literal& b,
                                                          Alike alike = Alike::Bits);
[[nodiscard]] inline bool same_bits(const hlo::Literal& a, const hlo::Literal& b, Alike alike = Alike::Bits) {
  return !first_different_bits(a, b, alike).has_value();
}

// Distance of two finite values in units in the last place of a float type: 2^(max exponent - mantissa bits).
[[nodiscard]] double ulp_distance(hlo::ElementType type, double a, double b);

// Machine epsilon: the spacing just above 1. 0 for types that are not floating point.
[[nodiscard]] double epsilon(hlo::ElementType type);

}  // namespace sapper::numerics
