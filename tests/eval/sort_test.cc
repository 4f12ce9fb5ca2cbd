#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "eval/scalar_program.h"
#include "eval/sort_key.h"
#include "tests/eval/index_case.h"

namespace sapper::eval {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

hlo::Computation comparator(ElementType type, const std::string& direction, const std::string& order = "") {
  ComputationBuilder body;
  const auto a = body.parameter(type);
  const auto b = body.parameter(type);
  body.compare(direction, a, b, order);
  return body.build();
}

// jax's order of floats: zeros of both signs equal, NaNs of all kinds equal and last.
hlo::Computation jax_comparator() {
  ComputationBuilder body;
  const auto canonical = [&](hlo::InstructionIndex x) {
    const auto zero = body.constant(ElementType::F32, 0);
    const auto no_sign = body.add(Opcode::Select, ElementType::F32, {body.compare("EQ", x, zero), zero, x});
    const auto not_a_number = body.constant(ElementType::F32, nan);
    return body.add(Opcode::Select, ElementType::F32, {body.compare("NE", x, x), not_a_number, no_sign});
  };
  const auto a = body.parameter(ElementType::F32);
  const auto b = body.parameter(ElementType::F32);
  const auto left = canonical(a);
  const auto right = canonical(b);
  body.compare("LT", left, right, "TOTALORDER");
  return body.build();
}

// Lexicographic: parameters 0 and 1 first, then 2 and 3.
hlo::Computation two_keys() {
  ComputationBuilder body;
  const auto a = body.parameter(ElementType::S32);
  const auto b = body.parameter(ElementType::S32);
  const auto x = body.parameter(ElementType::S32);
  const auto y = body.parameter(ElementType::S32);
  const auto first = body.compare("LT", a, b);
  const auto equal = body.compare("EQ", a, b);
  const auto then = body.add(Opcode::And, ElementType::Pred, {equal, body.compare("LT", x, y)});
  body.add(Opcode::Or, ElementType::Pred, {first, then});
  return body.build();
}

Literal sort_one(const Literal& operand, hlo::Computation by, int64_t dimension = 0) {
  const Literal operands[] = {operand};
  return must_run(instruction_of(Opcode::Sort, operand.shape(), {dimension}), {std::move(by)}, operands);
}

// Equal NaNs, unequal zeros of different sign.
void expect_same(const Literal& got, const std::vector<double>& expected) {
  ASSERT_EQ(got.element_count(), static_cast<int64_t>(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i) {
    const double value = got.real_at(static_cast<int64_t>(i));
    EXPECT_TRUE(std::isnan(expected[i]) ? std::isnan(value) : value == expected[i]) << i << ": " << value;
    EXPECT_EQ(std::signbit(value), std::signbit(expected[i])) << i;
  }
}

RC_GTEST_PROP(Sort, StableInEveryDimensionAndType, ()) {
  const auto type = *rc::gen::element(ElementType::S8, ElementType::U16, ElementType::S64, ElementType::BF16,
                                      ElementType::F64, ElementType::U4);
  Dims dimensions;
  const int64_t rank = draw(1, 3);
  for (int64_t d = 0; d < rank; ++d) dimensions.push_back(draw(0, 20));
  const auto along = static_cast<size_t>(draw(0, rank - 1));
  const bool descending = draw(0, 1) == 0;
  Literal keys(Shape::array(type, dimensions));
  Literal places(Shape::array(ElementType::S32, dimensions));
  for (int64_t i = 0; i < keys.element_count(); ++i) {
    set_number(keys, i, draw(0, 9));
    places.set_integer(i, i);
  }
  ComputationBuilder body;
  const auto a = body.parameter(type);
  const auto b = body.parameter(type);
  body.parameter(ElementType::S32);
  body.parameter(ElementType::S32);
  body.compare(descending ? "GT" : "LT", a, b);
  const Literal operands[] = {keys, places};
  const Shape shape = Shape::tuple({keys.shape(), places.shape()});
  const Literal result =
      must_run(instruction_of(Opcode::Sort, shape, {static_cast<int64_t>(along)}), {body.build()}, operands);

  Dims lines = dimensions;
  lines[along] = dimensions[along] == 0 ? 0 : 1;
  for_each_index(lines, [&](const Dims& line) {
    std::vector<int64_t> order;
    for (int64_t i = 0; i < dimensions[along]; ++i) {
      Dims at = line;
      at[along] = i;
      order.push_back(flat(at, dimensions));
    }
    const std::vector<int64_t> target = order;
    std::stable_sort(order.begin(), order.end(), [&](int64_t x, int64_t y) {
      return descending ? keys.real_at(x) > keys.real_at(y) : keys.real_at(x) < keys.real_at(y);
    });
    for (size_t i = 0; i < order.size(); ++i) {
      RC_ASSERT(result.elements()[0].real_at(target[i]) == keys.real_at(order[i]));
      RC_ASSERT(result.elements()[1].integer_at(target[i]) == order[i]);
    }
  });
}

RC_GTEST_PROP(Sort, ByAnyComparatorAsByAKey, ()) {
  // The same order through the comparator itself: a < b written as not (b <= a), of which no key is found.
  ComputationBuilder body;
  const auto a = body.parameter(ElementType::S32);
  const auto b = body.parameter(ElementType::S32);
  body.add(Opcode::Not, ElementType::Pred, {body.compare("LE", b, a)});
  const hlo::Computation indirect = body.build();
  Literal operand(Shape::array(ElementType::S32, {3, draw(0, 100)}));
  for (int64_t i = 0; i < operand.element_count(); ++i) set_number(operand, i, draw(-20, 20));
  RC_ASSERT(sort_one(operand, indirect, 1) == sort_one(operand, comparator(ElementType::S32, "LT"), 1));
}

TEST(Sort, FindsTheKey) {
  hlo::Module module;
  module.computations = {comparator(ElementType::F32, "LT"), comparator(ElementType::F32, "GT", "TOTALORDER"),
                         jax_comparator(), two_keys(), comparator(ElementType::F32, "LE")};
  const auto key = [&](hlo::ComputationIndex i) { return find_sort_key(*ScalarProgram::compile(module, i)); };
  EXPECT_FALSE(key(0)->descending);
  EXPECT_EQ(key(0)->order, FloatOrder::Plain);
  EXPECT_TRUE(key(1)->descending);
  EXPECT_EQ(key(1)->order, FloatOrder::Total);
  ASSERT_TRUE(key(2));
  EXPECT_EQ(key(2)->order, FloatOrder::Total);
  EXPECT_FALSE(key(3));
  EXPECT_FALSE(key(4));
}

TEST(Sort, ComparedTheOtherWayRoundIsDescending) {
  ComputationBuilder body;
  const auto a = body.parameter(ElementType::S32);
  const auto b = body.parameter(ElementType::S32);
  body.compare("LT", b, a);
  const Literal operand = literal_of<int64_t>(ElementType::S32, {4}, {1, 3, 2, 4});
  EXPECT_EQ(integers(sort_one(operand, body.build())), (std::vector<int64_t>{4, 3, 2, 1}));
}

TEST(Sort, SidesThatDifferAreNoKey) {
  ComputationBuilder body;  // a < -b
  const auto a = body.parameter(ElementType::S32);
  const auto b = body.parameter(ElementType::S32);
  body.compare("LT", a, body.add(Opcode::Negate, ElementType::S32, {b}));
  hlo::Module module;
  module.computations = {body.build()};
  EXPECT_FALSE(find_sort_key(*ScalarProgram::compile(module, 0)));
}

TEST(Sort, ZerosAreEqualWhenCompared) {
  const Literal operand = literal_of<double>(ElementType::F32, {4}, {0.0, -0.0, 1.0, -0.0});
  expect_same(sort_one(operand, comparator(ElementType::F32, "LT")), {0.0, -0.0, -0.0, 1.0});
}

TEST(Sort, TotalOrderTellsZerosAndNaNsApart) {
  Literal operand = literal_of<double>(ElementType::F32, {6}, {nan, 0.0, -0.0, INFINITY, -INFINITY, 0});
  operand.mutable_data<uint32_t>()[5] = 0xffc00000;  // -NaN
  const Literal sorted = sort_one(operand, comparator(ElementType::F32, "LT", "TOTALORDER"));
  EXPECT_EQ(sorted.data<uint32_t>()[0], 0xffc00000);
  EXPECT_EQ(sorted.real_at(1), -INFINITY);
  EXPECT_TRUE(std::signbit(sorted.real_at(2)));
  EXPECT_FALSE(std::signbit(sorted.real_at(3)));
  EXPECT_EQ(sorted.real_at(4), INFINITY);
  EXPECT_TRUE(std::isnan(sorted.real_at(5)));
}

TEST(Sort, JaxOrderPutsNaNsLastAndKeepsZerosInPlace) {
  const Literal operand = literal_of<double>(ElementType::F32, {5}, {nan, 0.0, -0.0, 1.0, -1.0});
  expect_same(sort_one(operand, jax_comparator()), {-1.0, 0.0, -0.0, 1.0, nan});
}

TEST(Sort, NaNsUnderAPlainComparatorGiveSomePermutation) {
  std::vector<double> values;
  values.reserve(1000);
  for (int i = 0; i < 1000; ++i) values.push_back(i % 3 == 0 ? nan : (i * 37) % 101);
  const Literal sorted =
      sort_one(literal_of<double>(ElementType::F32, {1000}, values), comparator(ElementType::F32, "LT"));
  EXPECT_EQ(std::count_if(values.begin(), values.end(), [](double v) { return std::isnan(v); }), 334);
  const std::vector<double> got = reals(sorted);
  EXPECT_EQ(std::count_if(got.begin(), got.end(), [](double v) { return std::isnan(v); }), 334);
}

TEST(Sort, ComparatorsThatAreNoOrderGiveSomePermutation) {
  ComputationBuilder always;
  always.parameter(ElementType::S32);
  always.parameter(ElementType::S32);
  always.constant(literal_of<int64_t>(ElementType::Pred, {}, {1}));
  std::vector<int64_t> values(1000);
  std::iota(values.begin(), values.end(), 0);
  std::vector<int64_t> got = integers(sort_one(literal_of(ElementType::S32, {1000}, values), always.build()));
  std::sort(got.begin(), got.end());
  EXPECT_EQ(got, values);
}

TEST(Sort, ByTwoKeys) {
  const Literal operands[] = {literal_of<int64_t>(ElementType::S32, {5}, {2, 1, 2, 1, 0}),
                              literal_of<int64_t>(ElementType::S32, {5}, {5, 7, 4, 6, 9})};
  const Shape shape = Shape::tuple({operands[0].shape(), operands[1].shape()});
  const Literal result = must_run(instruction_of(Opcode::Sort, shape, {0}), {two_keys()}, operands);
  EXPECT_EQ(integers(result.elements()[0]), (std::vector<int64_t>{0, 1, 1, 2, 2}));
  EXPECT_EQ(integers(result.elements()[1]), (std::vector<int64_t>{9, 6, 7, 4, 5}));
}

TEST(Sort, LargeArraysToo) {
  std::vector<int64_t> values(200'000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i * 2654435761U % 1'000'003);
  const Literal sorted = sort_one(literal_of(ElementType::S32, {200'000}, values), comparator(ElementType::S32, "LT"));
  std::sort(values.begin(), values.end());
  EXPECT_EQ(integers(sorted), values);
}

TEST(Sort, LeavesElementsPastTheDynamicSizeInPlace) {
  Literal operand = literal_of<int64_t>(ElementType::S32, {5}, {4, 2, 3, 1, 0});
  operand.set_dynamic_sizes({3});
  const Literal sorted = sort_one(operand, comparator(ElementType::S32, "LT"));
  EXPECT_EQ(integers(sorted), (std::vector<int64_t>{2, 3, 4, 1, 0}));
  EXPECT_EQ(sorted.dynamic_sizes(), (Dims{3}));
}

TEST(Sort, ReportsWhatTheInterpreterReports) {
  const Literal operands[] = {literal_of<int64_t>(ElementType::S32, {3}, {1, 2, 3})};
  const Result<Literal> result = run_op(
      instruction_of(Opcode::Sort, operands[0].shape(), {0}), {interpreted(Opcode::And, ElementType::S32)}, operands,
      [](std::span<const Literal>) -> Result<Literal> { return fail(ErrorKind::Resource, "too long"); });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "too long");
}

Literal top(const Literal& operand, int64_t k, bool largest) {
  Dims dimensions = operand.shape().dimensions();
  dimensions.back() = k;
  hlo::Instruction instruction =
      instruction_of(Opcode::Topk, Shape::tuple({Shape::array(operand.shape().element_type(), dimensions),
                                                 Shape::array(ElementType::S32, dimensions)}));
  instruction.edit_attributes().set_k(k);
  instruction.edit_attributes().set_largest(largest);
  const Literal operands[] = {operand};
  return must_run(instruction, {}, operands);
}

TEST(Topk, LargestFirstLowerIndexFirst) {
  const Literal operand = literal_of<double>(ElementType::F32, {2, 4}, {1, 3, 3, 2, 5, nan, -1, 5});
  const Literal result = top(operand, 3, true);
  EXPECT_EQ(integers(result.elements()[1]), (std::vector<int64_t>{1, 2, 3, 1, 0, 3}));
  expect_same(result.elements()[0], {3, 3, 2, nan, 5, 5});
}

TEST(Topk, Smallest) {
  const Literal operand = literal_of<int64_t>(ElementType::U8, {4}, {200, 3, 255, 3});
  const Literal result = top(operand, 2, false);
  EXPECT_EQ(integers(result.elements()[1]), (std::vector<int64_t>{1, 3}));
}

TEST(Topk, OfNothing) {
  const Literal result = top(Literal(Shape::array(ElementType::F32, {0, 4})), 2, true);
  EXPECT_EQ(result.elements()[0].element_count(), 0);
  EXPECT_EQ(top(literal_of<double>(ElementType::F32, {2}, {1, 2}), 0, true).elements()[1].element_count(), 0);
}

}  // namespace
}  // namespace sapper::eval
