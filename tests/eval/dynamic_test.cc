#include <gtest/gtest.h>

#include "tests/eval/op_harness.h"

namespace sapper::eval {
namespace {

Shape bounded(const Dims& bounds, std::vector<bool> dynamic) {
  return Shape::array(ElementType::S32, bounds, std::move(dynamic), nullptr);
}

Literal counters(const Shape& shape) {
  Literal literal(shape);
  for (int64_t i = 0; i < literal.element_count(); ++i) literal.set_integer(i, i);
  return literal;
}

Literal size(int64_t value) { return literal_of<int64_t>(ElementType::S32, {}, {value}); }

TEST(SetDimensionSize, StatesTheSize) {
  const Literal operands[] = {counters(Shape::array(ElementType::S32, {2, 3})), size(2)};
  const Literal result =
      must_run(instruction_of(Opcode::SetDimensionSize, bounded({2, 3}, {false, true}), {1}), {}, operands);
  EXPECT_EQ(result.dynamic_sizes(), (Dims{2, 2}));
  EXPECT_EQ(integers(result), (std::vector<int64_t>{0, 1, 2, 3, 4, 5}));

  const Literal asked[] = {result};
  EXPECT_EQ(
      integers(must_run(instruction_of(Opcode::GetDimensionSize, Shape::scalar(ElementType::S32), {1}), {}, asked)),
      (std::vector<int64_t>{2}));
  EXPECT_EQ(
      integers(must_run(instruction_of(Opcode::GetDimensionSize, Shape::scalar(ElementType::S32), {0}), {}, asked)),
      (std::vector<int64_t>{2}));
}

TEST(SetDimensionSize, BackToTheBoundIsStatic) {
  Literal operand = counters(bounded({3}, {true}));
  operand.set_dynamic_sizes({1});
  const Literal operands[] = {operand, size(3)};
  const Literal result =
      must_run(instruction_of(Opcode::SetDimensionSize, Shape::array(ElementType::S32, {3}), {0}), {}, operands);
  EXPECT_TRUE(result.dynamic_sizes().empty());
}

TEST(SetDimensionSize, OutsideItsBoundHasNoMeaning) {
  for (const int64_t wrong : {-1, 4}) {
    const Literal operands[] = {counters(Shape::array(ElementType::S32, {3})), size(wrong)};
    const Result<Literal> result =
        run_op(instruction_of(Opcode::SetDimensionSize, bounded({3}, {true}), {0}), {}, operands);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::Unsupported);
  }
}

TEST(DynamicReshape, MovesOnlyTheElementsOfTheValue) {
  Literal operand = counters(bounded({2, 4}, {false, true}));
  operand.set_dynamic_sizes({2, 3});
  const Literal operands[] = {operand, size(3), size(2)};
  const Literal result = must_run(instruction_of(Opcode::DynamicReshape, bounded({4, 2}, {true, false})), {}, operands);
  EXPECT_EQ(result.dynamic_sizes(), (Dims{3, 2}));
  EXPECT_EQ(integers(result), (std::vector<int64_t>{0, 1, 2, 4, 5, 6, 0, 0}));
}

TEST(DynamicReshape, ToAnotherNumberOfElementsHasNoMeaning) {
  const Literal operands[] = {counters(Shape::array(ElementType::S32, {4})), size(3)};
  const Result<Literal> result = run_op(instruction_of(Opcode::DynamicReshape, bounded({4}, {true})), {}, operands);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::Unsupported);
}

}  // namespace
}  // namespace sapper::eval
