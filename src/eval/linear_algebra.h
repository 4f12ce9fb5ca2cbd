// Factorizations and solvers on batches of matrices (the last two dimensions), shared by the opcodes and by custom
// calls. Working precision and rounding: eval/matrix.h.
#pragma once

#include <cstdint>
#include <vector>

#include "hlo/literal.h"
#include "hlo/module.h"

namespace sapper::eval {

struct CholeskyFactor {
  hlo::Literal factor;  // of A's shape; the triangle that holds no factor is A's, unchanged
  // For each matrix: 0, or the order of the first leading minor that is not positive definite; then the factor stops
  // there.
  std::vector<int64_t> failed_minor;
};
// A = L * L^H (lower) or U^H * U, from the stated triangle of A alone.
[[nodiscard]] CholeskyFactor cholesky_factor(const hlo::Literal& a, bool lower);

// X with op(A) * X = B, or X * op(A) = B where options.left_side() is false.
[[nodiscard]] hlo::Literal solve_triangular(const hlo::Literal& a, const hlo::Literal& b,
                                            const proto::TriangularSolveOptions& options);

}  // namespace sapper::eval
