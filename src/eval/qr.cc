// QR factorization by Householder reflections, and the product of reflections: in working precision, rounded once.
#include <algorithm>
#include <cmath>

#include "eval/linear_algebra.h"
#include "eval/matrix.h"

namespace sapper::eval {
namespace {

// Applies I - tau * v * v^H to the columns of `a` from `first` on, where v is one at `row` and column `vector` of
// `vectors` below it.
template <class Number>
void reflect(MatrixView<Number> vectors, int64_t vector, Number tau, MatrixView<Number> a, int64_t first) {
  const int64_t row = vector;
  for (int64_t j = first; j < a.columns; ++j) {
    Number sum = a(row, j);
    for (int64_t i = row + 1; i < a.rows; ++i) sum += product(conjugate(vectors(i, vector)), a(i, j));
    sum = product(tau, sum);
    a(row, j) -= sum;
    for (int64_t i = row + 1; i < a.rows; ++i) a(i, j) -= product(vectors(i, vector), sum);
  }
}

// Makes column `step` of `a` zero below the diagonal by a reflection whose vector takes the zeros' place; returns its
// tau.
template <class Number>
Number make_reflection(MatrixView<Number> a, int64_t step) {
  const Number alpha = a(step, step);
  auto below = std::norm(Number(0));
  for (int64_t i = step + 1; i < a.rows; ++i) below += std::norm(a(i, step));
  if (below == 0 && std::imag(alpha) == 0) return Number(0);
  const auto norm = std::sqrt(std::norm(alpha) + below);
  const auto beta = std::signbit(std::real(alpha)) ? norm : -norm;
  for (int64_t i = step + 1; i < a.rows; ++i) a(i, step) /= alpha - beta;
  a(step, step) = beta;
  return (beta - alpha) / beta;
}

}  // namespace

QrFactors qr_factor(const hlo::Literal& a, const hlo::Shape& coefficients) {
  return with_working_type(a.shape().element_type(), [&]<class Number>() {
    MatrixBatch<Number> batch = read_matrices<Number>(a);
    const int64_t steps = std::min(batch.rows, batch.columns);
    std::vector<Number> taus(static_cast<size_t>(batch.count * steps));
    for_each_matrix(batch.count, [&](int64_t index) {
      const MatrixView<Number> matrix = batch[index];
      for (int64_t step = 0; step < steps && !deadline_passed(); ++step) {
        const Number tau = make_reflection(matrix, step);
        reflect(matrix, step, conjugate(tau), matrix, step + 1);
        taus[static_cast<size_t>(index * steps + step)] = tau;
      }
    });
    return QrFactors{round_to_literal(batch.values, a.shape()), round_to_literal(taus, coefficients)};
  });
}

hlo::Literal householder_product(const hlo::Literal& factors, const hlo::Literal& coefficients) {
  return with_working_type(factors.shape().element_type(), [&]<class Number>() {
    MatrixBatch<Number> vectors = read_matrices<Number>(factors);
    MatrixBatch<Number> taus = read_matrices<Number>(coefficients);  // a row for each matrix, whatever the batch's rank
    MatrixBatch<Number> product_of = vectors;
    const int64_t steps = coefficients.shape().dimensions().back();
    for_each_matrix(vectors.count, [&](int64_t index) {
      const MatrixView<Number> q = product_of[index];
      for (int64_t i = 0; i < q.rows; ++i)
        for (int64_t j = 0; j < q.columns; ++j) q(i, j) = Number(i == j ? 1 : 0);
      for (int64_t step = steps - 1; step >= 0 && !deadline_passed(); --step)
        reflect(vectors[index], step, taus.values[static_cast<size_t>(index * steps + step)], q, step);
    });
    return round_to_literal(product_of.values, factors.shape());
  });
}

}  // namespace sapper::eval
