// bf16 numbers as the upper halves of f32 numbers.
#pragma once

#include <bit>
#include <cstdint>

namespace sapper::llo {

[[gnu::always_inline]] inline float from_bfloat16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

// To nearest even. Subnormals are numbers like others; a NaN keeps its upper half (v4 packs bytes by way of bf16), or
// where that would be an infinity, gets its quiet bit.
[[gnu::always_inline]] inline uint16_t to_bfloat16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  const uint32_t upper = bits >> 16;
  const uint32_t quiet = (upper & 0x7f) == 0 ? 0x40 : 0;
  const bool nan = (bits & 0x7fffffff) > 0x7f800000;
  return static_cast<uint16_t>(nan ? upper | quiet : rounded);
}

}  // namespace sapper::llo
