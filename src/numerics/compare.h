// Comparison of a value with its reference: the one place that says what counts as equal (docs/comparison.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hlo/literal.h"

namespace sapper::numerics {

// An element agrees when |got - expected| <= absolute + relative * |expected|, or the distance is at most `ulps` units
// in the last place of the element type. NaN agrees with NaN, infinities with the same infinity, -0 with +0; integers
// and preds must be equal unless `absolute` says otherwise. Complex: each component, relative to the element's modulus.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
  double ulps = 0;
};

struct Difference {
  int64_t elements = 0;
  int64_t mismatches = 0;
  int64_t worst = -1;  // row-major position of the worst mismatch; -1: none
  std::vector<int64_t> worst_index;
  double got = 0, expected = 0;                             // at `worst` (complex: the component that is worse)
  std::string got_text, expected_text;                      // the whole element as HLO text
  double max_absolute = 0, max_relative = 0, max_ulps = 0;  // over all finite pairs, mismatching or not
  std::vector<int64_t> box_low, box_high;                   // bounding box of the mismatches, inclusive
};

// Arrays of the same dimensions and type. Linear; parallel over large arrays.
[[nodiscard]] Difference compare(const hlo::Literal& got, const hlo::Literal& expected, const Tolerance& tolerance);

// Distance of two finite values of a float type in units in the last place.
[[nodiscard]] double ulp_distance(hlo::ElementType type, double a, double b);

}  // namespace sapper::numerics
