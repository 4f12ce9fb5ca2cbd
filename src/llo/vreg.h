// A vector register: 8 sublanes of 128 lanes of 32 bits. Masks have the same form, all ones where set, so that a mask
// of packed 16-bit or 8-bit lanes is nothing special.
#pragma once

#include <cstdint>

namespace sapper::llo {

constexpr int kSublanes = 8;
constexpr int kLanes = 128;
constexpr int kVregWords = kSublanes * kLanes;

struct alignas(64) Vreg {
  uint32_t word[kVregWords];  // [sublane * 128 + lane]
  bool operator==(const Vreg&) const = default;
};

}  // namespace sapper::llo
