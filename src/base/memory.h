// How much memory there is.
#pragma once

#include <cstdint>

namespace sapper {

// The memory of this machine, or of the container when that is less.
[[nodiscard]] int64_t physical_memory_bytes();

}  // namespace sapper
