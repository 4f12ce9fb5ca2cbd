// Eigenvalues and eigenvectors of real symmetric matrices by cyclic Jacobi rotations (Golub and Van Loan, section 8.5):
// in working precision, rounded once.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "eval/linear_algebra.h"
#include "eval/matrix.h"

namespace sapper::eval {
namespace {

constexpr int most_sweeps = 60;  // it converges quadratically: ten are many

template <class Real>
void copy_triangle(MatrixView<Real> a, bool lower) {
  for (int64_t i = 0; i < a.rows; ++i)
    for (int64_t j = 0; j < i; ++j) (lower ? a(j, i) : a(i, j)) = lower ? a(i, j) : a(j, i);
}

// The columns p and q of `a` turned by the angle of cosine c and sine s.
template <class Real>
void turn_columns(MatrixView<Real> a, int64_t p, int64_t q, Real c, Real s) {
  for (int64_t i = 0; i < a.rows; ++i) {
    const Real left = a(i, p);
    const Real right = a(i, q);
    a(i, p) = c * left - s * right;
    a(i, q) = s * left + c * right;
  }
}

template <class Real>
void turn_rows(MatrixView<Real> a, int64_t p, int64_t q, Real c, Real s) {
  for (int64_t j = 0; j < a.columns; ++j) {
    const Real upper = a(p, j);
    const Real below = a(q, j);
    a(p, j) = c * upper - s * below;
    a(q, j) = s * upper + c * below;
  }
}

// Makes a(p, q) zero.
template <class Real>
void rotate(MatrixView<Real> a, MatrixView<Real> vectors, int64_t p, int64_t q) {
  if (a(p, q) == 0) return;
  const Real tau = (a(q, q) - a(p, p)) / (2 * a(p, q));
  const Real tangent = std::copysign(1 / (std::fabs(tau) + std::hypot(Real(1), tau)), tau);
  const Real c = 1 / std::hypot(Real(1), tangent);
  const Real s = tangent * c;
  turn_columns(a, p, q, c, s);
  turn_rows(a, p, q, c, s);
  turn_columns(vectors, p, q, c, s);
}

// Leaves the eigenvalues on the diagonal of `a`.
template <class Real>
void diagonalize(MatrixView<Real> a, MatrixView<Real> vectors) {
  const auto squares = [&](bool with_diagonal) {
    Real sum = 0;
    for (int64_t i = 0; i < a.rows; ++i)
      for (int64_t j = 0; j < a.columns; ++j)
        if (with_diagonal || i != j) sum += a(i, j) * a(i, j);
    return sum;
  };
  constexpr Real epsilon = std::numeric_limits<Real>::epsilon();
  const Real negligible = epsilon * epsilon * squares(true);
  for (int sweep = 0; sweep < most_sweeps && squares(false) > negligible; ++sweep)
    for (int64_t p = 0; p < a.rows && !deadline_passed(); ++p)
      for (int64_t q = p + 1; q < a.rows; ++q) rotate(a, vectors, p, q);
}

}  // namespace

Eigenpairs eigenpairs(const hlo::Literal& a, bool lower, const hlo::Shape& values) {
  const auto solve = [&]<class Real>() {
    MatrixBatch<Real> batch = read_matrices<Real>(a);
    MatrixBatch<Real> vectors = batch;
    const int64_t side = batch.rows;
    std::vector<Real> diagonals(static_cast<size_t>(batch.count * side));
    for_each_matrix(batch.count, [&](int64_t index) {
      const MatrixView<Real> matrix = batch[index];
      const MatrixView<Real> result = vectors[index];
      Real* const diagonal = diagonals.data() + index * side;
      copy_triangle(matrix, lower);
      if (!std::all_of(matrix.data, matrix.data + side * side, [](Real x) { return std::isfinite(x); })) {
        std::fill_n(result.data, side * side, std::numeric_limits<Real>::quiet_NaN());
        std::fill_n(diagonal, side, std::numeric_limits<Real>::quiet_NaN());
        return;
      }
      std::vector<Real> basis(static_cast<size_t>(side * side));
      const MatrixView<Real> turned{basis.data(), side, side};
      for (int64_t i = 0; i < side; ++i) turned(i, i) = 1;
      diagonalize(matrix, turned);
      std::vector<int64_t> order(static_cast<size_t>(side));
      std::iota(order.begin(), order.end(), 0);
      std::ranges::stable_sort(order, {}, [&](int64_t i) { return matrix(i, i); });
      for (int64_t j = 0; j < side; ++j) {
        const int64_t from = order[static_cast<size_t>(j)];
        diagonal[j] = matrix(from, from);
        for (int64_t i = 0; i < side; ++i) result(i, j) = turned(i, from);
      }
    });
    return Eigenpairs{round_to_literal(vectors.values, a.shape()), round_to_literal(diagonals, values)};
  };
  return a.shape().element_type() == hlo::ElementType::F64 ? solve.template operator()<long double>()
                                                           : solve.template operator()<double>();
}

}  // namespace sapper::eval
