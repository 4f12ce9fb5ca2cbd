// What bits an element of an HLO array is in a lane of an x86 register, and when two values are taken for the same.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "hlo/literal.h"
#include "inspect/native_sites.h"

namespace sapper::inspect {

// Types whose elements are looked for in registers: not complex ones, nor those narrower than a byte.
[[nodiscard]] bool is_native_type(hlo::ElementType type);

// The element's bits, of its type, where the lane can hold one: narrow floats are kept as themselves or as f32,
// integers extended, preds as one bit or as all. nullopt: it holds none.
[[nodiscard]] std::optional<uint64_t> bits_in_lane(hlo::ElementType type, const Lane& lane);

// Element i as bits of its type.
[[nodiscard]] uint64_t element_bits(const hlo::Literal& array, int64_t i);
void set_element_bits(hlo::Literal& array, int64_t i, uint64_t bits);

// How far apart values may be that are taken for the same: of functions that are computed by an approximation, and of
// sums in another order.
struct Nearness {
  double relative = 0;        // of the largest number that went into the value
  std::vector<double> scale;  // that number, of each element; empty: the value itself
  double floor = 0;           // what it is at least

  [[nodiscard]] double absolute(int64_t element) const {
    return relative == 0 ? 0 : relative * std::max(floor, scale.empty() ? 0 : scale[static_cast<size_t>(element)]);
  }
};

[[nodiscard]] bool same_value(hlo::ElementType type, uint64_t a, uint64_t b, const Nearness& nearness, int64_t element);
[[nodiscard]] bool is_finite(hlo::ElementType type, uint64_t bits);
// The value as a number.
[[nodiscard]] double number_of(hlo::ElementType type, uint64_t bits);

}  // namespace sapper::inspect
