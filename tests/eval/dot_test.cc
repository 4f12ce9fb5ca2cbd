#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "eval/contraction.h"
#include "tests/eval/op_testing.h"

namespace sapper::eval {
namespace {

using hlo::ElementType;
using hlo::Literal;
using testing::literal;
using testing::random_literal;
using testing::reals;
using testing::run;
using testing::shape;

struct Numbers {
  std::vector<int64_t> lhs_batch, rhs_batch, lhs_contracting, rhs_contracting;
};

hlo::Instruction dot_instruction(const Numbers& numbers, const hlo::Shape& result) {
  hlo::Instruction made = testing::instruction(hlo::Opcode::Dot, result);
  proto::DotDimensionNumbers* to = made.edit_attributes().mutable_dot_dimension_numbers();
  for (const int64_t d : numbers.lhs_batch) to->add_lhs_batch_dimensions(d);
  for (const int64_t d : numbers.rhs_batch) to->add_rhs_batch_dimensions(d);
  for (const int64_t d : numbers.lhs_contracting) to->add_lhs_contracting_dimensions(d);
  for (const int64_t d : numbers.rhs_contracting) to->add_rhs_contracting_dimensions(d);
  return made;
}

const Numbers plain = {{}, {}, {1}, {0}};

Literal matrix_product(const Literal& lhs, const Literal& rhs, ElementType type) {
  const hlo::Shape result = shape(type, {lhs.shape().dimension(0), rhs.shape().dimension(1)});
  return run(dot, dot_instruction(plain, result), {lhs, rhs}).value();
}

// Row-major index of `index` in an array.
int64_t linear(const hlo::Shape& array, const std::vector<int64_t>& index) {
  int64_t at = 0;
  for (size_t d = 0; d < index.size(); ++d) at = at * array.dimension(d) + index[d];
  return at;
}

// Calls visit with every index of the box.
void for_each_index(const std::vector<int64_t>& sizes, const std::function<void(const std::vector<int64_t>&)>& visit,
                    std::vector<int64_t> index = {}) {
  if (index.size() == sizes.size()) return visit(index);
  index.push_back(0);
  for (int64_t i = 0; i < sizes[index.size() - 1]; ++i) {
    index.back() = i;
    for_each_index(sizes, visit, index);
  }
}

TEST(Dot, MultipliesMatrices) {
  const Literal a = literal(ElementType::F32, {2, 3}, {1, 2, 3, 4, 5, 6});
  const Literal b = literal(ElementType::F32, {3, 2}, {1, -1, 2, 0.5, 0, 4});
  EXPECT_EQ(reals(matrix_product(a, b, ElementType::F32)), (std::vector<double>{5, 12, 14, 22.5}));
}

// Any dimensions as batch, contracting or free on either side, in any order, against loops over indices.
RC_GTEST_PROP(Dot, EqualsLoopsForAnyDimensionNumbers, ()) {
  const auto sizes = [](int most) {
    std::vector<int64_t> all(static_cast<size_t>(*rc::gen::inRange(0, most + 1)));
    for (int64_t& size : all) size = *rc::gen::element<int64_t>(1, 2, 3, 4, 5);
    return all;
  };
  const std::vector<int64_t> batch = sizes(2);
  const std::vector<int64_t> contracting = sizes(2);
  const std::vector<int64_t> lhs_free = sizes(2);
  const std::vector<int64_t> rhs_free = sizes(2);
  const auto type = *rc::gen::element(ElementType::F32, ElementType::BF16, ElementType::F16, ElementType::S8,
                                      ElementType::S32, ElementType::U64, ElementType::F8E4M3FN);
  std::mt19937 random(*rc::gen::arbitrary<uint32_t>());

  // Operand dimensions in a random order: kind 0 batch, 1 contracting, 2 free; number within the kind.
  const auto place = [&](const std::vector<int64_t>& free, std::vector<int64_t>& dimensions,
                         std::vector<int64_t>& batch_at, std::vector<int64_t>& contracting_at,
                         std::vector<int64_t>& free_at) {
    std::vector<std::pair<int, size_t>> order;
    for (size_t i = 0; i < batch.size(); ++i) order.emplace_back(0, i);
    for (size_t i = 0; i < contracting.size(); ++i) order.emplace_back(1, i);
    for (size_t i = 0; i < free.size(); ++i) order.emplace_back(2, i);
    std::shuffle(order.begin(), order.end(), random);
    // Free dimensions appear in the result in ascending order, so they keep theirs.
    size_t next_free = 0;
    for (auto& [kind, number] : order)
      if (kind == 2) number = next_free++;
    batch_at.resize(batch.size());
    contracting_at.resize(contracting.size());
    free_at.resize(free.size());
    for (const auto& [kind, number] : order) {
      const auto at = static_cast<int64_t>(dimensions.size());
      (kind == 0 ? batch_at : kind == 1 ? contracting_at : free_at)[number] = at;
      dimensions.push_back((kind == 0 ? batch : kind == 1 ? contracting : free)[number]);
    }
  };
  Numbers numbers;
  std::vector<int64_t> lhs_dimensions, rhs_dimensions, lhs_free_at, rhs_free_at;
  place(lhs_free, lhs_dimensions, numbers.lhs_batch, numbers.lhs_contracting, lhs_free_at);
  place(rhs_free, rhs_dimensions, numbers.rhs_batch, numbers.rhs_contracting, rhs_free_at);
  std::vector<int64_t> result_dimensions = batch;
  result_dimensions.insert(result_dimensions.end(), lhs_free.begin(), lhs_free.end());
  result_dimensions.insert(result_dimensions.end(), rhs_free.begin(), rhs_free.end());

  const Literal lhs = random_literal(type, lhs_dimensions, random);
  const Literal rhs = random_literal(type, rhs_dimensions, random);
  const hlo::Shape result_shape = shape(type, result_dimensions);
  const Literal got = run(dot, dot_instruction(numbers, result_shape), {lhs, rhs}).value();

  Literal expected(result_shape);
  for_each_index(result_dimensions, [&](const std::vector<int64_t>& index) {
    std::vector<int64_t> left(lhs_dimensions.size());
    std::vector<int64_t> right(rhs_dimensions.size());
    for (size_t i = 0; i < batch.size(); ++i)
      left[static_cast<size_t>(numbers.lhs_batch[i])] = right[static_cast<size_t>(numbers.rhs_batch[i])] = index[i];
    for (size_t i = 0; i < lhs_free.size(); ++i) left[static_cast<size_t>(lhs_free_at[i])] = index[batch.size() + i];
    for (size_t i = 0; i < rhs_free.size(); ++i)
      right[static_cast<size_t>(rhs_free_at[i])] = index[batch.size() + lhs_free.size() + i];
    double sum = 0;
    uint64_t integer_sum = 0;
    for_each_index(contracting, [&](const std::vector<int64_t>& k) {
      for (size_t i = 0; i < k.size(); ++i)
        left[static_cast<size_t>(numbers.lhs_contracting[i])] = right[static_cast<size_t>(numbers.rhs_contracting[i])] =
            k[i];
      const int64_t a = linear(lhs.shape(), left);
      const int64_t b = linear(rhs.shape(), right);
      sum += lhs.real_at(a) * rhs.real_at(b);
      integer_sum += static_cast<uint64_t>(lhs.integer_at(a)) * static_cast<uint64_t>(rhs.integer_at(b));
    });
    if (hlo::is_float(type)) {
      expected.set_real(linear(result_shape, index), sum);
    } else {
      expected.set_integer(linear(result_shape, index), static_cast<int64_t>(integer_sum));
    }
  });
  RC_ASSERT(got == expected);
}

// Sizes around the edges of panels and tiles, dense or transposed, take the packed path: the same sums, bit for bit.
RC_GTEST_PROP(Dot, PackedBlocksEqualOneSumAfterTheOther, ()) {
  const int64_t rows = *rc::gen::element<int64_t>(1, 5, 6, 7, 13, 96, 97, 130);
  const int64_t columns = *rc::gen::element<int64_t>(1, 3, 15, 16, 17, 33, 255, 257);
  const int64_t depth = *rc::gen::element<int64_t>(5, 64, 255, 256, 257, 520);
  const bool lhs_transposed = *rc::gen::arbitrary<bool>();
  const bool rhs_transposed = *rc::gen::arbitrary<bool>();
  const auto type = *rc::gen::element(ElementType::F32, ElementType::S32, ElementType::BF16);
  std::mt19937 random(*rc::gen::arbitrary<uint32_t>());
  const Literal lhs =
      random_literal(type, lhs_transposed ? std::vector{depth, rows} : std::vector{rows, depth}, random);
  const Literal rhs =
      random_literal(type, rhs_transposed ? std::vector{columns, depth} : std::vector{depth, columns}, random);
  const Numbers numbers = {{}, {}, {lhs_transposed ? 0 : 1}, {rhs_transposed ? 1 : 0}};
  const auto result_type = type == ElementType::BF16 ? ElementType::F32 : type;
  const hlo::Shape result_shape = shape(result_type, {rows, columns});
  const Literal got = run(dot, dot_instruction(numbers, result_shape), {lhs, rhs}).value();
  const std::vector<double> a = reals(lhs);  // s32 too: exactly
  const std::vector<double> b = reals(rhs);
  const auto left = [&](int64_t i, int64_t k) {
    return a[static_cast<size_t>(lhs_transposed ? k * rows + i : i * depth + k)];
  };
  const auto right = [&](int64_t k, int64_t j) {
    return b[static_cast<size_t>(rhs_transposed ? j * depth + k : k * columns + j)];
  };
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      double sum = 0;
      uint32_t integer_sum = 0;
      for (int64_t k = 0; k < depth; ++k) {
        sum += left(i, k) * right(k, j);
        integer_sum += static_cast<uint32_t>(static_cast<int64_t>(left(i, k))) *
                       static_cast<uint32_t>(static_cast<int64_t>(right(k, j)));
      }
      if (result_type == ElementType::S32) {
        RC_ASSERT(got.integer_at(i * columns + j) == static_cast<int32_t>(integer_sum));
      } else {
        RC_ASSERT(got.real_at(i * columns + j) == static_cast<float>(sum));
      }
    }
  }
}

TEST(Dot, ComplexSumsMatchLoops) {
  std::mt19937 random(7);
  for (const auto& [rows, depth, columns] : {std::array<int64_t, 3>{2, 3, 4}, {40, 50, 33}, {100, 300, 3}}) {
    const Literal lhs = random_literal(ElementType::C64, {rows, depth}, random);
    const Literal rhs = random_literal(ElementType::C64, {depth, columns}, random);
    const Literal got = matrix_product(lhs, rhs, ElementType::C64);
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        std::complex<double> sum = 0;
        for (int64_t k = 0; k < depth; ++k) sum += lhs.complex_at(i * depth + k) * rhs.complex_at(k * columns + j);
        const std::complex<double> value = got.complex_at(i * columns + j);
        EXPECT_EQ(value.real(), static_cast<float>(sum.real()));
        EXPECT_EQ(value.imag(), static_cast<float>(sum.imag()));
      }
    }
  }
}

TEST(Dot, AccumulatesBeyondItsOperands) {
  // In f32 the ones would vanish beside 2^24; in f64 they do not.
  const Literal a = literal(ElementType::F32, {1, 5}, {16777216, 1, 1, 1, -16777216});
  EXPECT_EQ(reals(matrix_product(a, literal(ElementType::F32, {5, 1}, {1, 1, 1, 1, 1}), ElementType::F32)),
            std::vector<double>{3});
  // f64 accumulates with more than its own 53 bits.
  const Literal b = literal(ElementType::F64, {1, 3}, {0x1p53, 1, -0x1p53});
  EXPECT_EQ(reals(matrix_product(b, literal(ElementType::F64, {3, 1}, {1, 1, 1}), ElementType::F64)),
            std::vector<double>{1});
}

TEST(Dot, RoundsOnce) {
  // 1 + 2^-8 + 2^-30: to f32 and then to bf16 it would tie to even, 1; at once it rounds up.
  const Literal a = literal(ElementType::F32, {1, 3}, {1, 0x1p-8, 0x1p-30});
  const Literal ones = literal(ElementType::F32, {3, 1}, {1, 1, 1});
  EXPECT_EQ(reals(matrix_product(a, ones, ElementType::BF16)), std::vector<double>{1 + 0x1p-7});
}

TEST(Dot, IntegersWrapAtTheResultWidth) {
  const Literal a = literal(ElementType::S8, {1, 2}, {-128, 127});
  const Literal b = literal(ElementType::S8, {2, 1}, {-128, 127});
  EXPECT_EQ(reals(matrix_product(a, b, ElementType::S32)), std::vector<double>{16384 + 16129});
  EXPECT_EQ(reals(matrix_product(a, b, ElementType::S8)), std::vector<double>{static_cast<int8_t>(16384 + 16129)});
  const Literal u = literal(ElementType::U8, {2, 1}, {255, 255});
  EXPECT_EQ(reals(matrix_product(a, u, ElementType::S32)), std::vector<double>{-255});
  const Literal nibbles = literal(ElementType::S4, {1, 3}, {7, 7, -8});
  EXPECT_EQ(reals(matrix_product(nibbles, literal(ElementType::S4, {3, 1}, {7, 7, 1}), ElementType::S4)),
            std::vector<double>{-6});  // 90 modulo 16
}

TEST(Dot, NoTermIsSkipped) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const Literal a = literal(ElementType::F32, {1, 2}, {0, 1});
  EXPECT_TRUE(std::isnan(matrix_product(a, literal(ElementType::F32, {2, 1}, {inf, 1}), ElementType::F32).real_at(0)));
  EXPECT_EQ(matrix_product(a, literal(ElementType::F32, {2, 1}, {1, -inf}), ElementType::F32).real_at(0), -inf);
  // The same where blocks are packed, and only in the row and column concerned.
  std::mt19937 random(1);
  Literal lhs = random_literal(ElementType::F32, {50, 60}, random);
  Literal rhs = random_literal(ElementType::F32, {60, 70}, random);
  lhs.set_real(7 * 60 + 11, 0);
  rhs.set_real(11 * 70 + 69, inf);
  const Literal got = matrix_product(lhs, rhs, ElementType::F32);
  for (int64_t i = 0; i < 50; ++i)
    for (int64_t j = 0; j < 70; ++j) EXPECT_EQ(std::isfinite(got.real_at(i * 70 + j)), j != 69);
  EXPECT_TRUE(std::isnan(got.real_at(7 * 70 + 69)));
}

TEST(Dot, EmptySumsAreZeroAndEmptyResultsEmpty) {
  const Literal got = matrix_product(Literal(shape(ElementType::F32, {2, 0})), Literal(shape(ElementType::F32, {0, 3})),
                                     ElementType::F32);
  EXPECT_EQ(reals(got), (std::vector<double>(6, 0)));
  EXPECT_EQ(matrix_product(Literal(shape(ElementType::F32, {0, 2})), Literal(shape(ElementType::F32, {2, 3})),
                           ElementType::F32)
                .element_count(),
            0);
}

TEST(Dot, PredIsWhetherSomeProductIs) {
  const Literal a = literal(ElementType::Pred, {2, 2}, {1, 1, 0, 1});
  EXPECT_EQ(reals(matrix_product(a, literal(ElementType::Pred, {2, 1}, {1, 0}), ElementType::Pred)),
            (std::vector<double>{1, 0}));
}

TEST(Dot, SumsOnlyTheActualSizeOfADynamicDimension) {
  const hlo::Shape dynamic = hlo::Shape::array(ElementType::F32, {1, 3}, {false, true}, nullptr);
  Literal a(dynamic);
  for (int64_t i = 0; i < 3; ++i) a.set_real(i, 1);
  a.set_dynamic_sizes({1, 2});
  EXPECT_EQ(reals(matrix_product(a, literal(ElementType::F32, {3, 1}, {1, 10, 100}), ElementType::F32)),
            std::vector<double>{11});
}

TEST(Dot, FloatsAsIntegersAreUnsupported) {
  const Literal a = literal(ElementType::F32, {1, 1}, {1});
  const auto got = run(dot, dot_instruction(plain, shape(ElementType::S32, {1, 1})), {a, a});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, ErrorKind::Unsupported);
}

hlo::Instruction ragged_instruction(const Numbers& numbers, int64_t ragged, const std::vector<int64_t>& groups,
                                    const hlo::Shape& result) {
  hlo::Instruction made = dot_instruction(numbers, result);
  made.opcode = hlo::Opcode::RaggedDot;
  hlo::Attributes& attributes = made.edit_attributes();
  proto::RaggedDotDimensionNumbers* to = attributes.mutable_ragged_dot_dimension_numbers();
  to->mutable_dot_dimension_numbers()->Swap(attributes.mutable_dot_dimension_numbers());
  attributes.clear_dot_dimension_numbers();
  to->add_lhs_ragged_dimensions(ragged);
  for (const int64_t d : groups) to->add_rhs_group_dimensions(d);
  return made;
}

TEST(RaggedDot, RowsMeetTheMatrixOfTheirGroup) {
  // Groups of 2, 0 and 1 rows; the fourth row belongs to none.
  const Literal lhs = literal(ElementType::F32, {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const Literal rhs = literal(ElementType::F32, {3, 2, 1}, {1, 1, INFINITY, INFINITY, 10, 100});
  const auto made = ragged_instruction({{}, {}, {1}, {1}}, 0, {0}, shape(ElementType::F32, {4, 1}));
  const Literal got = run(ragged_dot, made, {lhs, rhs, literal(ElementType::S32, {3}, {2, 0, 1})}).value();
  EXPECT_EQ(reals(got), (std::vector<double>{3, 7, 650, 0}));
}

TEST(RaggedDot, GroupSizesMayDifferAcrossTheBatch) {
  // [b, m, k], [g, b, k, n] -> [b, m, n] with k = n = 1.
  const Literal lhs = literal(ElementType::F32, {2, 3, 1}, {1, 2, 3, 4, 5, 6});
  const Literal rhs = literal(ElementType::F32, {2, 2, 1, 1}, {1, 10, 100, 1000});
  const auto made = ragged_instruction({{0}, {1}, {2}, {2}}, 1, {0}, shape(ElementType::F32, {2, 3, 1}));
  const Literal got = run(ragged_dot, made, {lhs, rhs, literal(ElementType::S64, {2, 2}, {1, 2, 2, 1})}).value();
  EXPECT_EQ(reals(got), (std::vector<double>{1, 200, 300, 40, 50, 6000}));
  const auto wrong = run(ragged_dot, made, {lhs, rhs, literal(ElementType::S64, {3, 2}, {1, 2, 2, 1, 0, 0})});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().kind, ErrorKind::BadInput);
}

TEST(RaggedDot, ContractingGroupsSumApart) {
  const Literal lhs = literal(ElementType::F32, {1, 4}, {1, 2, 3, 4});
  const Literal rhs = literal(ElementType::F32, {4, 2}, {1, 10, 1, 10, 1, 10, 1, 10});
  const auto made = ragged_instruction(plain, 1, {}, shape(ElementType::F32, {3, 1, 2}));
  // Sizes beyond the dimension's end are cut off.
  const Literal got = run(ragged_dot, made, {lhs, rhs, literal(ElementType::S32, {3}, {1, 2, 7})}).value();
  EXPECT_EQ(reals(got), (std::vector<double>{1, 10, 5, 50, 4, 40}));
}

TEST(RaggedDot, ARaggedBatchIsAPlainDot) {
  const Literal lhs = literal(ElementType::F32, {2, 1, 1}, {3, 4});
  const Literal rhs = literal(ElementType::F32, {2, 1, 1}, {5, 6});
  const auto made = ragged_instruction({{0}, {0}, {2}, {1}}, 0, {}, shape(ElementType::F32, {2, 1, 1}));
  EXPECT_EQ(reals(run(ragged_dot, made, {lhs, rhs, literal(ElementType::S32, {1}, {1})}).value()),
            (std::vector<double>{15, 24}));
}

// XLA:TPU writes an empty configuration to every dot.
TEST(Dot, IsSparseOnlyWhereASideIs) {
  hlo::Instruction made = dot_instruction({{}, {}, {0}, {0}}, shape(ElementType::F32, {}));
  made.edit_attributes().mutable_sparsity_config();
  const Literal numbers = literal(ElementType::F32, {2}, {3, 4});
  EXPECT_EQ(reals(run(dot, made, {numbers, numbers}).value()), std::vector<double>{25});
  made.edit_attributes().mutable_sparsity_config()->mutable_lhs()->set_dimension(0);
  EXPECT_FALSE(run(dot, made, {numbers, numbers}));
}

TEST(ScaledDot, AScaleServesABlock) {
  hlo::Instruction made = dot_instruction({{}, {}, {1}, {1}}, shape(ElementType::BF16, {1, 1}));
  made.opcode = hlo::Opcode::ScaledDot;
  const Literal lhs = literal(ElementType::F8E4M3FN, {1, 4}, {1, 2, 3, 4});
  const Literal rhs = literal(ElementType::F4E2M1FN, {1, 4}, {1, 1, 0.5, 1.5});
  const Literal lhs_scale = literal(ElementType::F8E8M0FNU, {1, 2}, {4, 0.5});
  const Literal rhs_scale = literal(ElementType::BF16, {}, {-2});
  EXPECT_EQ(reals(run(scaled_dot, made, {lhs, rhs, lhs_scale, rhs_scale}).value()),
            std::vector<double>{-2 * (4 * 3 + 0.5 * 7.5)});
  const auto wrong = run(scaled_dot, made, {lhs, rhs, literal(ElementType::F8E8M0FNU, {1, 3}, {1, 1, 1}), rhs_scale});
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().kind, ErrorKind::BadInput);
}

TEST(Accumulator, WideSumsRoundOnceToNarrowTypes) {
  const auto rounded = [](long double sum, ElementType type) {
    Literal out(shape(type, {1}));
    round_sums(std::array{sum}, type, out.mutable_bytes().data());
    return out.real_at(0);
  };
  // Half way between two f32 (bf16) neighbours but for a bit that f64 has no room for.
  EXPECT_EQ(rounded(1 + 0x1p-8L + 0x1p-60L, ElementType::BF16), 1 + 0x1p-7);
  EXPECT_EQ(rounded(1 + 0x1p-8L - 0x1p-60L, ElementType::BF16), 1);
  EXPECT_EQ(rounded(-1 - 0x1p-24L - 0x1p-60L, ElementType::F32), -1 - 0x1p-23);
  EXPECT_EQ(rounded(1e300L, ElementType::BF16), std::numeric_limits<double>::infinity());
}

}  // namespace
}  // namespace sapper::eval
