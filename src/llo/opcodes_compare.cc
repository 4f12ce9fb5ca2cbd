// Vector compares and classifications: from vectors to masks.
// foreach_target.h must come before what it compiles for each target.
// clang-format off
#include "eval/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "llo/opcodes_compare.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "llo/lanes-inl.h"
// clang-format on

#include "llo/bfloat16.h"

HWY_BEFORE_NAMESPACE();
namespace sapper::llo::HWY_NAMESPACE {
namespace {

template <class T>
T number(T lane) {
  return lane;
}
struct BFloat16 {
  uint16_t bits;
};
float number(BFloat16 lane) { return from_bfloat16(lane.bits); }

// A word whose order as a signed integer is the total order of the floats: -NaN, -inf, ..., -0, +0, ..., inf, NaN.
struct TotallyOrdered {
  uint32_t bits;
};
int32_t number(TotallyOrdered lane) {
  const auto bits = static_cast<int32_t>(lane.bits);
  return bits ^ (bits >> 31 & 0x7fffffff);
}

std::span<const OpcodeInfo> compare_rows() {
  static const OpcodeInfo rows[] = {
#define SAPPER_COMPARE(relation, sign, type, T, order, meaning)  \
  {"vcmp." relation "." type "." order, "m = v v", Unit::Vector, \
   lanewise([](T a, T b) { return number(a) sign number(b); }), "Where a " #sign " b, of " type " lanes: " meaning}
#define SAPPER_COMPARES(type, T, order, meaning)                                                           \
  SAPPER_COMPARE("eq", ==, type, T, order, meaning), SAPPER_COMPARE("ne", !=, type, T, order, meaning),    \
      SAPPER_COMPARE("lt", <, type, T, order, meaning), SAPPER_COMPARE("le", <=, type, T, order, meaning), \
      SAPPER_COMPARE("gt", >, type, T, order, meaning), SAPPER_COMPARE("ge", >=, type, T, order, meaning)
      SAPPER_COMPARES("f32", float, "partialorder", "IEEE, only != holds for NaN."),
      SAPPER_COMPARES("bf16", BFloat16, "partialorder", "IEEE, only != holds for NaN."),
      SAPPER_COMPARES("f32", TotallyOrdered, "totalorder", "-NaN < -inf < ... < -0 < +0 < ... < inf < NaN (assumed)."),
      SAPPER_COMPARES("s32", int32_t, "totalorder", "as numbers."),
      SAPPER_COMPARES("u32", uint32_t, "totalorder", "as numbers."),
      SAPPER_COMPARES("s16", int16_t, "totalorder", "as numbers."),
      SAPPER_COMPARES("u16", uint16_t, "totalorder", "as numbers."),
      SAPPER_COMPARES("s8", int8_t, "totalorder", "as numbers."),
      SAPPER_COMPARES("u8", uint8_t, "totalorder", "as numbers."),
#undef SAPPER_COMPARES
#undef SAPPER_COMPARE
      {"vweird.f32", "m = v", Unit::Vector, lanewise([](uint32_t x) { return (x & 0x7f800000) == 0x7f800000; }),
       "Where the exponent is all ones: infinities and NaN."},
      {"vweird.bf16", "m = v", Unit::Vector, lanewise([](uint16_t x) { return (x & 0x7f80) == 0x7f80; }),
       "Where the exponent of a packed bf16 is all ones: infinities and NaN."},
      {"vc.u32", "m = v v", Unit::Vector, lanewise([](uint32_t a, uint32_t b) { return a + b < a; }),
       "The carry of a + b."},
      {"vnez.u8", "m = v", Unit::Vector, lanewise([](uint8_t x) { return x != 0; }), "Where a byte is not zero."},
      {"vnez.u16", "m = v", Unit::Vector, lanewise([](uint16_t x) { return x != 0; }),
       "Where a half word is not zero."},
      {"vnez.u32", "m = v", Unit::Vector, lanewise([](uint32_t x) { return x != 0; }), "Where a word is not zero."},
  };
  return rows;
}

}  // namespace

std::span<const OpcodeInfo> choose_compare_rows() { return compare_rows(); }

}  // namespace sapper::llo::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sapper::llo {
HWY_EXPORT(choose_compare_rows);
std::span<const OpcodeInfo> compare_opcodes() { return HWY_DYNAMIC_DISPATCH(choose_compare_rows)(); }
}  // namespace sapper::llo
#endif
