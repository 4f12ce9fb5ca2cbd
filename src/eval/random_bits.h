// The counter-based generators of rng-bit-generator: a block of pseudo-random words is a pure function of key and
// counter. Salmon, Moraes, Dror, Shaw: Parallel random numbers: as easy as 1, 2, 3 (SC 2011).
#pragma once

#include <array>
#include <cstdint>

namespace sapper::eval {

// Threefry-2x32 with 20 rounds. The low word of key and counter comes first.
[[nodiscard]] std::array<uint32_t, 2> threefry(uint64_t key, uint64_t counter);

// Philox-4x32 with 10 rounds. `counter` has 128 bits, the low half first.
[[nodiscard]] std::array<uint32_t, 4> philox(uint64_t key, std::array<uint64_t, 2> counter);

}  // namespace sapper::eval
