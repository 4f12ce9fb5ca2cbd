// triangular-solve: substitution in working precision, X rounded once at the end. Only the stated triangle of A is
// read, and not its diagonal when that is said to be one.
#include <algorithm>

#include "eval/linear_algebra.h"
#include "eval/matrix.h"
#include "eval/op.h"

namespace sapper::eval {
namespace {

template <class Number>
std::vector<Number> transposed(MatrixView<Number> matrix) {
  std::vector<Number> result;
  result.reserve(static_cast<size_t>(matrix.rows * matrix.columns));
  for (int64_t j = 0; j < matrix.columns; ++j)
    for (int64_t i = 0; i < matrix.rows; ++i) result.push_back(matrix(i, j));
  return result;
}

// Replaces b by X with a * X = b, whole rows at a time, from the first row down or from the last row up.
template <class Number>
void substitute(MatrixView<Number> a, bool lower, bool unit_diagonal, MatrixView<Number> b) {
  for (int64_t step = 0; step < a.rows && !deadline_passed(); ++step) {
    const int64_t i = lower ? step : a.rows - 1 - step;
    for (int64_t before = 0; before < step; ++before) {
      const int64_t k = lower ? before : a.rows - 1 - before;
      const Number factor = a(i, k);
      for (int64_t j = 0; j < b.columns; ++j) b(i, j) -= product(factor, b(k, j));
    }
    if (unit_diagonal) continue;
    for (int64_t j = 0; j < b.columns; ++j) b(i, j) /= a(i, i);
  }
}

}  // namespace

hlo::Literal solve_triangular(const hlo::Literal& a, const hlo::Literal& b,
                              const proto::TriangularSolveOptions& options) {
  const bool adjoint = options.transpose_a() == proto::TriangularSolveOptions::ADJOINT;
  const bool transpose = adjoint || options.transpose_a() == proto::TriangularSolveOptions::TRANSPOSE;
  // X * op(A) = B is op(A)^T * X^T = B^T.
  const bool exchange = transpose == options.left_side();
  const bool lower = options.lower() != exchange;
  return with_working_type(b.shape().element_type(), [&]<class Number>() {
    MatrixBatch<Number> as = read_matrices<Number>(a);
    MatrixBatch<Number> bs = read_matrices<Number>(b);
    if (adjoint) std::ranges::transform(as.values, as.values.begin(), conjugate<Number>);
    for_each_matrix(bs.count, [&](int64_t i) {
      const MatrixView<Number> matrix = as[i];
      const MatrixView<Number> right = bs[i];
      std::vector<Number> exchanged;
      MatrixView<Number> solved = matrix;
      if (exchange) {
        exchanged = transposed(matrix);
        solved.data = exchanged.data();
      }
      if (options.left_side()) return substitute(solved, lower, options.unit_diagonal(), right);
      std::vector<Number> columns = transposed(right);
      const MatrixView<Number> unknown = {columns.data(), right.columns, right.rows};
      substitute(solved, lower, options.unit_diagonal(), unknown);
      std::ranges::copy(transposed(unknown), right.data);
    });
    return round_to_literal(bs.values, b.shape());
  });
}

Result<hlo::Literal> triangular_solve(const OpContext& context, std::span<const hlo::Literal> operands) {
  return solve_triangular(operands[0], operands[1], context.instruction.attributes().triangular_solve_options());
}

}  // namespace sapper::eval
