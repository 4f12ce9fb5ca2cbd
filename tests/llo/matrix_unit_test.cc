// The matrix units of all generations against a plain product of matrices.
#include "llo/matrix_unit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hwy/targets.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <tuple>
#include <vector>

namespace sapper::llo {
namespace {

// Numbers that every format but u8 can say.
struct Matrix {
  int rows = 0;
  int columns = 0;
  std::vector<double> value;

  [[nodiscard]] size_t place(int row, int column) const {
    return static_cast<size_t>(row) * static_cast<size_t>(columns) + static_cast<size_t>(column);
  }
  double& at(int row, int column) { return value[place(row, column)]; }
  [[nodiscard]] double at(int row, int column) const { return value[place(row, column)]; }
};

Matrix zeros(int rows, int columns) {
  return {rows, columns, std::vector<double>(static_cast<size_t>(rows) * static_cast<size_t>(columns))};
}

Matrix small_numbers(int rows, int columns, uint32_t seed, bool negative = true) {
  Matrix matrix = zeros(rows, columns);
  for (double& value : matrix.value) {
    seed = seed * 1664525 + 1013904223;
    value = static_cast<double>(seed >> 29) - (negative ? 3 : 0);
  }
  return matrix;
}

Matrix transpose(const Matrix& matrix) {
  Matrix result = zeros(matrix.columns, matrix.rows);
  for (int r = 0; r < matrix.rows; ++r)
    for (int c = 0; c < matrix.columns; ++c) result.at(c, r) = matrix.at(r, c);
  return result;
}

Matrix product(const Matrix& a, const Matrix& b) {
  Matrix result = zeros(a.rows, b.columns);
  for (int r = 0; r < a.rows; ++r)
    for (int c = 0; c < b.columns; ++c)
      for (int k = 0; k < a.columns; ++k) result.at(r, c) += a.at(r, k) * b.at(k, c);
  return result;
}

uint32_t encode(double value, MatrixFormat format) {
  const auto f32 = std::bit_cast<uint32_t>(static_cast<float>(value));
  switch (format) {
    case MatrixFormat::F32:
    case MatrixFormat::F32Rounded:
    case MatrixFormat::F32High:
    case MatrixFormat::F32Low: return f32;
    case MatrixFormat::Bf16: return f32 >> 16;
    case MatrixFormat::S8:
    case MatrixFormat::U8: return static_cast<uint32_t>(static_cast<int32_t>(value)) & 0xff;
    case MatrixFormat::F8E5M2: {  // the upper half of an f16; small integers need no rounding
      if (value == 0) return 0;
      const int exponent = std::ilogb(value);
      const auto quarters = static_cast<uint32_t>(std::ldexp(std::abs(value), 2 - exponent));
      return (value < 0 ? 0x80U : 0U) | static_cast<uint32_t>(exponent + 15) << 2 | (quarters & 3);
    }
    case MatrixFormat::F8E4M3: {
      if (value == 0) return 0;
      const int exponent = std::ilogb(value);
      const auto eighths = static_cast<uint32_t>(std::ldexp(std::abs(value), 3 - exponent));
      return (value < 0 ? 0x80U : 0U) | static_cast<uint32_t>(exponent + 7) << 3 | (eighths & 7);
    }
  }
  return 0;
}

// Rows `first` and on, columns `column` and on, as a register holds them; zero outside of the matrix.
MatrixOperand packed(const Matrix& matrix, MatrixFormat format, int first, int column, bool reversed = false) {
  const int rows = rows_of(format);
  const int parts = rows / kSublanes;
  MatrixOperand operand{};
  for (int r = 0; r < rows; ++r)
    for (int lane = 0; lane < kLanes; ++lane) {
      const int row = first + (reversed ? rows - 1 - r : r);
      if (row >= matrix.rows || column + lane >= matrix.columns) continue;
      operand.value.word[r / parts * kLanes + lane] |= encode(matrix.at(row, column + lane), format)
                                                       << (r % parts * (32 / parts));
    }
  return operand;
}

double result_number(const MatrixResult& result, MatrixFormat format, int row, int column) {
  const uint32_t bits = result.value.word[row * kLanes + column];
  return is_integer(format) ? static_cast<int32_t>(bits) : std::bit_cast<float>(bits);
}

// Stages `weights` (of at most 128 rows and columns) as programs do, and latches them.
void stage_narrow(MatrixUnit& unit, const Matrix& weights, MatrixFormat format, PushOrder order, bool transposed) {
  const Matrix pushed = transposed ? transpose(weights) : weights;
  const int pushes = (pushed.rows + rows_of(format) - 1) / rows_of(format);
  for (int i = 0; i < pushes; ++i) {
    const int at = order == PushOrder::Downwards ? i : pushes - 1 - i;
    ASSERT_TRUE(
        unit.push(0, {.format = format,
                      .transposed = transposed,
                      .left = packed(pushed, format, at * rows_of(format), 0, order == PushOrder::UpwardsReversed)}));
  }
  unit.latch(0, order);
}

constexpr std::array formats = {MatrixFormat::F32, MatrixFormat::F32Rounded, MatrixFormat::F32High, MatrixFormat::Bf16,
                                MatrixFormat::S8,  MatrixFormat::F8E5M2,     MatrixFormat::F8E4M3,  MatrixFormat::U8};
constexpr std::array orders = {PushOrder::UpwardsReversed, PushOrder::Upwards, PushOrder::Downwards};

RC_GTEST_PROP(MatrixUnit, NarrowIsAProduct, ()) {
  const MatrixFormat format = *rc::gen::elementOf(formats);
  const PushOrder order = *rc::gen::elementOf(orders);
  const bool transposed = *rc::gen::arbitrary<bool>();
  const MatrixSum how = *rc::gen::element(MatrixSum::Double, MatrixSum::Single);
  const int depth = *rc::gen::inRange(1, kLanes + 1);
  const int columns = *rc::gen::inRange(1, kLanes + 1);
  const uint32_t seed = *rc::gen::arbitrary<uint32_t>();
  const bool negative = format != MatrixFormat::U8;
  const Matrix left = small_numbers(rows_of(format), depth, seed, negative);
  const Matrix weights = small_numbers(depth, columns, seed + 1, negative);

  MatrixUnit unit;
  stage_narrow(unit, weights, format, order, transposed);
  const std::vector<MatrixResult> results = unit.multiply(packed(left, format, 0, 0), format, false, how);
  RC_ASSERT(results.size() == static_cast<size_t>(rows_of(format) / kSublanes));
  const Matrix expected = product(left, weights);
  for (int row = 0; row < left.rows; ++row)
    for (int column = 0; column < columns; ++column)
      RC_ASSERT(result_number(results[row / kSublanes], format, row % kSublanes, column) == expected.at(row, column));
}

// Sums of random f32 numbers: one after the other from the first row on, each rounded.
TEST(MatrixUnit, SingleSumsRoundEachStep) {
  Matrix left = zeros(8, kLanes);
  Matrix weights = zeros(kLanes, kLanes);
  uint32_t seed = 1;
  const auto next = [&] { return static_cast<float>(seed = seed * 1664525 + 1013904223) * 1e-7F - 100; };
  for (double& value : left.value) value = next();
  for (double& value : weights.value) value = next();
  MatrixUnit unit;
  stage_narrow(unit, weights, MatrixFormat::F32, PushOrder::Upwards, false);
  const auto single = unit.multiply(packed(left, MatrixFormat::F32, 0, 0), MatrixFormat::F32, false, MatrixSum::Single);
  const auto exact = unit.multiply(packed(left, MatrixFormat::F32, 0, 0), MatrixFormat::F32, false, MatrixSum::Double);
  for (int row = 0; row < kSublanes; ++row)
    for (int column = 0; column < kLanes; ++column) {
      float sum = 0;
      double sum_in_double = 0;
      for (int k = 0; k < kLanes; ++k) {
        const auto a = static_cast<float>(left.at(row, k));
        const auto b = static_cast<float>(weights.at(k, column));
        const float rounded = a * b;
        sum = sum + rounded;
        sum_in_double += static_cast<double>(a) * b;
      }
      EXPECT_EQ(result_number(single[0], MatrixFormat::F32, row, column), sum);
      EXPECT_EQ(result_number(exact[0], MatrixFormat::F32, row, column), static_cast<float>(sum_in_double));
    }
}

// Any f32 numbers, infinities and NaNs too: every instruction set sums them to the same bits.
RC_GTEST_PROP(MatrixUnit, EveryInstructionSetGivesTheSameBits, ()) {
  const MatrixSum how = *rc::gen::element(MatrixSum::Double, MatrixSum::Single);
  uint32_t seed = *rc::gen::arbitrary<uint32_t>();
  const auto any_register = [&] {
    MatrixOperand operand{};
    for (uint32_t& word : operand.value.word) word = seed = seed * 1664525 + 1013904223;
    return operand;
  };
  MatrixUnit unit;
  for (int row = 0; row < kLanes; row += kSublanes) RC_ASSERT(unit.push(0, {.left = any_register()}));
  unit.latch(0, PushOrder::Upwards);
  const MatrixOperand left = any_register();
  std::vector<Vreg> results;
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    results.push_back(unit.multiply(left, MatrixFormat::F32, false, how)[0].value);
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  RC_ASSERT(results.size() > 1U);
  const auto is_nan = [](uint32_t bits) { return (bits & 0x7fffffff) > 0x7f800000; };
  for (const Vreg& other : results)
    for (int i = 0; i < kVregWords; ++i)
      RC_ASSERT(other.word[i] == results[0].word[i] || (is_nan(other.word[i]) && is_nan(results[0].word[i])));
}

// A 256 by 256 unit: what each place gives, on v6e (two places, upwards) and tpu7x (one place, downwards).
class WideUnit : public ::testing::TestWithParam<std::tuple<PushOrder, bool, MatrixFormat>> {};

TEST_P(WideUnit, IsAProduct) {
  const PushOrder order = std::get<0>(GetParam());
  const bool transposed = std::get<1>(GetParam());
  const MatrixFormat format = std::get<2>(GetParam());
  const int rows = rows_of(format);
  const Matrix left = small_numbers(rows, 256, 5);
  const Matrix weights = small_numbers(256, 256, 6);
  const Matrix pushed = transposed ? transpose(weights) : weights;
  MatrixUnit unit;
  const auto push = [&](PushPlace place, int first) {
    unit.prepare_columns(packed(pushed, format, first, kLanes));
    ASSERT_TRUE(unit.push(1, {.place = place,
                              .format = format,
                              .transposed = transposed,
                              .wide = true,
                              .left = packed(pushed, format, first, 0)}));
  };
  if (order == PushOrder::Downwards) {
    for (int first = 0; first < 256; first += rows) push(PushPlace::Upper, first);
  } else {
    for (int first = kLanes - rows; first >= 0; first -= rows) push(PushPlace::Upper, first);
    for (int first = 256 - rows; first >= kLanes; first -= rows) push(PushPlace::Lower, first);
  }
  unit.latch(1, order);
  unit.prepare_lanes(packed(left, format, 0, kLanes));
  const auto results = unit.multiply(packed(left, format, 0, 0), format, true, MatrixSum::Double);
  ASSERT_EQ(results.size(), static_cast<size_t>(rows / kSublanes * 2));
  const Matrix expected = product(left, weights);
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < 256; ++column)
      ASSERT_EQ(result_number(results[static_cast<size_t>(row / kSublanes * 2 + column / kLanes)], format,
                              row % kSublanes, column % kLanes),
                expected.at(row, column));
}

INSTANTIATE_TEST_SUITE_P(
    MatrixUnit, WideUnit,
    ::testing::Combine(::testing::Values(PushOrder::Upwards, PushOrder::Downwards), ::testing::Bool(),
                       ::testing::Values(MatrixFormat::F32, MatrixFormat::Bf16, MatrixFormat::S8)));

// Two products at once: each half of the left operand meets its own weights, and nothing of one gets into the other.
TEST(MatrixUnit, DiagonalKeepsTheHalvesApart) {
  constexpr MatrixFormat format = MatrixFormat::Bf16;
  const Matrix first = small_numbers(kLanes, kLanes, 1);
  const Matrix second = small_numbers(kLanes, kLanes, 2);
  const Matrix lower = small_numbers(16, kLanes, 3);
  Matrix upper = small_numbers(16, kLanes, 4);
  upper.at(0, 0) = std::numeric_limits<double>::infinity();
  MatrixUnit unit;
  for (int row = kLanes - 16; row >= 0; row -= 16) {
    unit.prepare_columns(packed(second, format, row, 0));
    ASSERT_TRUE(unit.push(
        0, {.place = PushPlace::Diagonal, .format = format, .wide = true, .left = packed(first, format, row, 0)}));
  }
  unit.latch(0, PushOrder::Upwards);
  unit.prepare_lanes(packed(upper, format, 0, 0));
  const auto results = unit.multiply(packed(lower, format, 0, 0), format, true, MatrixSum::Double);
  const Matrix of_lower = product(lower, first);
  const Matrix of_upper = product(upper, second);
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < kLanes; ++column) {
      const size_t pair = size_t{2} * static_cast<size_t>(row / kSublanes);
      EXPECT_EQ(result_number(results[pair], format, row % kSublanes, column), of_lower.at(row, column));
      if (row == 0) continue;
      EXPECT_EQ(result_number(results[pair + 1], format, row % kSublanes, column), of_upper.at(row, column));
    }
}

TEST(MatrixUnit, HighAndLowAreTheFirstTwoParts) {
  const float number = 1.0F + 0x1p-7F + 0x1p-9F + 0x1p-20F;
  Matrix left = zeros(8, 1);
  left.at(0, 0) = number;
  Matrix one = zeros(1, 1);
  one.at(0, 0) = 1;
  MatrixUnit unit;
  stage_narrow(unit, one, MatrixFormat::F32, PushOrder::UpwardsReversed, false);
  const auto times_one = [&](MatrixFormat format) {
    const auto results = unit.multiply(packed(left, format, 0, 0), format, false, MatrixSum::Double);
    return result_number(results[0], format, 0, 0);
  };
  EXPECT_EQ(times_one(MatrixFormat::F32), number);
  EXPECT_EQ(times_one(MatrixFormat::F32High), 1.0F + 0x1p-7F);
  EXPECT_EQ(times_one(MatrixFormat::F32Low), 0x1p-9F);  // 2^-20 is beyond the second part
  EXPECT_EQ(times_one(MatrixFormat::F32Rounded), 1.0F + 0x1p-7F);
}

TEST(MatrixUnit, StagingsAreApartAndAPushAfterALatchStartsAfresh) {
  Matrix left = zeros(8, 1);
  left.at(0, 0) = 1;
  const auto weight = [](double value) {
    Matrix matrix = zeros(1, 1);
    matrix.at(0, 0) = value;
    return packed(matrix, MatrixFormat::F32, 0, 0);
  };
  MatrixUnit unit;
  const auto result = [&] {
    const auto results =
        unit.multiply(packed(left, MatrixFormat::F32, 0, 0), MatrixFormat::F32, false, MatrixSum::Double);
    return result_number(results[0], MatrixFormat::F32, 0, 0);
  };
  ASSERT_TRUE(unit.push(0, {.left = weight(2)}));
  ASSERT_TRUE(unit.push(1, {.left = weight(3)}));
  unit.latch(0, PushOrder::Upwards);
  EXPECT_EQ(result(), 2);
  ASSERT_TRUE(unit.push(0, {.left = weight(5)}));
  EXPECT_EQ(result(), 2);
  unit.latch(1, PushOrder::Upwards);
  EXPECT_EQ(result(), 3);
  unit.latch(0, PushOrder::Upwards);
  EXPECT_EQ(result(), 5);
}

TEST(MatrixUnit, TooManyRowsAreRefused) {
  MatrixUnit unit;
  for (int i = 0; i < 16; ++i) EXPECT_TRUE(unit.push(0, {.left = {}}));
  EXPECT_FALSE(unit.push(0, {.left = {}}));
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(unit.push_left(1, MatrixFormat::Bf16, {}));
  EXPECT_FALSE(unit.push_left(1, MatrixFormat::Bf16, {}));
}

RC_GTEST_PROP(MatrixUnit, ALeftOperandIsTransposedOnItsWay, ()) {
  const MatrixFormat format = *rc::gen::element(MatrixFormat::F32, MatrixFormat::Bf16);
  const int registers = *rc::gen::inRange(1, kLanes / rows_of(format) + 1);
  const int depth = registers * rows_of(format);
  const int rows = *rc::gen::inRange(1, kLanes + 1);
  const uint32_t seed = *rc::gen::arbitrary<uint32_t>();
  const Matrix left = small_numbers(rows, depth, seed);
  const Matrix weights = small_numbers(depth, 3, seed + 1);

  MatrixUnit unit;
  stage_narrow(unit, weights, MatrixFormat::F32, PushOrder::Upwards, /*transposed=*/false);
  for (int i = registers - 1; i >= 0; --i)
    RC_ASSERT(unit.push_left(1, format, packed(transpose(left), format, i * rows_of(format), 0)));
  const auto eights = static_cast<uint32_t>((rows + kSublanes - 1) / kSublanes);
  RC_ASSERT(unit.latch_left(eights));
  RC_ASSERT(!unit.latch_left(eights));
  const Matrix expected = product(left, weights);
  for (int round = 0; round < 2; ++round)  // after the last rows come the first
    for (int row = 0; row < rows; row += kSublanes) {
      const std::vector<MatrixResult> results = unit.multiply_left(MatrixSum::Double);
      RC_ASSERT(results.size() == 1U);
      for (int r = row; r < std::min(rows, row + kSublanes); ++r)
        for (int column = 0; column < weights.columns; ++column)
          RC_ASSERT(result_number(results[0], MatrixFormat::F32, r - row, column) == expected.at(r, column));
    }
}

// --- what is undefined

class MatrixDefinedness : public ::testing::Test {
 protected:
  static constexpr MatrixFormat format = MatrixFormat::F32;

  std::vector<MatrixResult> multiply(const MatrixOperand& left) {
    return unit.multiply(left, format, false, MatrixSum::Double);
  }
  static MatrixOperand ones() {
    MatrixOperand operand{};
    std::fill_n(operand.value.word, kVregWords, std::bit_cast<uint32_t>(1.0F));
    return operand;
  }
  static void undefine(MatrixOperand& operand, int row, int lane) {
    if (!operand.undefined) operand.undefined = Vreg{};
    operand.undefined->word[row * kLanes + lane] = 1;
  }
  static bool is_undefined(const std::vector<MatrixResult>& results, int row, int column) {
    return results[0].undefined && results[0].undefined->word[row * kLanes + column] != 0;
  }
  // 8 rows of ones, of which row 2's weight in column 5 is undefined.
  void stage_ones_but_one() {
    MatrixOperand weights = ones();
    undefine(weights, 2, 5);
    ASSERT_TRUE(unit.push(0, {.left = weights}));
    unit.latch(0, PushOrder::Upwards);
  }
  MatrixUnit unit;
};

TEST_F(MatrixDefinedness, AnUndefinedElementSpoilsItsRow) {
  ASSERT_TRUE(unit.push(0, {.left = ones()}));
  unit.latch(0, PushOrder::Upwards);
  EXPECT_FALSE(multiply(ones())[0].undefined);
  MatrixOperand left = ones();
  undefine(left, 3, 7);
  const auto results = multiply(left);
  for (int row = 0; row < kSublanes; ++row) EXPECT_EQ(is_undefined(results, row, 100), row == 3);
}

TEST_F(MatrixDefinedness, AnUndefinedWeightSpoilsItsColumn) {
  stage_ones_but_one();
  const auto results = multiply(ones());
  for (int column = 0; column < kLanes; ++column) EXPECT_EQ(is_undefined(results, 4, column), column == 5);
}

TEST_F(MatrixDefinedness, ZeroDoesNotHideWhatIsUndefined) {
  stage_ones_but_one();
  EXPECT_TRUE(is_undefined(multiply(MatrixOperand{}), 0, 5));
}

TEST_F(MatrixDefinedness, WhatTheMaskLeavesOutTakesNoPart) {
  stage_ones_but_one();
  MatrixOperand left = ones();
  undefine(left, 0, 2);
  left.mask.emplace();
  std::fill_n(left.mask->word, kVregWords, ~uint32_t{0});
  left.mask->word[2] = 0;  // row 0, lane 2
  const auto results = multiply(left);
  EXPECT_FALSE(is_undefined(results, 0, 5));
  EXPECT_FALSE(is_undefined(results, 0, 6));
  EXPECT_TRUE(is_undefined(results, 1, 5));
  EXPECT_EQ(result_number(results[0], format, 0, 6), 7);
  EXPECT_EQ(result_number(results[0], format, 1, 6), 8);
}

TEST_F(MatrixDefinedness, AnInfiniteWeightDoesNotMeetWhatTheMaskLeavesOut) {
  MatrixOperand weights = ones();
  weights.value.word[size_t{2} * kLanes] = std::bit_cast<uint32_t>(std::numeric_limits<float>::infinity());
  ASSERT_TRUE(unit.push(0, {.left = weights}));
  unit.latch(0, PushOrder::Upwards);
  MatrixOperand left = ones();
  left.mask.emplace();
  for (int row = 0; row < kSublanes; ++row)
    for (int lane = 0; lane < kLanes; ++lane) left.mask->word[row * kLanes + lane] = lane == 2 ? 0 : ~uint32_t{0};
  EXPECT_EQ(result_number(multiply(left)[0], format, 0, 0), 7);
}

TEST_F(MatrixDefinedness, RowsNeverPushedTakeNoPart) {
  ASSERT_TRUE(unit.push(0, {.left = ones()}));
  unit.latch(0, PushOrder::Upwards);
  MatrixOperand left = ones();
  undefine(left, 0, 8);  // the first lane without weights
  left.value.word[9] = std::bit_cast<uint32_t>(std::numeric_limits<float>::infinity());
  const auto results = multiply(left);
  EXPECT_FALSE(results[0].undefined);
  EXPECT_EQ(result_number(results[0], format, 0, 0), 8);
}

TEST_F(MatrixDefinedness, ALeftOperandKeepsItsUndefinedBitsOutsideOfItsMask) {
  ASSERT_TRUE(unit.push(0, {.left = ones()}));
  unit.latch(0, PushOrder::Upwards);
  MatrixOperand rows = ones();
  rows.undefined.emplace();
  rows.undefined->word[0] = 1;           // row 0, lane 0: of the first row of the result
  rows.undefined->word[kLanes + 1] = 1;  // row 1, lane 1: of the second one
  ASSERT_TRUE(unit.push_left(1, format, rows));
  ASSERT_TRUE(unit.latch_left(1));
  std::vector<MatrixResult> results = unit.multiply_left(MatrixSum::Double);
  EXPECT_TRUE(is_undefined(results, 0, 0));
  EXPECT_TRUE(is_undefined(results, 1, 0));
  EXPECT_FALSE(is_undefined(results, 2, 0));
  std::fill_n(rows.mask.emplace().word, kVregWords, ~uint32_t{0});
  rows.mask->word[0] = 0;
  ASSERT_TRUE(unit.push_left(1, format, rows));
  ASSERT_TRUE(unit.latch_left(1));
  results = unit.multiply_left(MatrixSum::Double);
  EXPECT_FALSE(is_undefined(results, 0, 0));
  EXPECT_EQ(result_number(results[0], format, 0, 0), 7);
  EXPECT_TRUE(is_undefined(results, 1, 0));
}

TEST_F(MatrixDefinedness, WithoutWeightsAllIsUndefined) { EXPECT_TRUE(is_undefined(multiply(ones()), 0, 0)); }

TEST(MatrixFormat, UndefinedBitsThatTheNumberIsNotMadeOfDoNotCount) {
  Vreg bits{};
  bits.word[0] = 0x1;
  bits.word[1] = 0x10000;
  std::vector<uint8_t> marks(kVregWords);
  mark_rows(bits, MatrixFormat::F32High, marks.data());
  EXPECT_EQ(marks[0], 0);
  EXPECT_EQ(marks[1], 1);
  marks.resize(size_t{2} * kVregWords);
  mark_rows(bits, MatrixFormat::Bf16, marks.data());
  EXPECT_EQ(marks[0], 1);  // row 0: the low half
  EXPECT_EQ(marks[1], 0);
  EXPECT_EQ(marks[kLanes + 1], 1);  // row 1: the high half
}

}  // namespace
}  // namespace sapper::llo
