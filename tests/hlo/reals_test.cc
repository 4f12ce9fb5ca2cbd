#include "hlo/reals.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace sapper::hlo {
namespace {

TEST(Reals, AreThoseOfEachElement) {
  for (const ElementType type : {ElementType::F64, ElementType::F32, ElementType::BF16, ElementType::F16,
                                 ElementType::F8E5M2, ElementType::S8, ElementType::U64, ElementType::Pred}) {
    Literal array(Shape::array(type, {40}));
    for (int64_t i = 0; i < 40; ++i) array.set_real(i, std::ldexp(i % 2 == 0 ? 1.75 : -1.25, static_cast<int>(i) - 20));
    std::array<double, 30> read{};
    read_reals(array, 7, read);
    for (int64_t i = 0; i < 30; ++i) EXPECT_EQ(read[static_cast<size_t>(i)], array.real_at(7 + i)) << i;
  }
}

TEST(Reals, InfinitiesAndNansStay) {
  Literal array(Shape::array(ElementType::BF16, {3}));
  array.set_real(0, HUGE_VAL);
  array.set_real(1, -HUGE_VAL);
  array.set_real(2, std::nan(""));
  std::array<double, 3> read{};
  read_reals(array, 0, read);
  EXPECT_EQ(read[0], HUGE_VAL);
  EXPECT_EQ(read[1], -HUGE_VAL);
  EXPECT_TRUE(std::isnan(read[2]));
}

}  // namespace
}  // namespace sapper::hlo
