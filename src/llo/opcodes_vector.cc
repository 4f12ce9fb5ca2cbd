// Vector arithmetic, logic and shifts, lane by lane; constants.
// foreach_target.h must come before what it compiles for each target.
// clang-format off
#include "eval/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "llo/opcodes_vector.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "llo/lanes-inl.h"
// clang-format on

#include "llo/bfloat16.h"
#include "llo/wide_product.h"

HWY_BEFORE_NAMESPACE();
namespace sapper::llo::HWY_NAMESPACE {
namespace {

constexpr auto shift_left = [](uint32_t x, uint32_t n) { return n < 32 ? x << (n & 31) : 0; };
constexpr auto shift_right = [](uint32_t x, uint32_t n) { return n < 32 ? x >> (n & 31) : 0; };
constexpr auto shift_right_signed = [](uint32_t x, uint32_t n) {
  return static_cast<uint32_t>(static_cast<int32_t>(x) >> (n < 32 ? n & 31 : 31));
};
// The undefined bits move along; an undefined amount moves them anywhere.
template <class Shift>
constexpr Action shifting(Shift shift) {
  return precise(shift, [](uint32_t, uint32_t x_undefined, uint32_t n, uint32_t n_undefined) {
    return n_undefined != 0 ? ~uint32_t{0} : Shift{}(x_undefined, n);
  });
}

// NaN where one is; of two that compare equal the second. The bits chosen are not changed.
constexpr auto larger = [](float a, float b) { return ((a > b) | (a != a)) ? a : b; };
constexpr auto smaller = [](float a, float b) { return ((a < b) | (a != a)) ? a : b; };

constexpr auto clamp_from_zero = [](float x, float c) { return smaller(larger(x, 0.0F), c); };

// A function of f32 on both packed bf16 of each word.
template <class F>
constexpr Lanewise of_bfloat16(F) {
  constexpr auto both = [](uint32_t a, uint32_t b) {
    const auto upper = [](uint32_t word) { return std::bit_cast<float>(word & 0xffff0000); };
    const auto lower = [](uint32_t word) { return std::bit_cast<float>(word << 16); };
    return uint32_t{to_bfloat16(F{}(upper(a), upper(b)))} << 16 | to_bfloat16(F{}(lower(a), lower(b)));
  };
  return {LaneLoopOf<decltype(both)>::compute, 16};
}

constexpr auto leading_zeros = [](uint32_t x) {
  // Without branches: halves the range in which the first one lies.
  uint32_t zeros = x == 0 ? 1 : 0;
  for (const uint32_t step : {16U, 8U, 4U, 2U, 1U}) {
    const bool empty = x >> (32 - step) == 0;
    zeros += empty ? step : 0;
    x = empty ? x << step : x;
  }
  return zeros;
};
constexpr auto ones = [](uint32_t x) {
  x -= x >> 1 & 0x55555555;
  x = (x & 0x33333333) + (x >> 2 & 0x33333333);
  x = (x + (x >> 4)) & 0x0f0f0f0f;
  return (x * 0x01010101) >> 24;
};

void lane_sequence(Machine& machine, const Step& step) {
  Vreg& result = machine.write_vector(step.result);
  for (int i = 0; i < kVregWords; ++i) result.word[i] = static_cast<uint32_t>(i);
}

void splat(Machine& machine, const Step& step) {
  Vreg& result = machine.write_vector(step.result);
  for (uint32_t& word : result.word) word = machine.scalar(step.operand[0]);
  if (const uint32_t bits = machine.scalar_undefined(step.operand[0])) {
    Vreg undefined;
    for (uint32_t& word : undefined.word) word = bits;
    machine.set_vector_undefined(step.result, undefined);
  }
}

void first_word(Machine& machine, const Step& step) {
  const Vreg* undefined = machine.vector_undefined(step.operand[0]);
  machine.set_scalar(step.result, machine.vector(step.operand[0]).word[0],
                     undefined == nullptr ? 0 : undefined->word[0]);
}

void copy(const Machine&, const Step&, const Vreg* const* operands, Vreg& result) { result = *operands[0]; }

// A type at the end of a name is a hint for people: the bits are treated alike.
std::span<const OpcodeInfo> vector_rows() {
  static const OpcodeInfo rows[] = {
      {"vadd.f32", "v = v v", Unit::Vector, lanewise([](float a, float b) { return a + b; }),
       "The sum, rounded to nearest even."},
      {"vsub.f32", "v = v v", Unit::Vector, lanewise([](float a, float b) { return a - b; }),
       "The difference, rounded to nearest even."},
      {"vmul.f32", "v = v v", Unit::Vector, lanewise([](float a, float b) { return a * b; }),
       "The product, rounded to nearest even."},
      {"vmax.f32", "v = v v", Unit::Vector, lanewise(larger),
       "The larger; NaN where one is (the corpus relies on it). Of -0 and +0 the second operand (assumed)."},
      {"vmin.f32", "v = v v", Unit::Vector, lanewise(smaller),
       "The smaller; NaN where one is (the corpus relies on it). Of -0 and +0 the second operand (assumed)."},
      {"vclamps.f32", "v = v v", Unit::Vector, lanewise([](float x, float c) { return smaller(larger(x, -c), c); }),
       "x within [-c, c]; NaN stays NaN."},
      {"vclamp.gez.f32", "v = v v", Unit::Vector, lanewise(clamp_from_zero), "x within [0, c]; NaN stays NaN."},
      {"vclamp-gez-f32", "v = v v", Unit::Vector, lanewise(clamp_from_zero),
       "x within [0, c]; NaN stays NaN: vclamp.gez.f32 as older releases spell it."},
      {"vadd.bf16", "v = v v", Unit::Vector, of_bfloat16([](float a, float b) { return a + b; }),
       "Sums of packed bf16, each computed in f32 and rounded to nearest even."},
      {"vsub.bf16", "v = v v", Unit::Vector, of_bfloat16([](float a, float b) { return a - b; }),
       "Differences of packed bf16, each computed in f32 and rounded to nearest even."},
      {"vmul.bf16", "v = v v", Unit::Vector, of_bfloat16([](float a, float b) { return a * b; }),
       "Products of packed bf16, rounded to nearest even."},
      {"vmax.bf16", "v = v v", Unit::Vector, of_bfloat16(larger), "The larger of packed bf16, as vmax.f32."},
      {"vmin.bf16", "v = v v", Unit::Vector, of_bfloat16(smaller), "The smaller of packed bf16, as vmin.f32."},

      {"vadd.s32", "v = v v", Unit::Vector, lanewise([](uint32_t a, uint32_t b) { return a + b; }),
       "The sum modulo 2^32."},
      {"vsub.s32", "v = v v", Unit::Vector, lanewise([](uint32_t a, uint32_t b) { return a - b; }),
       "The difference modulo 2^32."},
      {"vmul.u32", "v = v v", Unit::Vector, lanewise([](uint32_t a, uint32_t b) { return a * b; }),
       "The product modulo 2^32."},
      {"vmax.u32", "v = v v", Unit::Vector, lanewise([](uint32_t a, uint32_t b) { return a > b ? a : b; }),
       "The larger, unsigned."},
      {"vmin.u32", "v = v v", Unit::Vector, lanewise([](uint32_t a, uint32_t b) { return a < b ? a : b; }),
       "The smaller, unsigned."},
      {"vmax.s32", "v = v v", Unit::Vector, lanewise([](int32_t a, int32_t b) { return a > b ? a : b; }),
       "The larger, signed."},
      {"vmin.s32", "v = v v", Unit::Vector, lanewise([](int32_t a, int32_t b) { return a < b ? a : b; }),
       "The smaller, signed."},
      {"vadd.s16", "v = v v", Unit::Vector,
       lanewise([](uint16_t a, uint16_t b) { return static_cast<uint16_t>(a + b); }),
       "Sums of packed 16-bit integers, modulo 2^16."},
      {"vsub.s16", "v = v v", Unit::Vector,
       lanewise([](uint16_t a, uint16_t b) { return static_cast<uint16_t>(a - b); }),
       "Differences of packed 16-bit integers, modulo 2^16."},
      {"vmul.u32.u64.compose", "v = v v", Unit::Vector, Action{compose_product},
       "The 64-bit product, unsigned: its low word, and its high word for vextract.high.u32."},
      {"vextract.low.u32", "v = v", Unit::Vector, Movement{copy}, "The low word of what vmul.u32.u64.compose made."},
      {"vextract.high.u32", "v = v", Unit::Vector, Action{extract_high},
       "The high word of what vmul.u32.u64.compose made."},
      {"vmul.u32.u64.low", "v = v v", Unit::Vector, lanewise([](uint32_t a, uint32_t b) { return a * b; }),
       "The low word of the 64-bit product."},
      {"vmul.u32.u64.high", "v = v v v", Unit::Vector,
       precise([](uint32_t a, uint32_t b, uint32_t) { return high_product(a, b); },
               [](uint32_t, uint32_t ua, uint32_t, uint32_t ub, uint32_t, uint32_t) {
                 return (ua | ub) != 0 ? ~uint32_t{0} : 0;
               }),
       "The high word of the unsigned 64-bit product of the first two operands. The third only names the register of "
       "the low word, which the same bundle makes."},
      {"vclz", "v = v", Unit::Vector, lanewise(leading_zeros), "The number of leading zeros, 32 for 0."},
      {"vpcnt", "v = v", Unit::Vector, lanewise(ones), "The number of ones."},

      {"vand.u32.(s4|u4|s8|u8|s16|u16|s32|f32|bf16|f16|f8e4m3fn|f8e5m2|f8e4m3b11fnuz|pred)", "v = v v", Unit::Vector,
       precise([](uint32_t a, uint32_t b) { return a & b; },
               [](uint32_t a, uint32_t ua, uint32_t b, uint32_t ub) { return (ua & (b | ub)) | (ub & a); }),
       "Bitwise and. A defined 0 makes a bit defined."},
      {"vor.u32.(s4|u4|s8|u8|s16|u16|s32|f32|bf16|f16|f8e4m3fn|f8e5m2|f8e4m3b11fnuz|pred)", "v = v v", Unit::Vector,
       precise([](uint32_t a, uint32_t b) { return a | b; },
               [](uint32_t a, uint32_t ua, uint32_t b, uint32_t ub) { return (ua & (~b | ub)) | (ub & ~a); }),
       "Bitwise or. A defined 1 makes a bit defined."},
      {"vxor.u32.(s4|u4|s8|u8|s16|u16|s32|f32|bf16|f16|f8e4m3fn|f8e5m2|f8e4m3b11fnuz|pred)", "v = v v", Unit::Vector,
       precise([](uint32_t a, uint32_t b) { return a ^ b; },
               [](uint32_t, uint32_t ua, uint32_t, uint32_t ub) { return ua | ub; }),
       "Bitwise exclusive or."},
      {"vshll.u32.(s4|u4|s8|u8|s16|u16)", "v = v v", Unit::Vector, shifting(shift_left),
       "The first shifted left by the second; amounts of 32 and more give 0."},
      {"vshrl.u32.(s4|u4|s8|u8|s16|u16)", "v = v v", Unit::Vector, shifting(shift_right),
       "The first shifted right by the second, zeros come in; amounts of 32 and more give 0."},
      {"vshra.s32.(s4|s8|s16)", "v = v v", Unit::Vector, shifting(shift_right_signed),
       "The first shifted right by the second, copies of the sign come in; amounts of 32 and more leave the sign "
       "alone."},

      {"vlaneseq.(b32)", "v =", Unit::Vector, Action{lane_sequence}, "128 * sublane + lane."},
      {"vmov", "v = v", Unit::Vector, Movement{copy}, "A copy, or a constant in every lane."},
      {"vstv", "v = s", Unit::Vector, Action{splat}, "The scalar in every lane."},
      {"vtos", "s = v", Unit::Vector, Action{first_word}, "The word of sublane 0, lane 0."},
  };
  return rows;
}

}  // namespace

std::span<const OpcodeInfo> choose_vector_rows() { return vector_rows(); }

}  // namespace sapper::llo::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sapper::llo {
HWY_EXPORT(choose_vector_rows);
std::span<const OpcodeInfo> vector_opcodes() { return HWY_DYNAMIC_DISPATCH(choose_vector_rows)(); }
}  // namespace sapper::llo
#endif
