// Packing against plain index arithmetic, conversions against the library's float formats.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "hlo/element_type.h"
#include "tests/llo/random_vreg.h"
#include "tests/llo/single_instruction.h"

namespace sapper::llo::testing {
namespace {

using hlo::ElementType;

float as_float(uint32_t bits) { return std::bit_cast<float>(bits); }

// Logical row `row` of a register of `width`-bit lanes in the compact order, at `lane`.
uint32_t compact(const Vreg& vreg, int width, int row, int lane) {
  const int per_word = 32 / width;
  const uint32_t word = vreg.word[row / per_word * kLanes + lane] >> (row % per_word * width);
  return width == 32 ? word : word & ((1U << width) - 1);
}
int rows_of(int width) { return kSublanes * 32 / width; }

uint32_t sign_extended(uint32_t bits, int width) {
  return static_cast<uint32_t>(static_cast<int32_t>(bits << (32 - width)) >> (32 - width));
}

uint32_t encoded(ElementType type, float value) {
  return static_cast<uint32_t>(hlo::encode_float(*hlo::float_format(type), value));
}
float decoded(ElementType type, uint32_t bits) {
  return static_cast<float>(hlo::decode_float(*hlo::float_format(type), bits));
}

RC_GTEST_PROP(PackOpcodes, RowsOfTheSecondOperandComeFirst, ()) {
  std::mt19937 random(*rc::gen::arbitrary<uint32_t>());
  const Vreg high = any_vreg(random);
  const Vreg low = any_vreg(random);
  const std::pair<const char*, int> forms[] = {{"vpack.c.b32.b16", 32}, {"vpack.c.b16.b8", 16}, {"vpack.c.b8.b4", 8}};
  for (const auto& [opcode, width] : forms) {
    const Vreg packed = result_of(opcode, {high, low});
    for (int row = 0; row < rows_of(width / 2); ++row)
      for (int lane = 0; lane < kLanes; ++lane) {
        const int rows = rows_of(width);
        const uint32_t whole = compact(row < rows ? low : high, width, row % rows, lane);
        RC_ASSERT(compact(packed, width / 2, row, lane) == (whole & ((1U << (width / 2)) - 1)));
      }
  }
}

RC_GTEST_PROP(PackOpcodes, UnpackingGivesRowsInOrder, ()) {
  std::mt19937 random(*rc::gen::arbitrary<uint32_t>());
  const Vreg packed = any_vreg(random);
  struct Form {
    const char* opcode;
    int width, to, part;
    bool sign;
  };
  const Form forms[] = {{"vunpack.c.l.s16.s32", 16, 32, 0, true},  {"vunpack.c.u.s16.s32.s16", 16, 32, 1, true},
                        {"vunpack.c.h.b16", 16, 32, 1, true},      {"vunpack.c.0.s8.s32", 8, 32, 0, true},
                        {"vunpack.c.3.s8.s32.s8", 8, 32, 3, true}, {"vunpack.c.2.u8.u32", 8, 32, 2, false},
                        {"vunpack.c.l.s4.s8", 4, 8, 0, true},      {"vunpack.c.u.u4.u8", 4, 8, 1, false}};
  for (const Form& form : forms) {
    const Vreg wide = result_of(form.opcode, {packed});
    for (int row = 0; row < rows_of(form.to); ++row)
      for (int lane = 0; lane < kLanes; ++lane) {
        const uint32_t narrow = compact(packed, form.width, form.part * rows_of(form.to) + row, lane);
        const uint32_t want = form.sign ? sign_extended(narrow, form.width) : narrow;
        const uint32_t mask = form.to == 32 ? ~0U : (1U << form.to) - 1;
        RC_ASSERT(compact(wide, form.to, row, lane) == (want & mask));
      }
  }
}

RC_GTEST_PROP(PackOpcodes, UnpackingUndoesPacking, ()) {
  std::mt19937 random(*rc::gen::arbitrary<uint32_t>());
  Vreg high = any_vreg(random);
  Vreg low = any_vreg(random);
  for (uint32_t& word : high.word) word &= 0xffff0000;  // bf16 as f32
  for (uint32_t& word : low.word) word &= 0xffff0000;
  const Vreg compact_form = result_of("vpack.c.f32.bf16", {high, low});
  RC_ASSERT(result_of("vunpack.c.l.bf16.f32", {compact_form}) == low);
  RC_ASSERT(result_of("vunpack.c.u.bf16.f32", {compact_form}) == high);
  const Vreg interleaved = result_of("vpack.i.f32.bf16", {high, low});
  RC_ASSERT(result_of("vunpack.i.l.bf16.f32", {interleaved}) == low);
  RC_ASSERT(result_of("vunpack.i.u.bf16.f32", {interleaved}) == high);
}

RC_GTEST_PROP(PackOpcodes, FloatsAreRoundedAsTheirFormatSays, ()) {
  std::mt19937 random(*rc::gen::arbitrary<uint32_t>());
  Vreg from = telling_vreg(random);
  for (int i = 0; i < kVregWords; i += 2)  // around the range of the narrow formats
    from.word[i] = std::bit_cast<uint32_t>(
        std::ldexp(1.0F + static_cast<float>(random() % 4096) / 4096, static_cast<int>(random() % 48) - 28));
  const std::pair<const char*, ElementType> forms[] = {{"vcvt.f32.hf16", ElementType::F16},
                                                       {"vcvt.f32.e4m3", ElementType::F8E4M3FN},
                                                       {"vcvt.f32.e5m2", ElementType::F8E5M2},
                                                       {"vcvt.f32.f8e5m2", ElementType::F8E5M2},
                                                       {"vcvt.f32.if8", ElementType::F8E4M3B11FNUZ}};
  for (const auto& [opcode, type] : forms) {
    const Vreg narrow = result_of(opcode, {from});
    const bool saturates = type == ElementType::F8E4M3B11FNUZ;
    for (int i = 0; i < kVregWords; ++i) {
      const float value = as_float(from.word[i]);
      uint32_t want = encoded(type, value);
      if (saturates && !std::isnan(value) && std::isnan(decoded(type, want))) want = value < 0 ? 0xff : 0x7f;
      if (std::isnan(decoded(type, want))) {
        RC_ASSERT(std::isnan(decoded(type, narrow.word[i])));
      } else {
        if (narrow.word[i] != want) RC_LOG() << opcode << std::hex << " of " << from.word[i];
        RC_ASSERT(narrow.word[i] == want);
      }
    }
  }
  const Vreg halves = result_of("vpack.i.f32.bf16", {from, from});
  for (int i = 0; i < kVregWords; ++i) {
    const float value = as_float(from.word[i]);
    const uint32_t half = halves.word[i] & 0xffff;
    const bool same = half == encoded(ElementType::BF16, value);
    RC_ASSERT((std::isnan(value) ? std::isnan(decoded(ElementType::BF16, half)) : same));
  }
}

TEST(PackOpcodes, EveryNarrowFloatIsWidenedExactly) {
  Vreg packed;
  for (int i = 0; i < kVregWords; ++i) packed.word[i] = static_cast<uint32_t>(i % kLanes + i / kLanes % 2 * kLanes);
  const std::pair<const char*, ElementType> forms[] = {
      {"vunpack.c.0.if8.f32", ElementType::F8E4M3B11FNUZ},   {"vunpack.c.0.e4m3.f32", ElementType::F8E4M3FN},
      {"vunpack.c.0.f8e4m3b11", ElementType::F8E4M3B11FNUZ}, {"vunpack.c.0.e5m2.f32", ElementType::F8E5M2},
      {"vunpack.c.0.f8e5m2", ElementType::F8E5M2},           {"vunpack.c.0.bf8", ElementType::F8E5M2}};
  for (const auto& [opcode, type] : forms) {
    const Vreg wide = result_of(opcode, {packed});
    for (int row = 0; row < kSublanes; row += 4)
      for (int lane = 0; lane < kLanes; ++lane) {
        const uint32_t bits = compact(packed, 8, row, lane);
        const float want = decoded(type, bits);
        const float got = as_float(wide.word[row * kLanes + lane]);
        EXPECT_TRUE(got == want || (std::isnan(got) && std::isnan(want))) << opcode << " of " << bits;
        EXPECT_TRUE(std::isnan(want) || std::signbit(got) == std::signbit(want)) << opcode << " of " << bits;
      }
  }
}

// v4 packs bytes so: in the upper halves of floats that may be NaNs or subnormals.
TEST(PackOpcodes, UpperHalvesPackedAsBfloat16StayAsTheyAre) {
  for (uint32_t first = 0; first < 0x10000; first += kVregWords) {
    Vreg words;
    for (int i = 0; i < kVregWords; ++i) words.word[i] = (first + i) << 16;
    const Vreg packed = result_of("vpack.c.f32.bf16", {splat(0), words});
    for (int i = 0; i < kVregWords; ++i) {
      ASSERT_EQ(compact(packed, 16, i / kLanes, i % kLanes), first + i);
    }
    ASSERT_EQ(result_of("vpack.i.f32.bf16", {words, splat(0)}), words);
  }
}

TEST(PackOpcodes, UpperHalvesPackedAsBfloat16AreDefinedBitByBit) {
  const auto undefined_bits = [](const char* opcode, uint32_t word, uint32_t undefined) {
    return run(opcode, {Value{}, Value{splat(word), splat(undefined)}})[0].undefined.word[0] & 0xffff;
  };
  for (const char* opcode : {"vpack.c.f32.bf16", "vpack.i.f32.bf16"}) {
    EXPECT_EQ(undefined_bits(opcode, 0x7f810000, 0x5a000000), 0x5a00U);
    EXPECT_EQ(undefined_bits(opcode, 0x7f810000, 0x5a000001), 0xffffU) << "it may be rounded";
    EXPECT_EQ(undefined_bits(opcode, 0x3f818000, 0x5a000000), 0xffffU) << "it is rounded";
  }
}

TEST(PackOpcodes, AByteInterleavedTwiceFillsItsWord) {
  // As `pad` spreads its padding value.
  std::mt19937 random(2);
  const Vreg bytes = any_vreg(random);
  const Vreg halves = result_of("vpack.i.b32.b16", {bytes, bytes});
  const Vreg filled = result_of("vpack.i.b16.b8", {halves, halves});
  for (int i = 0; i < kVregWords; ++i) EXPECT_EQ(filled.word[i], (bytes.word[i] & 0xff) * 0x01010101U);
}

TEST(PackOpcodes, PseudoFormsAreTheCompactOnes) {
  std::mt19937 random(1);
  const Vreg words = any_vreg(random);
  const Vreg packed = result_of("vpack.pseudo.s8", {words});
  EXPECT_EQ(packed, result_of("vpack.c.b16.b8", {splat(0), result_of("vpack.c.b32.b16", {splat(0), words})}));
  // A load that gives row 0 to sublanes 0-3 and row 1 to 4-7 makes unpacking its inverse.
  Vreg loaded;
  for (int i = 0; i < kVregWords; ++i) loaded.word[i] = packed.word[i / (4 * kLanes) * kLanes + i % kLanes];
  const Vreg unpacked = result_of("vunpack.pseudo.s8", {loaded});
  for (int i = 0; i < kVregWords; ++i) EXPECT_EQ(unpacked.word[i], sign_extended(words.word[i] & 0xff, 8));
}

// --- rounding to integers

RC_GTEST_PROP(ConvertOpcodes, RoundingIsTheHosts, ()) {
  std::mt19937 random(*rc::gen::arbitrary<uint32_t>());
  const Vreg from = telling_vreg(random);
  const std::pair<const char*, float (*)(float)> forms[] = {{"vfloor.f32", std::floor},
                                                            {"vceil.f32", std::ceil},
                                                            {"vtrunc.f32", std::trunc},
                                                            {"vround.rtna.f32", std::round},
                                                            {"vround.rtne.f32", std::nearbyint}};
  Surroundings with;
  with.options.flush_subnormals = false;
  for (const auto& [opcode, host] : forms) {
    const Vreg result = result_of(opcode, {from}, with);
    for (int i = 0; i < kVregWords; ++i) {
      const float want = host(as_float(from.word[i]));
      const float got = as_float(result.word[i]);
      if (!(got == want || (std::isnan(got) && std::isnan(want)))) RC_LOG() << opcode << std::hex << from.word[i];
      RC_ASSERT(got == want || (std::isnan(got) && std::isnan(want)));
      RC_ASSERT(std::signbit(got) == std::signbit(want) || std::isnan(want));
    }
  }
}

TEST(ConvertOpcodes, IntegersAreSaturated) {
  const auto word = [](std::string_view opcode, float value) {
    return static_cast<int32_t>(result_of(opcode, {splat(std::bit_cast<uint32_t>(value))}).word[0]);
  };
  for (const char* opcode : {"vcvt.f32.s32", "vcvt.f32.s32.to.zero.pseudo"}) {
    EXPECT_EQ(word(opcode, 3e9F), INT32_MAX);
    EXPECT_EQ(word(opcode, -3e9F), INT32_MIN);
    EXPECT_EQ(word(opcode, -0x1p31F), INT32_MIN);
    EXPECT_EQ(word(opcode, std::nanf("")), 0);
    EXPECT_EQ(word(opcode, -16777217.0F), -16777216);
  }
  EXPECT_EQ(word("vcvt.f32.s32", 2.5F), 2);
  EXPECT_EQ(word("vcvt.f32.s32", 3.5F), 4);
  EXPECT_EQ(word("vcvt.f32.s32.to.zero.pseudo", -2.75F), -2);
}

TEST(ConvertOpcodes, RoundingByAThreshold) {
  const auto word = [](float value, uint32_t threshold) {
    return static_cast<int32_t>(
        result_of("vcvt.pr.f32.s32", {splat(std::bit_cast<uint32_t>(value)), splat(threshold)}).word[0]);
  };
  EXPECT_EQ(word(2.999F, ~0U), 2);
  EXPECT_EQ(word(-2.999F, ~0U), -2);
  EXPECT_EQ(word(2.5F, 0x7fffffff), 3);
  EXPECT_EQ(word(-2.5F, 0x7fffffff), -3);
  EXPECT_EQ(word(2.4999998F, 0x7fffffff), 2);
  EXPECT_EQ(word(2.25F, 0x3fffffff), 3);
  EXPECT_EQ(word(2.25F, 0x40000000), 2);
  EXPECT_EQ(word(5e9F, ~0U), INT32_MAX);
}

TEST(ConvertOpcodes, PartsOfAFloat) {
  const Vreg ten = splat(std::bit_cast<uint32_t>(10.0F));
  const Vreg exponent = result_of("vf32.e.s32", {ten});
  const Vreg significand = result_of("vf32.s.s32", {ten});
  EXPECT_EQ(exponent, splat(3));
  EXPECT_EQ(significand, splat(0xa00000));
  EXPECT_EQ(result_of("vf32.f32", {significand, exponent}), ten);
}

}  // namespace
}  // namespace sapper::llo::testing
