#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/eval/index_case.h"
#include "tests/eval/op_harness.h"

namespace sapper::eval {
namespace {

struct ReduceCase {
  Dims operand;
  Dims reduced;
  Dims result;
};

ReduceCase draw_reduce_case() {
  ReduceCase c;
  const int64_t rank = draw(0, 4);
  for (int64_t d = 0; d < rank; ++d) {
    c.operand.push_back(draw(0, 12) == 0 ? 0 : draw(1, d == 1 ? 150 : 4));
    if (draw(0, 1) == 0) {
      c.reduced.push_back(d);
    } else {
      c.result.push_back(c.operand.back());
    }
  }
  return c;
}

// Calls visit(result element, operand element) in the operand's order.
template <class Visit>
void for_each_element(const ReduceCase& c, Visit&& visit) {
  for_each_index(c.operand, [&](const Dims& index) {
    Dims kept;
    for (size_t d = 0; d < index.size(); ++d) {
      if (std::find(c.reduced.begin(), c.reduced.end(), static_cast<int64_t>(d)) == c.reduced.end()) {
        kept.push_back(index[d]);
      }
    }
    visit(flat(kept, c.result), flat(index, c.operand));
  });
}

Literal draw_integers(ElementType type, const Dims& dimensions) {
  Literal literal(Shape::array(type, dimensions));
  for (int64_t i = 0; i < literal.element_count(); ++i) literal.set_integer(i, draw(-100, 100));
  return literal;
}

Literal scalar(ElementType type, double value) { return literal_of<double>(type, {}, {value}); }

RC_GTEST_PROP(Reduce, FoldsInRowMajorOrderFromInit, ()) {
  const ReduceCase c = draw_reduce_case();
  // a * 3 + x: every order gives another value.
  ComputationBuilder body;
  const auto a = body.parameter(ElementType::S32);
  const auto x = body.parameter(ElementType::S32);
  const auto tripled = body.add(Opcode::Multiply, ElementType::S32, {a, body.constant(ElementType::S32, 3)});
  body.add(Opcode::Add, ElementType::S32, {tripled, x});
  const Literal operands[] = {draw_integers(ElementType::S32, c.operand), scalar(ElementType::S32, 7)};
  const Shape shape = Shape::array(ElementType::S32, c.result);
  const Literal result = must_run(instruction_of(Opcode::Reduce, shape, c.reduced), {body.build()}, operands);

  Literal expected(shape);
  for (int64_t i = 0; i < expected.element_count(); ++i) expected.set_integer(i, 7);
  for_each_element(c, [&](int64_t r, int64_t e) {
    const auto next =
        static_cast<uint32_t>(expected.integer_at(r)) * 3U + static_cast<uint32_t>(operands[0].integer_at(e));
    expected.set_integer(r, static_cast<int32_t>(next));
  });
  RC_ASSERT(result == expected);
}

RC_GTEST_PROP(Reduce, CarriesFloatSumsAndProductsInDouble, ()) {
  const ReduceCase c = draw_reduce_case();
  const ElementType type =
      *rc::gen::element(ElementType::F32, ElementType::BF16, ElementType::F16, ElementType::F8E5M2);
  const bool is_sum = draw(0, 1) == 0;
  Literal operand(Shape::array(type, c.operand));
  for (int64_t i = 0; i < operand.element_count(); ++i)
    operand.set_real(i, 1 + static_cast<double>(draw(-50, 50)) / 64);
  const Literal operands[] = {operand, scalar(type, 0.5)};
  const Shape shape = Shape::array(type, c.result);
  const Literal result = must_run(instruction_of(Opcode::Reduce, shape, c.reduced),
                                  {binary(is_sum ? Opcode::Add : Opcode::Multiply, type)}, operands);

  std::vector<double> wide(static_cast<size_t>(shape.element_count()), 0.5);
  for_each_element(c, [&](int64_t r, int64_t e) {
    double& value = wide[static_cast<size_t>(r)];
    value = is_sum ? value + operand.real_at(e) : value * operand.real_at(e);
  });
  Literal expected(shape);
  for (int64_t i = 0; i < expected.element_count(); ++i) expected.set_real(i, wide[static_cast<size_t>(i)]);
  RC_ASSERT(result == expected);
}

RC_GTEST_PROP(Reduce, InterpretsOtherBodies, ()) {
  const ReduceCase c = draw_reduce_case();
  const Literal operands[] = {draw_integers(ElementType::S16, c.operand), scalar(ElementType::S16, 3)};
  const Shape shape = Shape::array(ElementType::S16, c.result);
  const hlo::Instruction instruction = instruction_of(Opcode::Reduce, shape, c.reduced);
  const Literal compiled = must_run(instruction, {binary(Opcode::Subtract, ElementType::S16)}, operands);
  const Literal result = must_run(instruction, {interpreted(Opcode::Subtract, ElementType::S16)}, operands,
                                  [](std::span<const Literal> arguments) -> Result<Literal> {
                                    Literal value(arguments[0].shape());
                                    value.set_integer(0, arguments[0].integer_at(0) - arguments[1].integer_at(0));
                                    return value;
                                  });
  RC_ASSERT(result == compiled);
}

TEST(Reduce, ReportsWhatTheInterpreterReports) {
  const Literal operands[] = {literal_of<int64_t>(ElementType::S32, {3}, {1, 2, 3}), scalar(ElementType::S32, 0)};
  const Result<Literal> result =
      run_op(instruction_of(Opcode::Reduce, Shape::scalar(ElementType::S32), {0}),
             {interpreted(Opcode::Add, ElementType::S32)}, operands,
             [](std::span<const Literal>) -> Result<Literal> { return fail(ErrorKind::Unsupported, "not evaluated"); });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::Unsupported);
}

// jax's argmax: larger value, or NaN, or the lower index of equal ones.
hlo::Computation argmax_body() {
  ComputationBuilder body;
  const auto value = body.parameter(ElementType::F32);
  const auto index = body.parameter(ElementType::S32);
  const auto other = body.parameter(ElementType::F32);
  const auto other_index = body.parameter(ElementType::S32);
  const auto greater = body.compare("GT", value, other);
  const auto is_nan = body.compare("NE", value, value);
  const auto pick = body.add(Opcode::Or, ElementType::Pred, {greater, is_nan});
  const auto equal = body.compare("EQ", value, other);
  const auto lower = body.compare("LT", index, other_index);
  const auto tie = body.add(Opcode::And, ElementType::Pred, {equal, lower});
  const auto pick_index = body.add(Opcode::Or, ElementType::Pred, {pick, tie});
  const auto best = body.add(Opcode::Select, ElementType::F32, {pick, value, other});
  const auto best_index = body.add(Opcode::Select, ElementType::S32, {pick_index, index, other_index});
  body.tuple({best, best_index});
  return body.build();
}

TEST(Reduce, TakesSeveralOperands) {
  const Literal values = literal_of<double>(ElementType::F32, {2, 4}, {1, 5, 5, 2, 7, NAN, 8, 7});
  const Literal indices = literal_of<int64_t>(ElementType::S32, {2, 4}, {0, 1, 2, 3, 0, 1, 2, 3});
  const Literal operands[] = {values, indices, scalar(ElementType::F32, -INFINITY), scalar(ElementType::S32, 0)};
  const Shape shape = Shape::tuple({Shape::array(ElementType::F32, {2}), Shape::array(ElementType::S32, {2})});
  const Literal result = must_run(instruction_of(Opcode::Reduce, shape, {1}), {argmax_body()}, operands);
  EXPECT_EQ(result.elements()[0].real_at(0), 5);
  EXPECT_TRUE(std::isnan(result.elements()[0].real_at(1)));
  EXPECT_EQ(integers(result.elements()[1]), (std::vector<int64_t>{1, 1}));
}

TEST(Reduce, EmptyDimensionsGiveInit) {
  const Literal operands[] = {Literal(Shape::array(ElementType::F32, {2, 0})), scalar(ElementType::F32, 4)};
  const Literal result = must_run(instruction_of(Opcode::Reduce, Shape::array(ElementType::F32, {2}), {1}),
                                  {binary(Opcode::Add, ElementType::F32)}, operands);
  EXPECT_EQ(reals(result), (std::vector<double>{4, 4}));
}

TEST(Reduce, LeavesOutElementsPastTheDynamicSize) {
  Literal operand = literal_of<int64_t>(ElementType::S32, {2, 3}, {1, 2, 3, 4, 5, 6});
  operand.set_dynamic_sizes({2, 2});
  const Literal operands[] = {operand, scalar(ElementType::S32, 0)};
  const Literal rows = must_run(instruction_of(Opcode::Reduce, Shape::array(ElementType::S32, {2}), {1}),
                                {binary(Opcode::Add, ElementType::S32)}, operands);
  EXPECT_EQ(integers(rows), (std::vector<int64_t>{3, 9}));
  const Literal columns = must_run(instruction_of(Opcode::Reduce, Shape::array(ElementType::S32, {3}), {0}),
                                   {binary(Opcode::Add, ElementType::S32)}, operands);
  EXPECT_EQ(columns.dynamic_sizes(), (Dims{2}));
  EXPECT_EQ(columns.integer_at(1), 7);
}

TEST(Reduce, RoundsToAResultNarrowerThanTheReducer) {
  const Literal operands[] = {literal_of<double>(ElementType::BF16, {3}, {256, 1, 1}), scalar(ElementType::F32, 0)};
  const Literal result = must_run(instruction_of(Opcode::Reduce, Shape::scalar(ElementType::BF16), {0}),
                                  {binary(Opcode::Add, ElementType::F32)}, operands);
  EXPECT_EQ(result.real_at(0), 258);
}

TEST(Reduce, ComplexSumsAreCarriedInDouble) {
  Literal operand(Shape::array(ElementType::C64, {3}));
  operand.set_complex(0, {0x1p30, 1});
  operand.set_complex(1, {1, 2});
  operand.set_complex(2, {-0x1p30, 3});
  const Literal operands[] = {operand, Literal(Shape::scalar(ElementType::C64))};
  const Literal result = must_run(instruction_of(Opcode::Reduce, Shape::scalar(ElementType::C64), {0}),
                                  {binary(Opcode::Add, ElementType::C64)}, operands);
  EXPECT_EQ(result.complex_at(0), std::complex<double>(1, 6));
}

}  // namespace
}  // namespace sapper::eval
