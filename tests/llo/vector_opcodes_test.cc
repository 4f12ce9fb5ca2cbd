// Vector arithmetic, compares and masks against the host's, and what of a result is undefined.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "tests/llo/random_vreg.h"
#include "tests/llo/single_instruction.h"

namespace sapper::llo::testing {
namespace {

float as_float(uint32_t bits) { return std::bit_cast<float>(bits); }
uint32_t as_bits(float value) { return std::bit_cast<uint32_t>(value); }

Surroundings without_flush() {
  Surroundings with;
  with.options.flush_subnormals = false;
  return with;
}

// Every word of `opcode` of random registers is `expected(a, b)`.
template <class Expected>
void expect_words(std::string_view opcode, Expected expected) {
  std::mt19937 random(*rc::gen::arbitrary<uint32_t>());
  const Vreg a = telling_vreg(random);
  const Vreg b = telling_vreg(random);
  const Vreg result = result_of(opcode, {a, b}, without_flush());
  for (int i = 0; i < kVregWords; ++i) {
    const uint32_t want = expected(a.word[i], b.word[i]);
    const bool both_nan = std::isnan(as_float(want)) && std::isnan(as_float(result.word[i]));
    if (result.word[i] != want && !both_nan)
      RC_LOG() << opcode << std::hex << " of " << a.word[i] << ", " << b.word[i] << " is " << result.word[i];
    RC_ASSERT(result.word[i] == want || both_nan);
  }
}

RC_GTEST_PROP(VectorOpcodes, FloatArithmeticIsTheHosts, ()) {
  expect_words("vadd.f32", [](uint32_t a, uint32_t b) { return as_bits(as_float(a) + as_float(b)); });
  expect_words("vsub.f32", [](uint32_t a, uint32_t b) { return as_bits(as_float(a) - as_float(b)); });
  expect_words("vmul.f32", [](uint32_t a, uint32_t b) { return as_bits(as_float(a) * as_float(b)); });
}

RC_GTEST_PROP(VectorOpcodes, IntegerArithmeticIsTheHosts, ()) {
  expect_words("vadd.s32", [](uint32_t a, uint32_t b) { return a + b; });
  expect_words("vsub.s32", [](uint32_t a, uint32_t b) { return a - b; });
  expect_words("vmul.u32", [](uint32_t a, uint32_t b) { return a * b; });
  expect_words("vmax.u32", [](uint32_t a, uint32_t b) { return std::max(a, b); });
  expect_words("vand.u32.u8", [](uint32_t a, uint32_t b) { return a & b; });
  expect_words("vor.u32", [](uint32_t a, uint32_t b) { return a | b; });
  expect_words("vxor.u32", [](uint32_t a, uint32_t b) { return a ^ b; });
}

RC_GTEST_PROP(VectorOpcodes, ShiftsByMoreThanTheWordEmptyIt, ()) {
  expect_words("vshll.u32", [](uint32_t a, uint32_t n) { return n < 32 ? a << n : 0; });
  expect_words("vshrl.u32", [](uint32_t a, uint32_t n) { return n < 32 ? a >> n : 0; });
  expect_words("vshra.s32.s4", [](uint32_t a, uint32_t n) {
    return static_cast<uint32_t>(static_cast<int64_t>(static_cast<int32_t>(a)) >> std::min(n, 63U));
  });
}

RC_GTEST_PROP(VectorOpcodes, BitsAreCounted, ()) {
  std::mt19937 random(*rc::gen::arbitrary<uint32_t>());
  const Vreg a = telling_vreg(random);
  const Vreg zeros = result_of("vclz", {a});
  const Vreg ones = result_of("vpcnt", {a});
  for (int i = 0; i < kVregWords; ++i) {
    RC_ASSERT(zeros.word[i] == static_cast<uint32_t>(std::countl_zero(a.word[i])));
    RC_ASSERT(ones.word[i] == static_cast<uint32_t>(std::popcount(a.word[i])));
  }
}

TEST(VectorOpcodes, LargerAndSmallerKeepNan) {
  const float nan = std::nanf("");
  const auto word = [](std::string_view opcode, float a, float b) {
    return as_float(result_of(opcode, {splat(as_bits(a)), splat(as_bits(b))}).word[5]);
  };
  EXPECT_TRUE(std::isnan(word("vmax.f32", nan, 1)));
  EXPECT_TRUE(std::isnan(word("vmax.f32", 1, nan)));
  EXPECT_TRUE(std::isnan(word("vmin.f32", nan, 1)));
  EXPECT_TRUE(std::isnan(word("vmin.f32", 1, nan)));
  EXPECT_EQ(word("vmax.f32", -3, 1), 1);
  EXPECT_EQ(word("vmin.f32", -3, 1), -3);
  EXPECT_EQ(word("vclamps.f32", -3, 2), -2);
  EXPECT_EQ(word("vclamp.gez.f32", -3, 2), 0);
  EXPECT_EQ(word("vclamp.gez.f32", 3, 2), 2);
}

TEST(VectorOpcodes, SubnormalsAreFlushedWhereAsked) {
  const Vreg smallest = splat(1);
  const Vreg half = splat(as_bits(0.5F));
  const Vreg least_normal = splat(0x00800000);
  EXPECT_EQ(result_of("vadd.f32", {smallest, smallest}, without_flush()), splat(2));
  EXPECT_EQ(result_of("vadd.f32", {smallest, smallest}), splat(0));
  EXPECT_EQ(result_of("vmul.f32", {least_normal, half}, without_flush()), splat(0x00400000));
  EXPECT_EQ(result_of("vmul.f32", {least_normal, half}), splat(0));
  EXPECT_EQ(result_of("vor.u32", {smallest, splat(0)}), smallest);  // bits are bits
}

TEST(VectorOpcodes, WideProducts) {
  const Vreg a = splat(0xfedcba98);
  const Vreg b = splat(0x12345678);
  const uint64_t product = 0xfedcba98ULL * 0x12345678ULL;
  EXPECT_EQ(result_of("vmul.u32.u64.low", {a, b}), splat(static_cast<uint32_t>(product)));
  EXPECT_EQ(result_of("vmul.u32.u64.high", {a, b, splat(0)}), splat(static_cast<uint32_t>(product >> 32)));
  EXPECT_EQ(result_of("vmul.u32.u64.compose", {a, b}), splat(static_cast<uint32_t>(product)));
}

// --- compares

template <class T, class Holds>
void expect_compare(std::string_view opcode, Holds holds) {
  std::mt19937 random(*rc::gen::arbitrary<uint32_t>());
  const Vreg a = telling_vreg(random);
  Vreg b = telling_vreg(random);
  for (int i = 0; i < kVregWords; i += 3) b.word[i] = a.word[i];
  const Vreg result = result_of(opcode, {a, b}, without_flush());
  constexpr int lanes = kVregWords * 4 / sizeof(T);
  const auto* x = reinterpret_cast<const char*>(a.word);
  const auto* y = reinterpret_cast<const char*>(b.word);
  const auto* mask = reinterpret_cast<const unsigned char*>(result.word);
  for (int i = 0; i < lanes; ++i) {
    T left;
    T right;
    std::memcpy(&left, x + static_cast<size_t>(i) * sizeof(T), sizeof(T));
    std::memcpy(&right, y + static_cast<size_t>(i) * sizeof(T), sizeof(T));
    for (size_t byte = 0; byte < sizeof(T); ++byte)
      RC_ASSERT(mask[static_cast<size_t>(i) * sizeof(T) + byte] == (holds(left, right) ? 0xff : 0));
  }
}

RC_GTEST_PROP(CompareOpcodes, AreTheHosts, ()) {
  expect_compare<float>("vcmp.eq.f32.partialorder", [](float a, float b) { return a == b; });
  expect_compare<float>("vcmp.ne.f32.partialorder", [](float a, float b) { return a != b; });
  expect_compare<float>("vcmp.lt.f32.partialorder", [](float a, float b) { return a < b; });
  expect_compare<float>("vcmp.ge.f32.partialorder", [](float a, float b) { return a >= b; });
  expect_compare<int32_t>("vcmp.lt.s32.totalorder", [](int32_t a, int32_t b) { return a < b; });
  expect_compare<int32_t>("vcmp.ge.s32.totalorder", [](int32_t a, int32_t b) { return a >= b; });
  expect_compare<uint32_t>("vcmp.lt.u32.totalorder", [](uint32_t a, uint32_t b) { return a < b; });
  expect_compare<int16_t>("vcmp.gt.s16.totalorder", [](int16_t a, int16_t b) { return a > b; });
  expect_compare<uint8_t>("vcmp.le.u8.totalorder", [](uint8_t a, uint8_t b) { return a <= b; });
  expect_compare<uint32_t>("vc.u32", [](uint32_t a, uint32_t b) { return uint64_t{a} + b > UINT32_MAX; });
}

TEST(CompareOpcodes, TotalOrderOfFloats) {
  const uint32_t ascending[] = {0xffc00000, 0xff800000, 0xbf800000, 0x80000001, 0x80000000,
                                0x00000000, 0x00000001, 0x3f800000, 0x7f800000, 0x7fc00000};
  for (size_t i = 0; i + 1 < std::size(ascending); ++i)
    EXPECT_EQ(result_of("vcmp.lt.f32.totalorder", {splat(ascending[i]), splat(ascending[i + 1])}), splat(~0U)) << i;
}

TEST(CompareOpcodes, Classes) {
  for (const uint32_t weird : {0x7f800000U, 0xff800000U, 0x7fc00001U})
    EXPECT_EQ(result_of("vweird.f32", {splat(weird)}), splat(~0U));
  EXPECT_EQ(result_of("vweird.f32", {splat(0x7f7fffff)}), splat(0));
  EXPECT_EQ(result_of("vnez.u8", {splat(0x00100001)}), splat(0x00ff00ff));
}

// --- masks

TEST(MaskOpcodes, RectangleOfACmask) {
  const auto mask = [](uint32_t first_sublane, uint32_t first_lane, uint32_t last_sublane, uint32_t last_lane) {
    Surroundings with;
    with.scalars = {first_sublane | first_lane << 3 | last_sublane << 10 | last_lane << 13};
    return result_of("vcmask", {}, with);
  };
  const Vreg inside = mask(2, 5, 4, 60);
  const Vreg around = mask(6, 0, 1, 127);
  for (int s = 0; s < kSublanes; ++s)
    for (int l = 0; l < kLanes; ++l) {
      EXPECT_EQ(inside.word[s * kLanes + l], s >= 2 && s <= 4 && l >= 5 && l <= 60 ? ~0U : 0U);
      EXPECT_EQ(around.word[s * kLanes + l], s >= 6 || s <= 1 ? ~0U : 0U);
    }
}

TEST(MaskOpcodes, FirstSublanesOfASmask) {
  const Vreg five = result_of("vsmask", {splat(0x000a000a)});
  for (int i = 0; i < kVregWords; ++i) EXPECT_EQ(five.word[i], i / kLanes < 5 ? ~0U : 0U);
}

TEST(MaskOpcodes, AnUndefinedMaskBetweenEqualValuesDoesNoHarm) {
  const Value unknown{splat(0), splat(~0U)};
  const Value nine{splat(9), {}};
  const Value eight{splat(8), {}};
  const std::vector<Value> same = run("vsel", {unknown, nine, nine});
  ASSERT_EQ(same.size(), 1U);
  EXPECT_EQ(same[0], nine);
  const std::vector<Value> different = run("vsel", {unknown, nine, eight});
  ASSERT_EQ(different.size(), 1U);
  EXPECT_EQ(different[0].undefined, splat(1));
}

TEST(MaskOpcodes, WhatASelectLeavesOutNeedNotBeDefined) {
  const Value mask{splat(~0U), {}};
  const Value chosen{splat(7), {}};
  const Value left_out{splat(1), splat(~0U)};
  EXPECT_EQ(run("vsel.s32", {mask, chosen, left_out})[0], chosen);
  EXPECT_EQ(run("vsel.s32", {mask, left_out, chosen})[0].undefined, splat(~0U));
}

TEST(MaskOpcodes, DefinedZerosDecideAnAndAndOnesAnOr) {
  const Value unknown{splat(0), splat(0xffff)};
  const Value low_byte{splat(0x00ff), {}};
  EXPECT_EQ(run("vand.u32", {unknown, low_byte})[0].undefined, splat(0x00ff));
  EXPECT_EQ(run("vor.u32", {unknown, low_byte})[0].undefined, splat(0xff00));
  EXPECT_EQ(run("vshll.u32", {unknown, Value{splat(8), {}}})[0].undefined, splat(0xffff00));
  EXPECT_EQ(run("vadd.s32", {unknown, low_byte})[0].undefined, splat(~0U));
}

}  // namespace
}  // namespace sapper::llo::testing
