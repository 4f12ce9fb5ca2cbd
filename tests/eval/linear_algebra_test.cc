#include "eval/linear_algebra.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/eval/op_testing.h"

namespace sapper::eval {
namespace {

using hlo::ElementType;
using hlo::Literal;
using proto::TriangularSolveOptions;
using testing::literal;
using testing::random_literal;
using testing::reals;
using testing::run;
using testing::shape;

std::complex<double> at(const Literal& matrix, int64_t batch, int64_t i, int64_t j) {
  const auto& dimensions = matrix.shape().dimensions();
  const int64_t columns = dimensions.back();
  const int64_t rows = dimensions[dimensions.size() - 2];
  return matrix.complex_at((batch * rows + i) * columns + j);
}

Literal cholesky_of(const Literal& a, bool lower) {
  hlo::Instruction made = testing::instruction(hlo::Opcode::Cholesky, a.shape());
  made.edit_attributes().mutable_cholesky_options()->set_lower(lower);
  return run(cholesky, made, {a}).value();
}

TEST(Cholesky, ReadsOneTriangleAndZeroesTheOther) {
  const Literal lower = literal(ElementType::F32, {2, 2}, {4, 99, 6, 25});
  EXPECT_EQ(reals(cholesky_of(lower, true)), (std::vector<double>{2, 0, 3, 4}));
  const Literal upper = literal(ElementType::F32, {2, 2}, {4, 6, 99, 25});
  EXPECT_EQ(reals(cholesky_of(upper, false)), (std::vector<double>{2, 3, 0, 4}));
}

TEST(Cholesky, FactorsGiveTheMatrixBack) {
  constexpr int64_t n = 9;
  std::mt19937 random(1);
  for (const ElementType type : {ElementType::F32, ElementType::F64, ElementType::C64, ElementType::C128}) {
    for (const bool lower : {true, false}) {
      // Positive definite: G * G^H.
      const Literal g = random_literal(type, {2, n, n}, random);
      Literal a(g.shape());
      const auto set = [&](int64_t index, std::complex<double> value) {
        hlo::is_complex(type) ? a.set_complex(index, value) : a.set_real(index, value.real());
      };
      for (int64_t b = 0; b < 2; ++b)
        for (int64_t i = 0; i < n; ++i)
          for (int64_t j = 0; j < n; ++j) {
            std::complex<double> sum = 0;
            for (int64_t k = 0; k < n; ++k) sum += at(g, b, i, k) * std::conj(at(g, b, j, k));
            set((b * n + i) * n + j, sum);
          }
      const Literal f = cholesky_of(a, lower);
      for (int64_t b = 0; b < 2; ++b)
        for (int64_t i = 0; i < n; ++i)
          for (int64_t j = 0; j < n; ++j) {
            std::complex<double> sum = 0;
            for (int64_t k = 0; k < n; ++k)
              sum += lower ? at(f, b, i, k) * std::conj(at(f, b, j, k)) : std::conj(at(f, b, k, i)) * at(f, b, k, j);
            EXPECT_LT(std::abs(sum - at(a, b, i, j)),
                      1e-6 * std::abs(at(a, b, i, i)) + 1e-6 * std::abs(at(a, b, j, j)));
          }
    }
  }
}

TEST(Cholesky, NotPositiveDefiniteIsNan) {
  const Literal a = literal(ElementType::F32, {2, 2, 2}, {1, 0, 2, 1, 1, 0, 0, 1});
  const std::vector<double> got = reals(cholesky_of(a, true));
  for (size_t i = 0; i < 4; ++i) EXPECT_TRUE(std::isnan(got[i]));
  EXPECT_EQ(std::vector<double>(got.begin() + 4, got.end()), (std::vector<double>{1, 0, 0, 1}));
  EXPECT_EQ(cholesky_factor(a, true).failed_minor, (std::vector<int64_t>{2, 0}));
}

TEST(TriangularSolve, SolvesEveryVariant) {
  constexpr int64_t n = 7;
  constexpr int64_t m = 4;
  std::mt19937 random(2);
  for (const ElementType type : {ElementType::F32, ElementType::F64, ElementType::C64, ElementType::C128}) {
    for (int variant = 0; variant < 24; ++variant) {
      const bool left = (variant & 1) != 0;
      const bool lower = (variant & 2) != 0;
      const bool unit = (variant & 4) != 0;
      const auto op = static_cast<TriangularSolveOptions::Transpose>(1 + variant / 8);
      Literal a = random_literal(type, {2, n, n}, random);
      for (int64_t i = 0; i < 2 * n; ++i) {  // well-conditioned, and NaN wherever it must not be read
        const int64_t diagonal = i * n + i % n;
        hlo::is_complex(type) ? a.set_complex(diagonal, {unit ? NAN : 40.0, 30})
                              : a.set_real(diagonal, unit ? NAN : 50);
        for (int64_t j = 0; j < n; ++j) {
          if (lower ? j > i % n : j < i % n) a.set_real(i * n + j, NAN);
          if (hlo::is_complex(type) && (lower ? j > i % n : j < i % n)) a.set_complex(i * n + j, {NAN, NAN});
        }
      }
      const Literal b =
          random_literal(type, left ? std::vector<int64_t>{2, n, m} : std::vector<int64_t>{2, m, n}, random);
      hlo::Instruction made = testing::instruction(hlo::Opcode::TriangularSolve, b.shape());
      TriangularSolveOptions& options = *made.edit_attributes().mutable_triangular_solve_options();
      options.set_left_side(left);
      options.set_lower(lower);
      options.set_unit_diagonal(unit);
      options.set_transpose_a(op);
      const Literal x = run(triangular_solve, made, {a, b}).value();

      const auto element = [&](int64_t batch, int64_t i, int64_t j) -> std::complex<double> {
        if (op != TriangularSolveOptions::NO_TRANSPOSE) std::swap(i, j);
        if (i == j && unit) return 1;
        if (lower ? j > i : j < i) return 0;
        const std::complex<double> value = at(a, batch, i, j);
        return op == TriangularSolveOptions::ADJOINT ? std::conj(value) : value;
      };
      for (int64_t batch = 0; batch < 2; ++batch)
        for (int64_t i = 0; i < (left ? n : m); ++i)
          for (int64_t j = 0; j < (left ? m : n); ++j) {
            std::complex<double> sum = 0;
            double size = 0;
            for (int64_t k = 0; k < n; ++k) {
              const auto term =
                  left ? element(batch, i, k) * at(x, batch, k, j) : at(x, batch, i, k) * element(batch, k, j);
              sum += term;
              size += std::abs(term);
            }
            EXPECT_LE(std::abs(sum - at(b, batch, i, j)), 1e-6 * size)
                << hlo::to_string(type) << " variant " << variant;
          }
    }
  }
}

TEST(BatchNorm, TrainingNormalizesEachFeature) {
  hlo::Instruction made = testing::instruction(
      hlo::Opcode::BatchNormTraining, hlo::Shape::tuple({shape(ElementType::F32, {2, 2, 2}),
                                                         shape(ElementType::F32, {2}), shape(ElementType::F32, {2})}));
  made.edit_attributes().set_epsilon(1);
  made.edit_attributes().set_feature_index(1);
  // Feature 0: 1 3 5 7, mean 4, variance 5. Feature 1: all 2, variance 0.
  const Literal x = literal(ElementType::F32, {2, 2, 2}, {1, 3, 2, 2, 5, 7, 2, 2});
  const Literal got =
      run(batch_norm, made, {x, literal(ElementType::F32, {2}, {2, 10}), literal(ElementType::F32, {2}, {1, -1})})
          .value();
  EXPECT_EQ(reals(got.elements()[1]), (std::vector<double>{4, 2}));
  EXPECT_EQ(reals(got.elements()[2]), (std::vector<double>{5, 0}));
  const double root = std::sqrt(6.0);
  const std::vector<double> expected = {1 - 6 / root, 1 - 2 / root, -1, -1, 1 + 2 / root, 1 + 6 / root, -1, -1};
  for (size_t i = 0; i < 8; ++i) EXPECT_FLOAT_EQ(reals(got.elements()[0])[i], expected[i]);
}

TEST(BatchNorm, InferenceUsesTheGivenMoments) {
  hlo::Instruction made = testing::instruction(hlo::Opcode::BatchNormInference, shape(ElementType::F64, {1, 2}));
  made.edit_attributes().set_epsilon(0);
  made.edit_attributes().set_feature_index(1);
  const auto vector = [](double a, double b) { return literal(ElementType::F64, {2}, {a, b}); };
  const Literal got =
      run(batch_norm, made,
          {literal(ElementType::F64, {1, 2}, {5, 7}), vector(1, 2), vector(0, 10), vector(1, 1), vector(4, 9)})
          .value();
  EXPECT_EQ(reals(got), (std::vector<double>{2, 14}));
}

// The gradient against differences of sum(weights * training(x)) in f64.
TEST(BatchNorm, GradientIsTheDerivative) {
  std::mt19937 random(9);
  const std::vector<int64_t> box = {3, 2, 2};
  const Literal x = random_literal(ElementType::F64, box, random);
  const Literal scale = random_literal(ElementType::F64, {2}, random);
  const Literal offset = random_literal(ElementType::F64, {2}, random);
  const Literal weights = random_literal(ElementType::F64, box, random);
  const hlo::Shape feature = shape(ElementType::F64, {2});
  const hlo::Shape triple = hlo::Shape::tuple({x.shape(), feature, feature});
  hlo::Instruction training = testing::instruction(hlo::Opcode::BatchNormTraining, triple);
  training.edit_attributes().set_epsilon(0.25);
  training.edit_attributes().set_feature_index(2);
  hlo::Instruction gradient = training;
  gradient.opcode = hlo::Opcode::BatchNormGrad;

  const auto loss = [&](const Literal& values, const Literal& scales, const Literal& offsets) {
    const Literal y = run(batch_norm, training, {values, scales, offsets}).value().elements()[0];
    double sum = 0;
    for (int64_t i = 0; i < y.element_count(); ++i) sum += weights.real_at(i) * y.real_at(i);
    return sum;
  };
  const Literal moments = run(batch_norm, training, {x, scale, offset}).value();
  const Literal got =
      run(batch_norm, gradient, {x, scale, moments.elements()[1], moments.elements()[2], weights}).value();
  const auto moved = [](Literal values, int64_t i, double by) {
    values.set_real(i, values.real_at(i) + by);
    return values;
  };
  constexpr double h = 1e-5;
  for (int64_t i = 0; i < x.element_count(); ++i)
    EXPECT_NEAR(got.elements()[0].real_at(i),
                (loss(moved(x, i, h), scale, offset) - loss(moved(x, i, -h), scale, offset)) / (2 * h), 1e-5);
  for (int64_t f = 0; f < 2; ++f) {
    EXPECT_NEAR(got.elements()[1].real_at(f),
                (loss(x, moved(scale, f, h), offset) - loss(x, moved(scale, f, -h), offset)) / (2 * h), 1e-5);
    EXPECT_NEAR(got.elements()[2].real_at(f),
                (loss(x, scale, moved(offset, f, h)) - loss(x, scale, moved(offset, f, -h))) / (2 * h), 1e-5);
  }
}

}  // namespace
}  // namespace sapper::eval
