#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/eval/window_case.h"

namespace sapper::eval {
namespace {

hlo::Instruction window_instruction(const WindowCase& c, const Shape& shape) {
  hlo::Instruction instruction = instruction_of(Opcode::ReduceWindow, shape);
  *instruction.edit_attributes().mutable_window() = c.window;
  return instruction;
}

Literal draw_literal(ElementType type, const Dims& dimensions) {
  Literal literal(Shape::array(type, dimensions));
  for (int64_t i = 0; i < literal.element_count(); ++i) set_number(literal, i, draw(-100, 100));
  return literal;
}

// a * 3 + x: every order gives another value.
hlo::Computation order_matters() {
  ComputationBuilder body;
  const auto a = body.parameter(ElementType::S32);
  const auto x = body.parameter(ElementType::S32);
  const auto tripled = body.add(Opcode::Multiply, ElementType::S32, {a, body.constant(ElementType::S32, 3)});
  body.add(Opcode::Add, ElementType::S32, {tripled, x});
  return body.build();
}

RC_GTEST_PROP(ReduceWindow, FoldsWhatTheWindowCoversInOrder, ()) {
  const WindowCase c = draw_window_case();
  const Literal operands[] = {draw_literal(ElementType::S32, c.base), literal_of<int64_t>(ElementType::S32, {}, {7})};
  const Shape shape = Shape::array(ElementType::S32, c.positions);
  const Literal result = must_run(window_instruction(c, shape), {order_matters()}, operands);
  Literal expected(shape);
  for_each_index(c.positions, [&](const Dims& position) {
    uint32_t value = 7;
    c.for_each_covered(position, [&](const Dims& at) {
      value = value * 3U + static_cast<uint32_t>(operands[0].integer_at(flat(at, c.base)));
    });
    expected.set_integer(flat(position, c.positions), static_cast<int32_t>(value));
  });
  RC_ASSERT(result == expected);
}

RC_GTEST_PROP(ReduceWindow, SumsAndMaximaOfEveryKindOfWindow, ()) {
  const WindowCase c = draw_window_case();
  const bool is_sum = draw(0, 1) == 0;
  const ElementType type = *rc::gen::element(ElementType::F32, ElementType::BF16, ElementType::S8, ElementType::F64);
  const Literal operands[] = {draw_literal(type, c.base), literal_of<int64_t>(type, {}, {-5})};
  const Shape shape = Shape::array(type, c.positions);
  const Literal result =
      must_run(window_instruction(c, shape), {binary(is_sum ? Opcode::Add : Opcode::Maximum, type)}, operands);
  Literal expected(shape);
  for_each_index(c.positions, [&](const Dims& position) {
    double value = -5;  // sums of small integers: exact
    c.for_each_covered(position, [&](const Dims& at) {
      const double element = operands[0].real_at(flat(at, c.base));
      value = is_sum ? value + element : std::max(value, element);
    });
    set_number(expected, flat(position, c.positions), static_cast<int64_t>(value));
  });
  RC_ASSERT(result == expected);
}

// Windows that all start, or all end, with the data, along one dimension of several.
RC_GTEST_PROP(ReduceWindow, CumulativeWindows, ()) {
  WindowCase c;
  const auto along = static_cast<size_t>(draw(0, 2));
  const bool from_the_end = draw(0, 1) == 0;
  for (size_t d = 0; d < 3; ++d) {
    c.base.push_back(draw(1, d == along ? 9 : 20));
    proto::WindowDimension& dimension = *c.window.add_dimensions();
    dimension.set_size(d == along ? c.base[d] : 1);
    dimension.set_stride(1);
    dimension.set_base_dilation(1);
    dimension.set_window_dilation(1);
    if (d != along) continue;
    if (from_the_end) {
      dimension.set_padding_high(c.base[d] - 1);
    } else {
      dimension.set_padding_low(c.base[d] - 1);
    }
  }
  c.positions = c.base;
  const bool ordered = draw(0, 1) == 0;
  const ElementType type = ordered ? ElementType::S32 : ElementType::BF16;
  const Literal operands[] = {draw_literal(type, c.base), literal_of<int64_t>(type, {}, {1})};
  const Shape shape = Shape::array(type, c.positions);
  const Literal result = must_run(window_instruction(c, shape),
                                  {ordered ? order_matters() : binary(Opcode::Add, ElementType::BF16)}, operands);
  Literal expected(shape);
  for_each_index(c.positions, [&](const Dims& position) {
    uint32_t value = 1;
    double sum = 1;
    c.for_each_covered(position, [&](const Dims& at) {
      const int64_t i = flat(at, c.base);
      if (ordered)
        value = value * 3U + static_cast<uint32_t>(operands[0].integer_at(i));
      else
        sum += operands[0].real_at(i);
    });
    if (ordered)
      expected.set_integer(flat(position, c.positions), static_cast<int32_t>(value));
    else
      expected.set_real(flat(position, c.positions), sum);
  });
  RC_ASSERT(result == expected);
}

TEST(ReduceWindow, TakesSeveralOperands) {
  WindowCase c;
  c.base = {5};
  c.positions = {3};
  proto::WindowDimension& dimension = *c.window.add_dimensions();
  dimension.set_size(3);
  dimension.set_stride(1);
  // (a, b, x, y) -> (a + x, min(b, y))
  ComputationBuilder body;
  const auto a = body.parameter(ElementType::S32);
  const auto b = body.parameter(ElementType::S8);
  const auto x = body.parameter(ElementType::S32);
  const auto y = body.parameter(ElementType::S8);
  body.tuple({body.add(Opcode::Add, ElementType::S32, {a, x}), body.add(Opcode::Minimum, ElementType::S8, {b, y})});
  const Literal operands[] = {literal_of<int64_t>(ElementType::S32, {5}, {1, 2, 3, 4, 5}),
                              literal_of<int64_t>(ElementType::S8, {5}, {5, 4, 9, 3, 8}),
                              literal_of<int64_t>(ElementType::S32, {}, {0}),
                              literal_of<int64_t>(ElementType::S8, {}, {127})};
  const Shape shape = Shape::tuple({Shape::array(ElementType::S32, {3}), Shape::array(ElementType::S8, {3})});
  const Literal result = must_run(window_instruction(c, shape), {body.build()}, operands);
  EXPECT_EQ(integers(result.elements()[0]), (std::vector<int64_t>{6, 9, 12}));
  EXPECT_EQ(integers(result.elements()[1]), (std::vector<int64_t>{4, 3, 3}));
}

TEST(ReduceWindow, HugeWindowsCostWhatTheyCover) {
  WindowCase c;
  c.base = {4};
  c.positions = {4};
  proto::WindowDimension& dimension = *c.window.add_dimensions();
  dimension.set_size(int64_t{1} << 40);
  dimension.set_stride(1);
  dimension.set_padding_low((int64_t{1} << 40) - 1);
  const Literal operands[] = {literal_of<int64_t>(ElementType::S32, {4}, {1, 2, 3, 4}),
                              literal_of<int64_t>(ElementType::S32, {}, {0})};
  const Literal result = must_run(window_instruction(c, Shape::array(ElementType::S32, {4})),
                                  {binary(Opcode::Add, ElementType::S32)}, operands);
  EXPECT_EQ(integers(result), (std::vector<int64_t>{1, 3, 6, 10}));
}

TEST(ReduceWindow, ScalarsHaveOneWindow) {
  const Literal operands[] = {literal_of<int64_t>(ElementType::S32, {}, {4}),
                              literal_of<int64_t>(ElementType::S32, {}, {3})};
  const Literal result = must_run(window_instruction({}, Shape::scalar(ElementType::S32)),
                                  {binary(Opcode::Add, ElementType::S32)}, operands);
  EXPECT_EQ(integers(result), (std::vector<int64_t>{7}));
}

}  // namespace
}  // namespace sapper::eval
