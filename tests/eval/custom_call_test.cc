#include <gtest/gtest.h>

#include <cmath>

#include "eval/linear_algebra.h"
#include "tests/eval/op_testing.h"

namespace sapper::eval {
namespace {

using hlo::ElementType;
using hlo::Literal;
using hlo::Shape;
using testing::literal;
using testing::random_literal;
using testing::reals;
using testing::shape;

hlo::Instruction call_instruction(const std::string& target, const Shape& result, const std::string& config = "") {
  hlo::Instruction made = testing::instruction(hlo::Opcode::CustomCall, result);
  made.edit_attributes().set_custom_call_target(target);
  made.edit_attributes().set_backend_config(config);
  return made;
}

Result<Literal> call(const std::string& target, const Shape& result, const std::vector<Literal>& operands,
                     const std::string& config = "") {
  return testing::run(custom_call, call_instruction(target, result, config), operands);
}

ErrorKind error_kind(const Result<Literal>& result) {
  EXPECT_FALSE(result);
  return result ? ErrorKind::Internal : result.error().kind;
}

double at(const Literal& matrix, int64_t i, int64_t j) {
  return matrix.real_at(i * matrix.shape().dimensions().back() + j);
}

TEST(CustomCall, UnknownTargetsAreUnsupportedByName) {
  const auto got = call("tpu_custom_call", shape(ElementType::F32, {2}), {});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().kind, ErrorKind::Unsupported);
  EXPECT_EQ(got.error().message, "not evaluated: custom-call tpu_custom_call (tested)");
  EXPECT_EQ(error_kind(call("", shape(ElementType::F32, {2}), {})), ErrorKind::Unsupported);
}

TEST(CustomCall, MarksPassTheirOperandOn) {
  const Literal x = literal(ElementType::F32, {2}, {1, 2});
  for (const char* target : {"Sharding", "SPMDFullToShardShape", "MoveToHost", "AssumeGatherIndicesInBound"})
    EXPECT_EQ(call(target, x.shape(), {x}).value(), x);
  // A shard of something larger is not the whole.
  EXPECT_EQ(error_kind(call("SPMDFullToShardShape", shape(ElementType::F32, {1}), {x})), ErrorKind::Unsupported);
}

TEST(CustomCall, StatedShapesAreChecked) {
  const Literal a = literal(ElementType::F32, {1, 2, 2}, {2, 0, 1, 4});
  EXPECT_EQ(error_kind(call("InvertDiagBlocksLowerTriangular", shape(ElementType::F32, {2, 2}), {a})),
            ErrorKind::BadInput);
}

TEST(CustomCall, AllocatedBuffersAreConspicuous) {
  EXPECT_TRUE(std::isnan(call("AllocateBuffer", shape(ElementType::F32, {2}), {}).value().real_at(1)));
  EXPECT_TRUE(std::isnan(call("AllocateBuffer", shape(ElementType::BF16, {2}), {}).value().real_at(1)));
  EXPECT_EQ(call("AllocateBuffer", shape(ElementType::S32, {2}), {}).value().integer_at(1), -1);
  EXPECT_EQ(call("AllocateBuffer", shape(ElementType::S4, {2}), {}).value().integer_at(1), -1);
  EXPECT_EQ(call("AllocateBuffer", shape(ElementType::U4, {2}), {}).value().integer_at(1), 15);
  EXPECT_EQ(call("AllocateBuffer", shape(ElementType::Pred, {2}), {}).value().integer_at(1), 1);
}

// ConcatBitcast of asynchronous slices [2:3], [0:2] of the columns of a 2x3 array.
class ConcatBitcast : public ::testing::Test {
 protected:
  ConcatBitcast() {
    const std::vector<std::pair<int64_t, int64_t>> ranges = {{2, 3}, {0, 2}};
    module.computations.resize(ranges.size() + 1);
    hlo::Computation& entry = module.computations.back();
    module.entry = static_cast<hlo::ComputationIndex>(ranges.size());
    hlo::Instruction concat = call_instruction("ConcatBitcast", shape(ElementType::F32, {2, 3}));
    entry.instructions.push_back(testing::instruction(hlo::Opcode::Parameter, concat.shape));
    for (size_t i = 0; i < ranges.size(); ++i) {
      const auto [start, limit] = ranges[i];
      hlo::Instruction slice = testing::instruction(hlo::Opcode::Slice, shape(ElementType::F32, {2, limit - start}));
      for (const auto& [from, to] : {std::pair<int64_t, int64_t>{0, 2}, ranges[i]}) {
        auto* dimension = slice.edit_attributes().add_slice_dimensions();
        dimension->set_start(from);
        dimension->set_limit(to);
        dimension->set_stride(1);
      }
      hlo::Instruction done = testing::instruction(hlo::Opcode::AsyncDone, slice.shape);
      module.computations[i].instructions.push_back(std::move(slice));
      hlo::Instruction start_async = testing::instruction(hlo::Opcode::AsyncStart, concat.shape);
      start_async.called = {static_cast<hlo::ComputationIndex>(i)};
      entry.instructions.push_back(std::move(start_async));
      done.operands = {static_cast<hlo::InstructionIndex>(entry.instructions.size() - 1)};
      entry.instructions.push_back(std::move(done));
      concat.operands.push_back(static_cast<hlo::InstructionIndex>(entry.instructions.size() - 1));
    }
    entry.instructions.push_back(std::move(concat));
  }

  Result<Literal> evaluate(const std::vector<Literal>& operands) {
    const hlo::Computation& entry = module.computations.back();
    const Options options;
    return custom_call({.module = module,
                        .computation = entry,
                        .instruction = entry.instructions.back(),
                        .options = options,
                        .call = {}},
                       operands);
  }

  hlo::Module module;
};

TEST_F(ConcatBitcast, SlicesGoWhereTheyWereCutFrom) {
  const auto got =
      evaluate({literal(ElementType::F32, {2, 1}, {3, 6}), literal(ElementType::F32, {2, 2}, {1, 2, 4, 5})});
  EXPECT_EQ(reals(got.value()), (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

TEST_F(ConcatBitcast, OperandsThatAreNoSlicesAreUnsupported) {
  hlo::Computation& entry = module.computations.back();
  entry.instructions.back().operands[0] = 0;  // the parameter
  EXPECT_EQ(error_kind(
                evaluate({literal(ElementType::F32, {2, 1}, {3, 6}), literal(ElementType::F32, {2, 2}, {1, 2, 4, 5})})),
            ErrorKind::Unsupported);
}

TEST_F(ConcatBitcast, PartsMustCoverTheResult) {
  const Literal column = literal(ElementType::F32, {2, 1}, {3, 6});
  EXPECT_EQ(error_kind(evaluate({column, column})), ErrorKind::Unsupported);
  EXPECT_EQ(error_kind(evaluate({column, literal(ElementType::F32, {3, 2}, {1, 2, 3, 4, 5, 6})})),
            ErrorKind::Unsupported);
}

TEST(CustomCall, TopKOfPackedIntegersGivesTheValuesOnly) {
  const Literal x = literal(ElementType::S32, {2, 4}, {3, -1, 7, 5, -4, -2, -3, -9});
  EXPECT_EQ(call("TopKBatchMajorSmallK", shape(ElementType::S32, {2, 2}), {x}).value(),
            literal(ElementType::S32, {2, 2}, {7, 5, -2, -3}));
  EXPECT_EQ(error_kind(call("TopKBatchMajorSmallK", shape(ElementType::S32, {2, 5}), {x})), ErrorKind::Unsupported);
  EXPECT_EQ(error_kind(call("TopKBatchMajorSmallK", shape(ElementType::F32, {2, 2}), {x})), ErrorKind::Unsupported);
}

TEST(CustomCall, X64HalvesOfIntegers) {
  Literal wide(shape(ElementType::S64, {2}));
  wide.set_integer(0, -2);
  wide.set_integer(1, 0x123456789abcdef0);
  const Shape half = shape(ElementType::U32, {2});
  const Literal low = call("X64SplitLow", half, {wide}).value();
  const Literal high = call("X64SplitHigh", half, {wide}).value();
  EXPECT_EQ(low.integer_at(0), 0xfffffffe);
  EXPECT_EQ(high.integer_at(1), 0x12345678);
  EXPECT_EQ(call("X64Combine", wide.shape(), {low, high}).value(), wide);
  EXPECT_EQ(error_kind(call("X64Combine", shape(ElementType::S64, {3}), {low, high})), ErrorKind::Unsupported);
}

TEST(CustomCall, X64HalvesOfComplexNumbersAreTheirParts) {
  Literal wide(shape(ElementType::C64, {2}));
  wide.set_complex(0, {1, -2});
  wide.set_complex(1, {0.5, 3});
  const Shape half = shape(ElementType::F32, {2});
  const Literal real = call("X64SplitLow", half, {wide}).value();
  const Literal imag = call("X64SplitHigh", half, {wide}).value();
  EXPECT_EQ(reals(real), (std::vector<double>{1, 0.5}));
  EXPECT_EQ(reals(imag), (std::vector<double>{-2, 3}));
  EXPECT_EQ(call("X64Combine", wide.shape(), {real, imag}).value(), wide);
}

TEST(CustomCall, X64HalvesOfFloatsAreTheValueAndTheRest) {
  const Literal wide = literal(ElementType::F64, {3}, {1 + 0x1p-30, 1e300, 0.1});
  const Shape half = shape(ElementType::F32, {3});
  const Literal leading = call("X64SplitLow", half, {wide}).value();
  const Literal rest = call("X64SplitHigh", half, {wide}).value();
  EXPECT_EQ(reals(leading), (std::vector<double>{1, INFINITY, 0.1F}));
  EXPECT_EQ(rest.real_at(0), 0x1p-30);
  EXPECT_EQ(rest.real_at(1), 0);
  const Literal back = call("X64Combine", wide.shape(), {leading, rest}).value();
  EXPECT_EQ(back.real_at(0), wide.real_at(0));
  EXPECT_EQ(back.real_at(1), INFINITY);
  EXPECT_NEAR(back.real_at(2), 0.1, 1e-16);
}

TEST(CustomCall, TopKFollowsItsComparison) {
  hlo::Module module;
  module.computations.resize(2);
  hlo::Instruction compare = testing::instruction(hlo::Opcode::Compare, shape(ElementType::Pred, {}));
  compare.edit_attributes().set_comparison_direction("GT");
  module.computations[0].instructions.push_back(compare);
  hlo::Instruction made =
      call_instruction("TopK", Shape::tuple({shape(ElementType::F32, {1, 2}), shape(ElementType::S32, {1, 2})}));
  made.called = {0};
  const Options options;
  const OpContext context{
      .module = module, .computation = module.computations[1], .instruction = made, .options = options, .call = {}};
  const std::vector<Literal> operands = {literal(ElementType::F32, {1, 4}, {1, 5, 3, 5})};
  EXPECT_EQ(reals(custom_call(context, operands).value().elements()[1]), (std::vector<double>{1, 3}));
  module.computations[0].instructions[0].edit_attributes().set_comparison_direction("LT");
  EXPECT_EQ(reals(custom_call(context, operands).value().elements()[0]), (std::vector<double>{1, 3}));
  // k beyond the row, or another row count, would read past the operand.
  made.shape = Shape::tuple({shape(ElementType::F32, {1, 5}), shape(ElementType::S32, {1, 5})});
  EXPECT_EQ(error_kind(custom_call(context, operands)), ErrorKind::Unsupported);
  made.shape = Shape::tuple({shape(ElementType::F32, {2, 2}), shape(ElementType::S32, {2, 2})});
  EXPECT_EQ(error_kind(custom_call(context, operands)), ErrorKind::Unsupported);
}

TEST(CustomCall, InvertsTriangularBlocks) {
  const Literal a = literal(ElementType::F32, {2, 2, 2}, {2, NAN, 1, 4, 1, NAN, 0, 1});
  EXPECT_EQ(reals(call("InvertDiagBlocksLowerTriangular", a.shape(), {a}).value()),
            (std::vector<double>{0.5, 0, -0.125, 0.25, 1, 0, 0, 1}));
  const Literal b = literal(ElementType::F32, {2, 2}, {2, 1, NAN, 4});
  EXPECT_EQ(reals(call("InvertDiagBlocksUpperTriangular", b.shape(), {b}).value()),
            (std::vector<double>{0.5, -0.125, 0, 0.25}));
}

TEST(CustomCall, LuFactorsGiveThePermutedMatrixBack) {
  std::mt19937 random(1);
  constexpr int64_t m = 6;
  for (const int64_t n : {4, 6, 8}) {
    const int64_t steps = std::min(m, n);
    const Literal a = random_literal(ElementType::F32, {m, n}, random);
    const Literal got =
        call("LuDecomposition",
             Shape::tuple({a.shape(), shape(ElementType::S32, {steps}), shape(ElementType::S32, {m})}), {a})
            .value();
    const Literal& lu = got.elements()[0];
    std::vector<int64_t> rows(m);
    for (int64_t i = 0; i < m; ++i) rows[static_cast<size_t>(i)] = i;
    for (int64_t i = 0; i < steps; ++i)
      std::swap(rows[static_cast<size_t>(i)], rows[static_cast<size_t>(got.elements()[1].integer_at(i))]);
    for (int64_t i = 0; i < m; ++i) {
      EXPECT_EQ(got.elements()[2].integer_at(i), rows[static_cast<size_t>(i)]);
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t k = 0; k <= std::min({i, j, steps - 1}); ++k) sum += (k == i ? 1 : at(lu, i, k)) * at(lu, k, j);
        EXPECT_NEAR(sum, at(a, rows[static_cast<size_t>(i)], j), 1e-4);
        EXPECT_LE(j < std::min(i, steps) ? std::abs(at(lu, i, j)) : 0, 1);
      }
    }
  }
}

TEST(CustomCall, LapackCountsPivotsFromOneAndTellsZeroPivots) {
  const Literal a = literal(ElementType::F32, {2, 2}, {0, 0, 0, 3});
  const Literal got = call("lapack_sgetrf_ffi",
                           Shape::tuple({a.shape(), shape(ElementType::S32, {2}), shape(ElementType::S32, {})}), {a})
                          .value();
  EXPECT_EQ(reals(got.elements()[1]), (std::vector<double>{1, 2}));
  EXPECT_EQ(got.elements()[2].integer_at(0), 1);
}

TEST(CustomCall, LapackCholeskyLeavesTheOtherTriangle) {
  const Literal a = literal(ElementType::F32, {2, 2}, {4, 99, 6, 25});
  const Shape result = Shape::tuple({a.shape(), shape(ElementType::S32, {})});
  const Literal got = call("lapack_spotrf_ffi", result, {a}, "{uplo = 76 : ui8}").value();
  EXPECT_EQ(reals(got.elements()[0]), (std::vector<double>{2, 99, 3, 4}));
  EXPECT_EQ(got.elements()[1].integer_at(0), 0);
  EXPECT_EQ(error_kind(call("lapack_spotrf_ffi", result, {a}, "{}")), ErrorKind::Unsupported);
  // TPU's call is the opcode's meaning.
  EXPECT_EQ(reals(call("Cholesky", a.shape(), {a}).value()), (std::vector<double>{2, 0, 3, 4}));
}

TEST(CustomCall, LapackTriangularSolveReadsItsOptions) {
  const Literal a = literal(ElementType::F32, {2, 2}, {2, 1, NAN, 4});
  const Literal b = literal(ElementType::F32, {2, 1}, {4, 8});
  const auto solve = [&](const std::string& config) { return call("lapack_strsm_ffi", b.shape(), {a, b}, config); };
  EXPECT_EQ(reals(solve("{diag = 78 : ui8, side = 76 : ui8, trans_x = 78 : ui8, uplo = 85 : ui8}").value()),
            (std::vector<double>{1, 2}));
  EXPECT_EQ(reals(solve("{diag = 85 : ui8, side = 76 : ui8, trans_x = 84 : ui8, uplo = 85 : ui8}").value()),
            (std::vector<double>{4, 4}));
  EXPECT_EQ(error_kind(solve("{diag = 78 : ui8}")), ErrorKind::Unsupported);
}

// A * V = V * diag(values), V is orthogonal, the values ascend; only the stated triangle is read.
TEST(CustomCall, EighGivesTheMatrixBack) {
  std::mt19937 random(3);
  constexpr int64_t n = 9;
  const Literal a = random_literal(ElementType::F32, {2, n, n}, random);
  const Shape result = Shape::tuple({a.shape(), shape(ElementType::F32, {2, n})});
  for (const bool lower : {true, false}) {
    const Literal pairs = call("Eigh", result, {a}, lower ? "1,0,100,1e-6" : "0,1,100,1e-6").value();
    const Literal& vectors = pairs.elements()[0];
    const Literal& values = pairs.elements()[1];
    for (int64_t batch = 0; batch < 2; ++batch) {
      const auto in = [&](const Literal& matrices, int64_t i, int64_t j) { return at(matrices, batch * n + i, j); };
      const auto symmetric = [&](int64_t i, int64_t j) { return (i > j) == lower ? in(a, i, j) : in(a, j, i); };
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          double image = 0;
          double inner = 0;
          for (int64_t k = 0; k < n; ++k) {
            image += symmetric(i, k) * in(vectors, k, j);
            inner += in(vectors, k, i) * in(vectors, k, j);
          }
          EXPECT_NEAR(image, at(values, batch, j) * in(vectors, i, j), 1e-5);
          EXPECT_NEAR(inner, i == j ? 1 : 0, 1e-6);
        }
        EXPECT_LE(at(values, batch, std::max<int64_t>(i - 1, 0)), at(values, batch, i));
      }
    }
  }
  EXPECT_EQ(error_kind(call("Eigh", result, {a})), ErrorKind::Unsupported);
  const Literal none = literal(ElementType::F32, {1, 1}, {NAN});
  const Literal undefined =
      call("Eigh", Shape::tuple({none.shape(), shape(ElementType::F32, {1})}), {none}, "1,1,100,1e-6").value();
  EXPECT_TRUE(std::isnan(undefined.elements()[1].real_at(0)));
}

// Q from the reflections is orthogonal, and Q * R is A; for both, compact WY gives the same Q.
TEST(CustomCall, QrReflectionsGiveTheMatrixBack) {
  std::mt19937 random(2);
  constexpr int64_t m = 7;
  constexpr int64_t n = 4;
  const Literal a = random_literal(ElementType::F32, {m, n}, random);
  const Shape taus_shape = shape(ElementType::F32, {n});
  const Literal qr = call("Qr", Shape::tuple({a.shape(), taus_shape}), {a}).value();
  const Literal& factors = qr.elements()[0];
  const Literal& taus = qr.elements()[1];
  const Literal q = call("ProductOfElementaryHouseholderReflectors", a.shape(), {factors, taus}).value();
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t k = 0; k <= j; ++k) sum += at(q, i, k) * at(factors, k, j);
      EXPECT_NEAR(sum, at(a, i, j), 1e-4);
      double inner = 0;
      for (int64_t k = 0; k < m; ++k) inner += i < n ? at(q, k, i) * at(q, k, j) : 0;
      EXPECT_NEAR(inner, i == j ? 1 : 0, 1e-6);
    }
  }

  EXPECT_LT(at(factors, 0, 0) * at(a, 0, 0), 0);  // the sign turns

  const auto v = [&](int64_t i, int64_t j) { return i < j ? 0.0 : i == j ? 1.0 : at(factors, i, j); };
  Literal given(shape(ElementType::F32, {n, n}));
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i; j < n; ++j) {
      double inner = i == j ? 1 : 0;
      for (int64_t k = 0; i < j && k < m; ++k) inner += v(k, i) * v(k, j);
      given.set_real(i * n + j, -inner * taus.real_at(j));
    }
  const Literal c = call("CompactWyHelper", given.shape(), {given}).value();
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = i == j ? 1 : 0;
      for (int64_t k = 0; k < n; ++k)
        for (int64_t l = 0; l < n; ++l) sum += v(i, k) * at(c, k, l) * v(j, l);
      EXPECT_NEAR(sum, at(q, i, j), 1e-5);
    }
}

TEST(QrFactor, ComplexColumns) {
  std::mt19937 random(3);
  const Literal a = random_literal(ElementType::C64, {2, 5, 3}, random);
  const QrFactors qr = qr_factor(a, shape(ElementType::C64, {2, 3}));
  const Literal q = householder_product(qr.factors, qr.coefficients);
  for (int64_t b = 0; b < 2; ++b)
    for (int64_t i = 0; i < 5; ++i)
      for (int64_t j = 0; j < 3; ++j) {
        std::complex<double> sum = 0;
        for (int64_t k = 0; k <= j; ++k)
          sum += q.complex_at((b * 5 + i) * 3 + k) * qr.factors.complex_at((b * 5 + k) * 3 + j);
        EXPECT_LT(std::abs(sum - a.complex_at((b * 5 + i) * 3 + j)), 1e-4);
      }
  for (int64_t j = 0; j < 3; ++j) EXPECT_EQ(qr.factors.complex_at(j * 3 + j).imag(), 0);
}

}  // namespace
}  // namespace sapper::eval
