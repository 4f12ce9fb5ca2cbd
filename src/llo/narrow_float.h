// Float formats of 8 and 16 bits, to and from f32, by integer arithmetic only: nothing here depends on how the host
// treats subnormals, and compilers vectorize it.
#pragma once

#include <bit>
#include <cstdint>

namespace sapper::llo {

enum class Specials : uint8_t {
  Ieee,  // infinities and NaN at the largest exponent
  Fn,    // no infinity, one NaN: all ones
  Fnuz,  // no infinity, one NaN: what would be -0
};
enum class Overflow : uint8_t {
  Special,   // to infinity, or NaN where there is none
  Saturate,  // to the largest number; infinities too
};

template <int exponent_bits, int mantissa_bits, int bias, Specials specials>
struct NarrowFloat {
  static constexpr int width = 1 + exponent_bits + mantissa_bits;
  static constexpr uint32_t sign = 1U << (width - 1);
  static constexpr uint32_t all = sign - 1;
  static constexpr uint32_t infinity = ((1U << exponent_bits) - 1) << mantissa_bits;
  static constexpr uint32_t nan = specials == Specials::Ieee ? infinity | 1U << (mantissa_bits - 1)
                                  : specials == Specials::Fn ? all
                                                             : sign;
  static constexpr uint32_t largest = specials == Specials::Ieee ? infinity - 1
                                      : specials == Specials::Fn ? all - 1
                                                                 : all;
  static constexpr int drop = 23 - mantissa_bits;  // bits of an f32's mantissa that the format lacks
  static constexpr uint32_t rebias = 127 - bias;

  // To nearest even.
  template <Overflow overflow>
  [[gnu::always_inline]] static uint32_t encode(uint32_t f32) {
    const uint32_t magnitude = f32 & 0x7fffffff;
    // The significand, and how many of its bits are below the last place: more for subnormals of the format.
    const uint32_t exponent = magnitude >> 23;
    const uint32_t significand = exponent == 0 ? magnitude & 0x7fffff : (magnitude & 0x7fffff) | 0x800000;
    const bool normal = exponent > rebias;
    const uint32_t below = drop + (normal ? 0 : rebias + 1 - (exponent == 0 ? 1 : exponent));
    const uint32_t n = below > 26 ? 26 : below;
    const uint32_t rounded = (significand + (1U << (n - 1)) - 1 + (significand >> n & 1)) >> n;
    // A normal significand carries its implicit one: the exponent field is one less before it.
    const uint32_t bits = normal ? rounded + ((exponent - rebias - 1) << mantissa_bits) : rounded;
    constexpr uint32_t beyond = overflow == Overflow::Saturate ? largest : specials == Specials::Ieee ? infinity : nan;
    const bool over = (bits > largest) | (exponent == 255);
    const uint32_t number = over ? beyond : bits;
    const bool is_nan = magnitude > 0x7f800000;
    const uint32_t result = is_nan ? nan : number;
    const bool signless = specials == Specials::Fnuz ? (result == 0) | (result == sign) : false;
    return result | (signless ? 0 : f32 >> (32 - width) & sign);
  }

  [[gnu::always_inline]] static uint32_t decode(uint32_t bits) {
    const uint32_t magnitude = bits & all;
    const uint32_t f32_sign = (bits & sign) << (32 - width);
    const uint32_t normal = (magnitude << drop) + (rebias << 23);
    // A subnormal is an integer times the last place: exact in f32, and normal there.
    const uint32_t subnormal = magnitude == 0
                                   ? 0
                                   : std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(magnitude))) +
                                         ((rebias + 1 - 127 - mantissa_bits) << 23);
    uint32_t result = magnitude >> mantissa_bits == 0 ? subnormal : normal;
    if constexpr (specials == Specials::Ieee) result = magnitude >= infinity ? 0x7f800000 | magnitude << drop : result;
    if constexpr (specials == Specials::Fn) result = magnitude == all ? 0x7fc00000 : result;
    if constexpr (specials == Specials::Fnuz) {
      if (bits == sign) return 0x7fc00000;
    }
    return result | f32_sign;
  }
};

using Float16 = NarrowFloat<5, 10, 15, Specials::Ieee>;
using FloatE5M2 = NarrowFloat<5, 2, 15, Specials::Ieee>;
using FloatE4M3 = NarrowFloat<4, 3, 7, Specials::Fn>;
using FloatE4M3B11 = NarrowFloat<4, 3, 11, Specials::Fnuz>;

}  // namespace sapper::llo
