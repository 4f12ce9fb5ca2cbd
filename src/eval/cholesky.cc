// cholesky: row by row, in working precision, rounded once.
#include <cmath>
#include <limits>

#include "eval/linear_algebra.h"
#include "eval/matrix.h"
#include "eval/op.h"

namespace sapper::eval {
namespace {

// Replaces the lower triangle of `a` by L, row by row. Returns the order of the first minor that is not positive
// definite.
template <class Number>
int64_t factorize(MatrixView<Number> a) {
  for (int64_t i = 0; i < a.rows && !deadline_passed(); ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      Number sum = a(i, j);
      for (int64_t k = 0; k < j; ++k) sum -= product(a(i, k), conjugate(a(j, k)));
      if (j < i) {
        a(i, j) = sum / std::real(a(j, j));
        continue;
      }
      const auto pivot = std::real(sum);
      if (!(pivot > 0) || !std::isfinite(pivot)) return i + 1;
      a(i, i) = std::sqrt(pivot);
    }
  }
  return 0;
}

// Exchanges the triangles, as the conjugate transpose does.
template <class Number>
void adjoin(MatrixView<Number> a) {
  for (int64_t i = 0; i < a.rows; ++i) {
    a(i, i) = conjugate(a(i, i));
    for (int64_t j = 0; j < i; ++j) {
      const Number below = conjugate(a(i, j));
      a(i, j) = conjugate(a(j, i));
      a(j, i) = below;
    }
  }
}

void set_number(hlo::Literal& literal, int64_t i, double value) {
  hlo::is_complex(literal.shape().element_type()) ? literal.set_complex(i, value) : literal.set_real(i, value);
}

}  // namespace

CholeskyFactor cholesky_factor(const hlo::Literal& a, bool lower) {
  return with_working_type(a.shape().element_type(), [&]<class Number>() {
    MatrixBatch<Number> batch = read_matrices<Number>(a);
    std::vector<int64_t> failed(static_cast<size_t>(batch.count));
    for_each_matrix(batch.count, [&](int64_t i) {
      if (!lower) adjoin(batch[i]);
      failed[static_cast<size_t>(i)] = factorize(batch[i]);
      if (!lower) adjoin(batch[i]);
    });
    return CholeskyFactor{round_to_literal(batch.values, a.shape()), std::move(failed)};
  });
}

hlo::Literal cholesky_or_nan(const hlo::Literal& a, bool lower) {
  CholeskyFactor result = cholesky_factor(a, lower);
  const int64_t n = a.shape().dimensions().back();
  for (size_t matrix = 0; matrix < result.failed_minor.size(); ++matrix) {
    const bool failed = result.failed_minor[matrix] != 0;
    const int64_t first = static_cast<int64_t>(matrix) * n * n;
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        constexpr double nan = std::numeric_limits<double>::quiet_NaN();
        if (failed || (lower ? j > i : j < i)) set_number(result.factor, first + i * n + j, failed ? nan : 0);
      }
    }
  }
  return std::move(result.factor);
}

Result<hlo::Literal> cholesky(const OpContext& context, std::span<const hlo::Literal> operands) {
  return cholesky_or_nan(operands[0], context.instruction.attributes().cholesky_options().lower());
}

}  // namespace sapper::eval
