// How much memory there is, and what becomes of it.
#pragma once

#include <cstdint>

namespace sapper {

// The memory of this machine, or of the container when that is less.
[[nodiscard]] int64_t physical_memory_bytes();

// From now on the process keeps up to 256 MiB that it freed (by glibc's rules: of pieces up to 32 MiB, and less in the
// arenas of other threads): arrays of the next evaluation lie in pages that have been touched.
void keep_freed_memory();

}  // namespace sapper
