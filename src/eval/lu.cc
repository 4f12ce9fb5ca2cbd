// LU factorization: by columns, in working precision, rounded once.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "eval/linear_algebra.h"
#include "eval/matrix.h"

namespace sapper::eval {
namespace {

template <class Number>
auto magnitude(Number value) {
  return std::abs(std::real(value)) + std::abs(std::imag(value));
}

// Factorizes one matrix in place; `pivots` and `permutation` have their sizes. Returns the first step with a zero
// pivot.
template <class Number>
int64_t factorize(MatrixView<Number> a, std::span<int32_t> pivots, std::span<int32_t> permutation) {
  std::iota(permutation.begin(), permutation.end(), 0);
  int64_t zero_pivot = 0;
  for (int64_t step = 0; step < std::ssize(pivots) && !deadline_passed(); ++step) {
    int64_t pivot = step;
    for (int64_t i = step + 1; i < a.rows; ++i)
      if (magnitude(a(i, step)) > magnitude(a(pivot, step))) pivot = i;
    pivots[static_cast<size_t>(step)] = static_cast<int32_t>(pivot);
    if (pivot != step) {
      std::swap_ranges(&a(step, 0), &a(step, 0) + a.columns, &a(pivot, 0));
      std::swap(permutation[static_cast<size_t>(step)], permutation[static_cast<size_t>(pivot)]);
    }
    if (a(step, step) == Number(0)) {
      if (zero_pivot == 0) zero_pivot = step + 1;
      continue;
    }
    for (int64_t i = step + 1; i < a.rows; ++i) {
      a(i, step) /= a(step, step);
      for (int64_t j = step + 1; j < a.columns; ++j) a(i, j) -= product(a(i, step), a(step, j));
    }
  }
  return zero_pivot;
}

}  // namespace

LuFactors lu_factor(const hlo::Literal& a) {
  return with_working_type(a.shape().element_type(), [&]<class Number>() {
    MatrixBatch<Number> batch = read_matrices<Number>(a);
    const auto steps = static_cast<size_t>(std::min(batch.rows, batch.columns));
    const auto rows = static_cast<size_t>(batch.rows);
    const auto count = static_cast<size_t>(batch.count);
    LuFactors result{.factors = {},
                     .pivots = std::vector<int32_t>(count * steps),
                     .permutations = std::vector<int32_t>(count * rows),
                     .zero_pivot = std::vector<int64_t>(count)};
    for_each_matrix(batch.count, [&](int64_t index) {
      const auto i = static_cast<size_t>(index);
      result.zero_pivot[i] = factorize(batch[index], std::span(result.pivots).subspan(i * steps, steps),
                                       std::span(result.permutations).subspan(i * rows, rows));
    });
    result.factors = round_to_literal(batch.values, a.shape());
    return result;
  });
}

}  // namespace sapper::eval
