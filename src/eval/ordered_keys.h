// Integers in the order of values: what sort and top-k compare instead of the values where they can.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hlo/element_type.h"

namespace sapper::eval {

enum class FloatOrder : uint8_t {
  Total,  // -NaN < -inf < ... < -0 < +0 < ... < inf < NaN
  Plain,  // -0 and +0 are equal, NaN has no place
};

// keys[i] for n lanes of `type` (real): smaller for smaller values, or for larger ones when `descending`. False when a
// NaN has no place in the order; then the keys mean nothing.
[[nodiscard]] bool make_ordered_keys(hlo::ElementType type, FloatOrder order, bool descending, size_t n,
                                     const void* lanes, uint64_t* keys);

}  // namespace sapper::eval
