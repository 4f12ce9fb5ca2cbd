// What counts as equal, and what a difference reports.
#include "numerics/compare.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

namespace sapper::numerics {
namespace {

using hlo::ElementType;
using hlo::Literal;
using hlo::Shape;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float inf = std::numeric_limits<float>::infinity();

Literal array(ElementType type, const std::vector<double>& values) {
  Literal literal(Shape::array(type, {static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i) literal.set_real(static_cast<int64_t>(i), values[i]);
  return literal;
}

TEST(Compare, NanZeroAndInfinityAgreeByKind) {
  const Literal a = array(ElementType::F32, {nan, -0.0, inf, -inf});
  const Literal b = array(ElementType::F32, {-nan, 0.0, inf, -inf});
  EXPECT_EQ(compare(a, b, {}).mismatches, 0);
  const Literal c = array(ElementType::F32, {0, nan, -inf, 1e38});
  const Difference difference = compare(c, b, {1e30, 1e30, 1e30, 1e30});
  EXPECT_EQ(difference.mismatches, 4) << "no tolerance makes a non-finite value agree with another";
}

TEST(Compare, ReportsWorstIndexValuesAndBox) {
  Literal expected(Shape::array(ElementType::F32, {4, 5}));
  for (int64_t i = 0; i < 20; ++i) expected.set_real(i, 1.0 + static_cast<double>(i));
  Literal got = expected;
  got.set_real(7, 8.5);     // [1,2]
  got.set_real(18, 19.25);  // [3,3]
  const Difference difference = compare(got, expected, {});
  EXPECT_EQ(difference.elements, 20);
  EXPECT_EQ(difference.mismatches, 2);
  EXPECT_EQ(difference.worst_index, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(difference.got, "8.5");
  EXPECT_EQ(difference.expected, "8");
  EXPECT_DOUBLE_EQ(difference.worst_relative, 0.0625);
  EXPECT_EQ(difference.box_low, (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(difference.box_high, (std::vector<int64_t>{3, 3}));
}

TEST(Compare, UlpsAreOfTheElementType) {
  const Literal expected = array(ElementType::BF16, {1.0});
  const Literal got = array(ElementType::BF16, {1.0078125});
  EXPECT_EQ(compare(got, expected, {.ulps = 1}).mismatches, 0);
  EXPECT_EQ(compare(got, expected, {.ulps = 0.5}).mismatches, 1);
  EXPECT_EQ(ulp_distance(ElementType::F32, 1.0, std::nextafterf(1.0F, 2.0F)), 1);
  EXPECT_EQ(ulp_distance(ElementType::F32, 0.0, std::numeric_limits<float>::denorm_min()), 1);
}

TEST(Compare, SixtyFourBitIntegersAreExact) {
  Literal expected(Shape::array(ElementType::U64, {1}));
  Literal got = expected;
  expected.set_integer(0, std::numeric_limits<int64_t>::min());  // 2^63
  got.set_integer(0, std::numeric_limits<int64_t>::min() + 1);
  const Difference difference = compare(got, expected, {});
  EXPECT_EQ(difference.mismatches, 1);
  EXPECT_EQ(difference.worst_absolute, 1);
  EXPECT_EQ(difference.got, "9223372036854775809");
}

TEST(Compare, CountsFlushedSubnormals) {
  const Literal expected = array(ElementType::F32, {1e-40, 1e-40, 1.0});
  const Literal got = array(ElementType::F32, {0, 2e-40, 1.0});
  const Difference difference = compare(got, expected, {});
  EXPECT_EQ(difference.mismatches, 2);
  EXPECT_EQ(difference.flushed, 1);
}

TEST(Compare, ScaledIsAFractionOfTheLargestReference) {
  const Literal expected = array(ElementType::F32, {1000.0, 0.001, inf});
  const Literal got = array(ElementType::F32, {1000.0, 0.1, inf});
  EXPECT_EQ(compare(got, expected, {.scaled = 1e-4}).mismatches, 0);
  EXPECT_EQ(compare(got, expected, {.scaled = 1e-5}).mismatches, 1);
}

RC_GTEST_PROP(Compare, AgreesExactlyWhenEveryElementDoes, (std::vector<float> values, std::vector<uint8_t> flips)) {
  Literal expected(Shape::array(ElementType::F32, {static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i) expected.set_real(static_cast<int64_t>(i), values[i]);
  Literal got = expected;
  int64_t changed = 0;
  for (size_t i = 0; i < values.size() && i < flips.size(); ++i) {
    if (flips[i] % 3 != 0 || !std::isfinite(values[i])) continue;
    got.set_real(static_cast<int64_t>(i), std::nextafterf(values[i], inf));
    ++changed;
  }
  RC_ASSERT(compare(got, expected, {}).mismatches == changed);
}

}  // namespace
}  // namespace sapper::numerics
