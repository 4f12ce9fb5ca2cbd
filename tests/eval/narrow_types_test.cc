// Lanes of types narrower than their lane, against the definitions of the formats (hlo/element_type.h).
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "eval/lane_function.h"
#include "hlo/element_type.h"

namespace sapper::eval {
namespace {

using hlo::ElementType;

class NarrowFloats : public testing::TestWithParam<ElementType> {
 protected:
  ElementType type = GetParam();
  hlo::FloatFormat format = *hlo::float_format(type);
  size_t patterns = size_t{1} << format.width();

  [[nodiscard]] std::vector<float> decoded() const {
    std::vector<float> values;
    for (size_t bits = 0; bits < patterns; ++bits)
      values.push_back(static_cast<float>(hlo::decode_float(format, bits)));
    return values;
  }
  [[nodiscard]] std::vector<float> loaded() const {
    std::vector<float> values(patterns);
    if (hlo::host_bytes(type) == 1) {
      std::vector<uint8_t> stored(patterns);
      for (size_t bits = 0; bits < patterns; ++bits) stored[bits] = static_cast<uint8_t>(bits);
      load_lanes(type)(patterns, values.data(), stored.data(), nullptr, nullptr, 0);
    } else {
      std::vector<uint16_t> stored(patterns);
      for (size_t bits = 0; bits < patterns; ++bits) stored[bits] = static_cast<uint16_t>(bits);
      load_lanes(type)(patterns, values.data(), stored.data(), nullptr, nullptr, 0);
    }
    return values;
  }
};

bool same(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

TEST_P(NarrowFloats, LoadGivesTheValueOfEveryPattern) {
  const std::vector<float> expected = decoded();
  const std::vector<float> got = loaded();
  for (size_t bits = 0; bits < patterns; ++bits)
    ASSERT_TRUE(same(got[bits], expected[bits])) << bits << ": " << got[bits];
}

TEST_P(NarrowFloats, StoreGivesThePatternOfEveryValue) {
  const std::vector<float> values = decoded();
  std::vector<uint16_t> words(patterns);
  std::vector<uint8_t> bytes(patterns);
  const bool one_byte = hlo::host_bytes(type) == 1;
  store_lanes(type)(patterns, one_byte ? static_cast<void*>(bytes.data()) : words.data(), values.data(), nullptr,
                    nullptr, 0);
  for (size_t bits = 0; bits < patterns; ++bits) {
    const size_t got = one_byte ? bytes[bits] : words[bits];
    if (std::isnan(values[bits])) {
      ASSERT_TRUE(std::isnan(hlo::decode_float(format, got))) << bits;
    } else {
      ASSERT_EQ(got, bits) << values[bits];
    }
  }
}

TEST_P(NarrowFloats, NarrowRoundsToNearestEven) {
  std::vector<float> samples;
  const std::vector<float> values = decoded();
  const size_t step = patterns > 256 ? 31 : 1;
  for (size_t i = 0; i + 1 < values.size(); i += step) {
    const float middle = 0.5F * values[i] + 0.5F * values[i + 1];  // often a tie
    for (const float x : {values[i], middle, std::nextafterf(middle, 0.0F), std::nextafterf(middle, INFINITY)})
      samples.push_back(x);
  }
  std::mt19937 random(4);
  for (int i = 0; i < 20000; ++i) samples.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
  for (const float x : {0.0F, -0.0F, 1e-45F, 3.4028235e38F, INFINITY, -INFINITY, NAN}) samples.push_back(x);
  std::vector<float> narrowed(samples.size());
  narrow_lanes(type)(samples.size(), narrowed.data(), samples.data(), nullptr, nullptr, 0);
  for (size_t i = 0; i < samples.size(); ++i) {
    const auto expected = static_cast<float>(hlo::decode_float(format, hlo::encode_float(format, samples[i])));
    ASSERT_TRUE(same(narrowed[i], expected)) << samples[i] << " becomes " << narrowed[i] << ", not " << expected;
  }
}

INSTANTIATE_TEST_SUITE_P(Evaluator, NarrowFloats,
                         testing::Values(ElementType::F16, ElementType::BF16, ElementType::F8E5M2, ElementType::F8E4M3,
                                         ElementType::F8E3M4, ElementType::F8E4M3FN, ElementType::F8E4M3B11FNUZ,
                                         ElementType::F8E4M3FNUZ, ElementType::F8E5M2FNUZ, ElementType::F4E2M1FN,
                                         ElementType::F8E8M0FNU),
                         [](const testing::TestParamInfo<ElementType>& test) {
                           return std::string(hlo::to_string(test.param));
                         });

TEST(NarrowIntegers, Wrap) {
  const auto wrap = [](ElementType type, int8_t value) {
    int8_t lane = value;
    narrow_lanes(type)(1, &lane, &lane, nullptr, nullptr, 0);
    return static_cast<int>(lane);
  };
  EXPECT_EQ(wrap(ElementType::S4, 8), -8);
  EXPECT_EQ(wrap(ElementType::S4, -9), 7);
  EXPECT_EQ(wrap(ElementType::U4, 17), 1);
  EXPECT_EQ(wrap(ElementType::U4, -1), 15);
  EXPECT_EQ(wrap(ElementType::S2, 2), -2);
  EXPECT_EQ(wrap(ElementType::U2, 5), 1);
  EXPECT_EQ(wrap(ElementType::S1, 1), -1);
  EXPECT_EQ(wrap(ElementType::U1, 3), 1);
}

// Two roundings, f64 to f32 and on to bf16, would give another value: the first lands on a tie.
TEST(Converts, RoundOnce) {
  const LaneOperation convert = convert_lanes(ElementType::F64, ElementType::BF16);
  const double above_tie = 1.0 + 0x1p-8 + 0x1p-40;
  const double below_tie = 1.0 + 0x1p-7 + 0x1p-8 - 0x1p-40;
  float result = 0;
  convert.apply(1, &result, &above_tie);
  EXPECT_EQ(result, 1.0F + 0x1p-7F);
  convert.apply(1, &result, &below_tie);
  EXPECT_EQ(result, 1.0F + 0x1p-7F);
}

}  // namespace
}  // namespace sapper::eval
