// Registers for tests, drawn from a seed.
#pragma once

#include <bit>
#include <cstdint>
#include <random>

#include "llo/vreg.h"

namespace sapper::llo::testing {

// Words of which arithmetic has much to say: small integers, floats near and far, subnormals, infinities, NaN.
inline uint32_t telling_word(std::mt19937& random) {
  const auto any = static_cast<uint32_t>(random());
  switch (random() % 8) {
    case 0: return any % 64;
    case 1: return 0 - any % 64;
    case 2: return std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(any)) * 0x1p-28F);
    case 3: return std::bit_cast<uint32_t>(static_cast<float>(any % 1024) * 0.25F);
    case 4: return any & 0x807fffff;
    case 5: return any | 0x7f800000;
    case 6: return (any & 0x807f0000) | 0x3f800000;
    default: return any;
  }
}

inline Vreg telling_vreg(std::mt19937& random) {
  Vreg result;
  for (uint32_t& word : result.word) word = telling_word(random);
  return result;
}

inline Vreg any_vreg(std::mt19937& random) {
  Vreg result;
  for (uint32_t& word : result.word) word = static_cast<uint32_t>(random());
  return result;
}

inline Vreg any_mask(std::mt19937& random) {
  Vreg result;
  for (uint32_t& word : result.word) word = random() % 2 != 0 ? ~uint32_t{0} : 0;
  return result;
}

}  // namespace sapper::llo::testing
