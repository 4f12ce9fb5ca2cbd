// Vector conversions between number formats of one lane, rounding to integers.
// foreach_target.h must come before what it compiles for each target.
// clang-format off
#include "eval/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "llo/opcodes_convert.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "llo/lanes-inl.h"
// clang-format on

#include "eval/lane.h"
#include "llo/narrow_float.h"

HWY_BEFORE_NAMESPACE();
namespace sapper::llo::HWY_NAMESPACE {
namespace {

constexpr uint32_t kSign = 0x80000000;
constexpr uint32_t kIntegerFrom = 0x4b000000;    // 2^23: from here on every float is an integer (or not finite)
constexpr uint32_t kBeyondInteger = 0x4f000000;  // 2^31

SAPPER_LANE float float_of(uint32_t bits) { return std::bit_cast<float>(bits); }
SAPPER_LANE uint32_t bits_of(float value) { return std::bit_cast<uint32_t>(value); }

// yes ? a : b by bits: compilers make branches, which they then do not vectorize, of conversions in one arm only.
SAPPER_LANE uint32_t choose(bool yes, uint32_t a, uint32_t b) {
  const uint32_t mask = 0 - static_cast<uint32_t>(yes);
  return (a & mask) | (b & ~mask);
}

// Rounds the magnitude of x to an integer: up where `up` says so of the integer below and what is left of it.
template <class Up>
SAPPER_LANE uint32_t round_magnitude(uint32_t x, Up up) {
  const uint32_t magnitude = x & ~kSign;
  const float small = float_of(choose(magnitude < kIntegerFrom, magnitude, 0));  // the rest of others is not used
  const auto below = static_cast<int32_t>(small);
  const float rest = small - static_cast<float>(below);
  const uint32_t rounded = bits_of(static_cast<float>(below + static_cast<int32_t>(up(below, rest))));
  return choose(magnitude < kIntegerFrom, rounded, magnitude) | (x & kSign);
}

SAPPER_LANE uint32_t truncated(uint32_t x) {
  return round_magnitude(x, [](int32_t, float) { return false; });
}
SAPPER_LANE uint32_t rounded_down(uint32_t x) {
  return round_magnitude(x, [x](int32_t, float rest) { return ((x & kSign) != 0) & (rest > 0); });
}
SAPPER_LANE uint32_t rounded_up(uint32_t x) {
  return round_magnitude(x, [x](int32_t, float rest) { return ((x & kSign) == 0) & (rest > 0); });
}
SAPPER_LANE uint32_t rounded_away(uint32_t x) {
  return round_magnitude(x, [](int32_t, float rest) { return rest >= 0.5F; });
}
// Adding 2^23 leaves no bits for a fraction: rounds to nearest even.
SAPPER_LANE uint32_t rounded_even(uint32_t x) {
  const uint32_t magnitude = x & ~kSign;
  const uint32_t rounded = bits_of((float_of(magnitude) + 0x1p23F) - 0x1p23F);
  return choose(magnitude < kIntegerFrom, rounded, magnitude) | (x & kSign);
}

// The integer toward zero, saturated, 0 for NaN.
SAPPER_LANE uint32_t truncated_integer(uint32_t x) {
  const uint32_t magnitude = x & ~kSign;
  const bool fits = magnitude < kBeyondInteger;
  const auto number = static_cast<uint32_t>(static_cast<int32_t>(float_of(choose(fits, x, 0))));
  const uint32_t beyond = (x & kSign) != 0 ? 0x80000000 : 0x7fffffff;
  const uint32_t special = magnitude > 0x7f800000 ? 0 : beyond;
  return choose(fits, number, special);
}

// Rounds the magnitude up where its fraction, as 32 bits after the point, is above `threshold`.
SAPPER_LANE uint32_t threshold_integer(uint32_t x, uint32_t threshold) {
  const auto up = [threshold](int32_t, float rest) {
    const auto high = static_cast<int32_t>(rest * 0x1p16F);
    const auto low = static_cast<int32_t>((rest * 0x1p16F - static_cast<float>(high)) * 0x1p16F);
    return (static_cast<uint32_t>(high) << 16 | static_cast<uint32_t>(low)) > threshold;
  };
  return truncated_integer(round_magnitude(x, up));
}

std::span<const OpcodeInfo> convert_rows() {
  static const OpcodeInfo rows[] = {
      {"vfloor.f32", "v = v", Unit::Vector, lanewise([](uint32_t x) { return rounded_down(x); }),
       "The integer at or below, an f32."},
      {"vceil.f32", "v = v", Unit::Vector, lanewise([](uint32_t x) { return rounded_up(x); }),
       "The integer at or above, an f32."},
      {"vtrunc.f32", "v = v", Unit::Vector, lanewise([](uint32_t x) { return truncated(x); }),
       "The integer toward zero, an f32."},
      {"vround.rtna.f32", "v = v", Unit::Vector, lanewise([](uint32_t x) { return rounded_away(x); }),
       "The nearest integer, ties away from zero, an f32."},
      {"vround.rtne.f32", "v = v", Unit::Vector, lanewise([](uint32_t x) { return rounded_even(x); }),
       "The nearest integer, ties to even, an f32."},
      {"vround.ne.pseudo", "v = v", Unit::Vector, lanewise([](uint32_t x) { return rounded_even(x); }),
       "vround.rtne.f32 before it is lowered."},
      {"vcvt.s32.f32", "v = v", Unit::Vector, lanewise([](int32_t x) { return static_cast<float>(x); }),
       "The integer as an f32, rounded to nearest even."},
      {"vcvt.f32.s32", "v = v", Unit::Vector, lanewise([](uint32_t x) { return truncated_integer(rounded_even(x)); }),
       "The nearest integer, saturated, 0 for NaN; ties to even (assumed: kernels convert integers only)."},
      {"vcvt.f32.s32.to.zero.pseudo", "v = v", Unit::Vector, lanewise([](uint32_t x) { return truncated_integer(x); }),
       "The integer toward zero, saturated, 0 for NaN."},
      {"vcvt.pr.f32.s32", "v = v v", Unit::Vector,
       lanewise([](uint32_t x, uint32_t threshold) { return threshold_integer(x, threshold); }),
       "An integer, saturated, 0 for NaN. The magnitude is rounded up where its fraction, 32 bits after the point, is "
       "above the second operand, unsigned: all ones truncate, 0x7fffffff is nearest with ties away from zero."},
      {"vcvt.f32.hf16", "v = v", Unit::Vector,
       lanewise([](uint32_t x) { return Float16::encode<Overflow::Special>(x); }),
       "IEEE half precision in the low 16 bits, rounded to nearest even."},
      {"vcvt.f32.if8|f8e4m3b11", "v = v", Unit::Vector,
       lanewise([](uint32_t x) { return FloatE4M3B11::encode<Overflow::Saturate>(x); }),
       "f8e4m3b11fnuz in the low 8 bits, rounded to nearest even, saturated."},
      {"vcvt.f32.e4m3", "v = v", Unit::Vector,
       lanewise([](uint32_t x) { return FloatE4M3::encode<Overflow::Special>(x); }),
       "f8e4m3fn in the low 8 bits, rounded to nearest even; NaN beyond its range (as HLO's convert)."},
      {"vcvt.f32.e5m2|f8e5m2", "v = v", Unit::Vector,
       lanewise([](uint32_t x) { return FloatE5M2::encode<Overflow::Special>(x); }),
       "f8e5m2 in the low 8 bits, rounded to nearest even; infinity beyond its range (as HLO's convert)."},
      {"vf32.e.s32", "v = v", Unit::Vector, lanewise([](uint32_t x) { return (x >> 23 & 0xff) - 127; }),
       "The exponent of an f32, a signed integer: its field less 127."},
      {"vf32.s.s32", "v = v", Unit::Vector, lanewise([](uint32_t x) {
         const uint32_t magnitude = (x & 0x7fffff) | ((x & 0x7f800000) != 0 ? 0x800000 : 0);
         return (x & kSign) != 0 ? 0 - magnitude : magnitude;
       }),
       "The significand of an f32, an integer of 24 bits with the sign of the f32 (the sign is assumed)."},
      {"vf32.f32", "v = v v", Unit::Vector, lanewise([](uint32_t significand, uint32_t exponent) {
         const uint32_t field = exponent + 127;
         return (significand & 0x807fffff) | (field & 0xff) << 23;
       }),
       "An f32 of a significand of 24 bits (its implicit one falls away) and an exponent."},
  };
  return rows;
}

}  // namespace

std::span<const OpcodeInfo> choose_convert_rows() { return convert_rows(); }

}  // namespace sapper::llo::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sapper::llo {
HWY_EXPORT(choose_convert_rows);
std::span<const OpcodeInfo> convert_opcodes() { return HWY_DYNAMIC_DISPATCH(choose_convert_rows)(); }
}  // namespace sapper::llo
#endif
