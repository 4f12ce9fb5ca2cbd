// Shape and Literal: text, equality, sizes, wrapping and sharing.
#include <gtest/gtest.h>

#include <limits>

#include "hlo/literal.h"
#include "hlo/shape.h"

namespace sapper::hlo {
namespace {

TEST(Shape, TextHasLayoutTilesAndMemorySpace) {
  auto layout = std::make_shared<Layout>(Layout::descending(2));
  layout->tiles = {Tile{{8, 128}}, Tile{{2, 1}}};
  layout->memory_space = 1;
  const Shape shape = Shape::array(ElementType::BF16, {16, 256}, {}, layout);
  EXPECT_EQ(shape.to_text(), "bf16[16,256]{1,0:T(8,128)(2,1)S(1)}");
  EXPECT_EQ(shape.to_text(false), "bf16[16,256]");
  EXPECT_EQ(shape.without_layout().to_text(), "bf16[16,256]");
  EXPECT_TRUE(shape.same_ignoring_layout(shape.without_layout()));
  EXPECT_FALSE(shape == shape.without_layout());
}

TEST(Shape, TextOfDynamicTupleAndToken) {
  const Shape dynamic = Shape::array(ElementType::F32, {4, 3}, {false, true}, nullptr);
  EXPECT_EQ(Shape::tuple({dynamic, Shape::token(), Shape::tuple({})}).to_text(), "(f32[4,<=3], token[], ())");
  EXPECT_TRUE(Shape::tuple({dynamic}).is_dynamic());
  EXPECT_FALSE(Shape::array(ElementType::F32, {4}, {false}, nullptr).is_dynamic());
}

TEST(Shape, CountsSaturate) {
  const Shape huge = Shape::array(ElementType::F32, {int64_t{1} << 40, int64_t{1} << 40});
  EXPECT_EQ(huge.element_count(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(huge.host_byte_size(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(Shape::array(ElementType::F32, {int64_t{1} << 40, 0, int64_t{1} << 40}).element_count(), 0);
  EXPECT_EQ(Shape::scalar(ElementType::C128).host_byte_size(), 16);
}

TEST(Literal, IntegersWrapAtTheirOwnWidth) {
  Literal s4(Shape::array(ElementType::S4, {3}));
  s4.set_integer(0, 7);
  s4.set_integer(1, 8);
  s4.set_integer(2, -9);
  EXPECT_EQ(s4.integer_at(0), 7);
  EXPECT_EQ(s4.integer_at(1), -8);
  EXPECT_EQ(s4.integer_at(2), 7);
  Literal u4(Shape::array(ElementType::U4, {1}));
  u4.set_integer(0, -1);
  EXPECT_EQ(u4.integer_at(0), 15);
}

TEST(Literal, WritingCopiesSharedBytes) {
  Literal a(Shape::array(ElementType::F32, {2}));
  const Literal b = a;
  EXPECT_EQ(a.bytes().data(), b.bytes().data());
  a.set_real(1, 2.5);
  EXPECT_EQ(a.real_at(1), 2.5);
  EXPECT_EQ(b.real_at(1), 0);
  EXPECT_FALSE(a == b);
}

TEST(Literal, LeavesOfNestedTuples) {
  const Literal one(Shape::scalar(ElementType::S32));
  const Literal nested = Literal::tuple({one, Literal::tuple({one, Literal::tuple({})}), Literal(Shape::token())});
  EXPECT_EQ(leaves(nested).size(), 3U);
}

}  // namespace
}  // namespace sapper::hlo
