// Types narrower than their lane: how lanes of float and int8_t are loaded from, stored as, and made values of them.
#pragma once

#include <cmath>

#include "eval/lane.h"

namespace sapper::eval {

// A float format of at most 16 bits as compile-time constants (hlo::FloatFormat has their meaning).
template <class Bits, int exponent, int mantissa, int exponent_bias, hlo::FloatFormat::Specials special>
struct NarrowFloat {
  using Storage = Bits;
  using Specials = hlo::FloatFormat::Specials;
  static constexpr int width = 1 + exponent + mantissa;
  static constexpr uint32_t drop = 23 - mantissa;  // bits of a float's mantissa that the format lacks
  static constexpr uint32_t sign = 1U << (width - 1);
  static constexpr uint32_t all = sign - 1;                                 // all bits but the sign
  static constexpr uint32_t infinity = ((1U << exponent) - 1) << mantissa;  // IEEE formats
  static constexpr uint32_t largest = special == Specials::IEEE ? infinity - 1
                                      : special == Specials::FN ? all - 1
                                                                : all;
  static constexpr uint32_t float_infinity = 0x7f800000;
  static constexpr uint32_t bias_difference = 127 - exponent_bias;
  // 2^(127 - bias): what the format's bits, placed at a float's exponent, are short of.
  static constexpr float scale() { return std::bit_cast<float>((127 + bias_difference) << 23); }
  static constexpr float inverse_scale() { return std::bit_cast<float>((127 - bias_difference) << 23); }
  static constexpr float largest_value() { return std::bit_cast<float>(largest << drop) * scale(); }

  SAPPER_LANE float load(Storage stored) {
    const uint32_t bits = stored;
    const uint32_t magnitude = bits & all;
    uint32_t result = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude << drop) * scale());
    if constexpr (special == Specials::IEEE)
      result = magnitude >= infinity ? float_infinity | (magnitude << drop) : result;
    if constexpr (special == Specials::FN) result = magnitude == all ? 0x7fc00000U : result;
    if constexpr (special == Specials::FNUZ) result = bits == sign ? 0x7fc00000U : result;
    return std::bit_cast<float>(result | (bits & sign) << (32 - width));
  }

  // Rounds to nearest even.
  SAPPER_LANE float narrow(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    const uint32_t magnitude = bits & 0x7fffffff;
    uint32_t rounded = (magnitude + ((1U << (drop - 1)) - 1) + ((magnitude >> drop) & 1)) & ~((1U << drop) - 1);
    if constexpr (exponent_bias != 127) {
      // Subnormals of the format: adding and taking away a float whose last place is theirs rounds to it.
      constexpr float smallest_normal = std::bit_cast<float>((1 + bias_difference) << 23);
      constexpr float unit = std::bit_cast<float>((1 + bias_difference + 23 - mantissa) << 23);
      const float small = (std::bit_cast<float>(magnitude) + unit) - unit;
      rounded = std::bit_cast<float>(magnitude) < smallest_normal ? std::bit_cast<uint32_t>(small) : rounded;
    }
    const bool over = std::bit_cast<float>(rounded) > largest_value();
    constexpr uint32_t beyond = special == Specials::IEEE     ? float_infinity
                                : special == Specials::Finite ? std::bit_cast<uint32_t>(largest_value())
                                                              : 0x7fc00000U;
    rounded = over ? beyond : rounded;
    const bool nan = magnitude > float_infinity;
    rounded = nan ? (special == Specials::Finite ? 0U : magnitude | 0x00400000U) : rounded;
    uint32_t sign_bit = bits & 0x80000000U;
    if constexpr (special == Specials::Finite) sign_bit = nan ? 0x80000000U : sign_bit;  // -0: no NaN to say
    if constexpr (special == Specials::FNUZ) sign_bit = rounded == 0 ? 0 : sign_bit;
    return std::bit_cast<float>(rounded | sign_bit);
  }

  // Of a value of the format.
  SAPPER_LANE Storage store(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    const uint32_t magnitude = bits & 0x7fffffff;
    uint32_t stored = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) * inverse_scale()) >> drop;
    if constexpr (special == Specials::IEEE)
      stored = magnitude >= float_infinity ? infinity | ((magnitude & 0x7fffff) >> drop) : stored;
    if constexpr (special == Specials::FN) stored = magnitude > float_infinity ? all : stored;
    uint32_t sign_bit = bits >> (32 - width) & sign;
    if constexpr (special == Specials::FNUZ) {
      const bool nan = magnitude > float_infinity;
      sign_bit = nan ? sign : sign_bit;
      stored = nan ? 0 : stored;
    }
    return static_cast<Storage>(stored | sign_bit);
  }
};

using F16Type = NarrowFloat<uint16_t, 5, 10, 15, hlo::FloatFormat::Specials::IEEE>;
using BF16Type = NarrowFloat<uint16_t, 8, 7, 127, hlo::FloatFormat::Specials::IEEE>;
using F8E5M2Type = NarrowFloat<uint8_t, 5, 2, 15, hlo::FloatFormat::Specials::IEEE>;
using F8E4M3Type = NarrowFloat<uint8_t, 4, 3, 7, hlo::FloatFormat::Specials::IEEE>;
using F8E3M4Type = NarrowFloat<uint8_t, 3, 4, 3, hlo::FloatFormat::Specials::IEEE>;
using F8E4M3FNType = NarrowFloat<uint8_t, 4, 3, 7, hlo::FloatFormat::Specials::FN>;
using F8E4M3B11FNUZType = NarrowFloat<uint8_t, 4, 3, 11, hlo::FloatFormat::Specials::FNUZ>;
using F8E4M3FNUZType = NarrowFloat<uint8_t, 4, 3, 8, hlo::FloatFormat::Specials::FNUZ>;
using F8E5M2FNUZType = NarrowFloat<uint8_t, 5, 2, 16, hlo::FloatFormat::Specials::FNUZ>;
using F4E2M1FNType = NarrowFloat<uint8_t, 2, 1, 1, hlo::FloatFormat::Specials::Finite>;

// Powers of two without zero or sign: 0xff is the NaN.
struct F8E8M0Type {
  using Storage = uint8_t;
  SAPPER_LANE float load(uint8_t stored) {
    const uint32_t normal = uint32_t{stored} << 23;
    const uint32_t finite = stored == 0 ? 0x00400000U : normal;  // 2^-127
    return std::bit_cast<float>(stored == 0xff ? 0x7fc00000U : finite);
  }
  SAPPER_LANE float narrow(float value) { return load(store(value)); }
  SAPPER_LANE uint8_t store(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    // The exponent field, rounded to nearest, ties to the even one; floats below 2^-126 have none.
    const uint32_t normal = (bits + 0x3fffff + ((bits >> 23) & 1)) >> 23;
    const uint32_t subnormal = bits > 0x00600000 ? 1 : 0;
    const uint32_t power = bits < 0x00800000 ? subnormal : normal;
    const uint32_t finite = power > 0xff ? 0xff : power;
    const uint32_t positive = bits > 0x7f800000U ? 0xff : finite;  // NaN and negative numbers
    return static_cast<uint8_t>(bits == 0x80000000U ? 0 : positive);
  }
};

// A signed or unsigned integer of `width` bits in a byte.
template <class T, int width>
struct NarrowInteger {
  using Storage = T;
  SAPPER_LANE T narrow(T value) {
    return static_cast<T>(static_cast<T>(static_cast<unsigned>(value) << (8 - width)) >> (8 - width));
  }
};

}  // namespace sapper::eval
