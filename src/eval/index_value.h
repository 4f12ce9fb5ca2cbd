// An element of an integer or pred array as an index.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hlo/element_type.h"

namespace sapper::eval {

// Element `i` of an array of `type`; values of u64 above the highest int64_t become that.
[[nodiscard]] int64_t index_value(const std::byte* array, hlo::ElementType type, int64_t i);

}  // namespace sapper::eval
