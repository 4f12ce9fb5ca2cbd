// Float formats: every bit pattern decodes and encodes back; rounding is to nearest even; specials follow the format.
#include "hlo/element_type.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>

namespace sapper::hlo {
namespace {

constexpr ElementType small_floats[] = {
    ElementType::F16,        ElementType::BF16,     ElementType::F8E5M2,     ElementType::F8E4M3FN,
    ElementType::F8E4M3,     ElementType::F8E3M4,   ElementType::F8E4M3FNUZ, ElementType::F8E4M3B11FNUZ,
    ElementType::F8E5M2FNUZ, ElementType::F4E2M1FN, ElementType::F8E8M0FNU,
};

TEST(FloatFormat, EveryPatternRoundTrips) {
  for (const ElementType type : small_floats) {
    const FloatFormat format = *float_format(type);
    for (uint64_t bits = 0; bits < (uint64_t{1} << format.width()); ++bits) {
      const double value = decode_float(format, bits);
      const uint64_t back = encode_float(format, value);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(decode_float(format, back))) << to_string(type) << " " << bits;
      } else {
        ASSERT_EQ(back, bits) << to_string(type) << " value " << value;
      }
    }
  }
}

TEST(FloatFormat, RoundsToNearestEvenBetweenNeighbours) {
  for (const ElementType type : small_floats) {
    if (type == ElementType::F8E8M0FNU) continue;  // no mantissa: "even" is not defined by its last bit
    const FloatFormat format = *float_format(type);
    const uint64_t patterns = uint64_t{1} << (format.width() - 1);
    for (uint64_t bits = 0; bits + 1 < patterns; ++bits) {
      const double low = decode_float(format, bits);
      const double high = decode_float(format, bits + 1);
      if (!std::isfinite(low) || !std::isfinite(high)) continue;
      const double middle = (low + high) / 2;  // exact: two more bits than the format has
      EXPECT_EQ(encode_float(format, middle), bits % 2 == 0 ? bits : bits + 1) << to_string(type) << " " << middle;
      EXPECT_EQ(encode_float(format, std::nextafter(middle, low)), bits) << to_string(type) << " " << middle;
      EXPECT_EQ(encode_float(format, std::nextafter(middle, high)), bits + 1) << to_string(type) << " " << middle;
    }
  }
}

TEST(FloatFormat, OverflowFollowsTheFormat) {
  const auto convert = [](ElementType type, double value) {
    const FloatFormat format = *float_format(type);
    return decode_float(format, encode_float(format, value));
  };
  EXPECT_EQ(convert(ElementType::F16, 65504), 65504);
  EXPECT_EQ(convert(ElementType::F16, 65519.99), 65504);
  EXPECT_TRUE(std::isinf(convert(ElementType::F16, 65520)));
  EXPECT_EQ(convert(ElementType::F8E4M3FN, 464), 448);
  EXPECT_TRUE(std::isnan(convert(ElementType::F8E4M3FN, 465)));
  EXPECT_TRUE(std::isnan(convert(ElementType::F8E4M3FNUZ, 1e9)));
  EXPECT_TRUE(std::isinf(convert(ElementType::F8E5M2, -1e9)));
  EXPECT_EQ(convert(ElementType::F4E2M1FN, 1e9), 6);
  EXPECT_EQ(convert(ElementType::F4E2M1FN, -std::numeric_limits<double>::infinity()), -6);
  EXPECT_FALSE(std::signbit(convert(ElementType::F8E5M2FNUZ, -0.0)));
  EXPECT_TRUE(std::signbit(convert(ElementType::BF16, -0.0)));
}

TEST(ElementType, NamesRoundTrip) {
  for (int i = 1; i <= 34; ++i) {
    const auto type = static_cast<ElementType>(i);
    EXPECT_EQ(parse_element_type(to_string(type)), type);
  }
  EXPECT_FALSE(parse_element_type("f33").has_value());
  EXPECT_FALSE(parse_element_type("").has_value());
}

}  // namespace
}  // namespace sapper::hlo
