#include <gtest/gtest.h>

#include "tests/eval/op_harness.h"

namespace sapper::eval {
namespace {

TEST(Map, AppliesItsBodyToEachElement) {
  const int64_t n = 1000;  // several blocks
  Literal a(Shape::array(ElementType::BF16, {n}));
  Literal b(Shape::array(ElementType::BF16, {n}));
  for (int64_t i = 0; i < n; ++i) {
    a.set_real(i, static_cast<double>(i % 100));
    b.set_real(i, 0.5);
  }
  const Literal operands[] = {a, b};
  const Literal result =
      must_run(instruction_of(Opcode::Map, a.shape(), {0}), {binary(Opcode::Multiply, ElementType::BF16)}, operands);
  for (int64_t i = 0; i < n; ++i) EXPECT_EQ(result.real_at(i), static_cast<double>(i % 100) / 2);
}

TEST(Map, MayChangeTheType) {
  ComputationBuilder body;
  const auto a = body.parameter(ElementType::S32);
  body.compare("LT", a, body.constant(ElementType::S32, 2));
  const Literal operands[] = {literal_of<int64_t>(ElementType::S32, {2, 2}, {0, 1, 2, 3})};
  const Literal result =
      must_run(instruction_of(Opcode::Map, Shape::array(ElementType::Pred, {2, 2}), {0, 1}), {body.build()}, operands);
  EXPECT_EQ(integers(result), (std::vector<int64_t>{1, 1, 0, 0}));
}

TEST(Map, InterpretsOtherBodies) {
  const Literal operands[] = {literal_of<int64_t>(ElementType::S8, {3}, {100, 2, 3}),
                              literal_of<int64_t>(ElementType::S8, {3}, {100, 5, 7})};
  const Literal result =
      must_run(instruction_of(Opcode::Map, operands[0].shape(), {0}), {interpreted(Opcode::Add, ElementType::S8)},
               operands, [](std::span<const Literal> arguments) -> Result<Literal> {
                 Literal sum(arguments[0].shape());
                 sum.set_integer(0, arguments[0].integer_at(0) + arguments[1].integer_at(0));
                 return sum;
               });
  EXPECT_EQ(integers(result), (std::vector<int64_t>{-56, 7, 10}));
}

TEST(Map, RefusesElementsThatDoNotFitItsBody) {
  const Literal operands[] = {literal_of<double>(ElementType::F64, {1}, {1}),
                              literal_of<double>(ElementType::F64, {1}, {1})};
  const Result<Literal> result =
      run_op(instruction_of(Opcode::Map, operands[0].shape(), {0}), {binary(Opcode::Add, ElementType::F32)}, operands);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::Unsupported);
}

// A cumulative sum with the running sum as output and as carry.
Literal scan_sums(const Literal& input, int64_t dimension, bool reverse) {
  Dims carry = input.shape().dimensions();
  carry.erase(carry.begin() + dimension);
  hlo::Instruction instruction =
      instruction_of(Opcode::Scan, Shape::tuple({input.shape(), Shape::array(ElementType::S32, carry)}), {dimension});
  instruction.edit_attributes().set_num_carries(1);
  instruction.edit_attributes().set_is_reverse(reverse);
  const Literal operands[] = {input, Literal(Shape::array(ElementType::S32, carry))};
  return must_run(instruction, {binary(Opcode::Add, ElementType::S32)}, operands,
                  [](std::span<const Literal> arguments) -> Result<Literal> {
                    Literal sum(arguments[0].shape());
                    for (int64_t i = 0; i < sum.element_count(); ++i) {
                      sum.set_integer(i, arguments[0].integer_at(i) + arguments[1].integer_at(i));
                    }
                    return Literal::tuple({sum, sum});
                  });
}

TEST(Scan, CarriesFromStepToStep) {
  const Literal input = literal_of<int64_t>(ElementType::S32, {2, 3}, {1, 2, 3, 4, 5, 6});
  const Literal rows = scan_sums(input, 1, false);
  EXPECT_EQ(integers(rows.elements()[0]), (std::vector<int64_t>{1, 3, 6, 4, 9, 15}));
  EXPECT_EQ(integers(rows.elements()[1]), (std::vector<int64_t>{6, 15}));
  const Literal columns = scan_sums(input, 0, true);
  EXPECT_EQ(integers(columns.elements()[0]), (std::vector<int64_t>{5, 7, 9, 4, 5, 6}));
  EXPECT_EQ(integers(columns.elements()[1]), (std::vector<int64_t>{5, 7, 9}));
}

}  // namespace
}  // namespace sapper::eval
