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

// As the opcode cholesky has it: zeros in the other triangle, NaN throughout a matrix that is not positive definite.
[[nodiscard]] hlo::Literal cholesky_or_nan(const hlo::Literal& a, bool lower);

struct LuFactors {
  hlo::Literal factors;               // L below the diagonal (its own diagonal is one), U on and above it
  std::vector<int32_t> pivots;        // for each matrix and step i: the row, not above i, exchanged with row i
  std::vector<int32_t> permutations;  // for each matrix and row of L * U: which row of A it is
  std::vector<int64_t> zero_pivot;  // for each matrix: 0, or the first step (from 1) whose pivot is zero; its column is
                                    // left undivided
};
// P * A = L * U with partial pivoting: the largest magnitude of a column, the first of equal ones (for complex numbers
// |re| + |im|, as LAPACK has it).
[[nodiscard]] LuFactors lu_factor(const hlo::Literal& a);

struct QrFactors {
  hlo::Literal factors;  // R on and above the diagonal; below it the Householder vectors, whose first element is one
  hlo::Literal coefficients;  // tau: a vector for each matrix
};
// A = Q * R, Q = H(1) * H(2) * ..., H(i) = I - tau(i) * v(i) * v(i)^H, with LAPACK's signs: the diagonal of R is real
// and has the sign opposite to what stood there.
[[nodiscard]] QrFactors qr_factor(const hlo::Literal& a, const hlo::Shape& coefficients);
// The first columns of Q, as many as `factors` has.
[[nodiscard]] hlo::Literal householder_product(const hlo::Literal& factors, const hlo::Literal& coefficients);

struct Eigenpairs {
  hlo::Literal vectors;  // of A's shape: column i is the vector of value i; its sign is as the method has it
  hlo::Literal values;   // ascending
};
// A * V = V * diag(values) for real symmetric A, from the stated triangle of A alone. NaN throughout where A has an
// infinity or a NaN.
[[nodiscard]] Eigenpairs eigenpairs(const hlo::Literal& a, bool lower, const hlo::Shape& values);

// X with op(A) * X = B, or X * op(A) = B where options.left_side() is false.
[[nodiscard]] hlo::Literal solve_triangular(const hlo::Literal& a, const hlo::Literal& b,
                                            const proto::TriangularSolveOptions& options);

}  // namespace sapper::eval
