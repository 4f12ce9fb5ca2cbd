// Custom calls of factorizations in programs for TPU: those of frontends (LuDecomposition, Qr, ...) and those that the
// compiler's expanders put in their place for one block (LuRealDecompositionBlock, ...).
#include <algorithm>

#include "eval/custom_call.h"
#include "eval/linear_algebra.h"
#include "eval/matrix.h"

namespace sapper::eval {
namespace {

bool is_matrix(const hlo::Literal& literal) {
  const hlo::ElementType type = literal.shape().element_type();
  return literal.shape().rank() >= 2 && (hlo::is_float(type) || hlo::is_complex(type));
}

bool is_square(const hlo::Literal& literal) {
  const std::vector<int64_t>& dimensions = literal.shape().dimensions();
  return is_matrix(literal) && dimensions[dimensions.size() - 1] == dimensions[dimensions.size() - 2];
}

// Array of s32 that holds these numbers.
Result<hlo::Literal> index_array(const OpContext& context, const hlo::Shape& shape,
                                 const std::vector<int32_t>& values) {
  if (shape.element_type() != hlo::ElementType::S32 || shape.element_count() != std::ssize(values))
    return unsupported_custom_call(context,
                                   fmt::format("{} cannot hold {} indices", shape.to_text(false), values.size()));
  hlo::Literal result = hlo::Literal::uninitialized(shape);
  std::ranges::copy(values, result.mutable_data<int32_t>().begin());
  return result;
}

Result<hlo::Literal> invert_triangular(const OpContext& context, std::span<const hlo::Literal> operands, bool lower) {
  if (operands.size() != 1 || !is_square(operands[0]))
    return unsupported_custom_call(context, "it has no square operand");
  const hlo::Literal& blocks = operands[0];
  hlo::Literal identity(blocks.shape());
  const int64_t n = blocks.shape().dimensions().back();
  for (int64_t i = 0; i < identity.element_count(); i += n) {
    const int64_t diagonal = i + i / n % n;
    hlo::is_complex(identity.shape().element_type()) ? identity.set_complex(diagonal, 1)
                                                     : identity.set_real(diagonal, 1);
  }
  proto::TriangularSolveOptions options;
  options.set_left_side(true);
  options.set_lower(lower);
  options.set_transpose_a(proto::TriangularSolveOptions::NO_TRANSPOSE);
  return solve_triangular(blocks, identity, options);
}

}  // namespace

Result<hlo::Literal> call_cholesky(const OpContext& context, std::span<const hlo::Literal> operands) {
  if (operands.size() != 1 || !is_square(operands[0]))
    return unsupported_custom_call(context, "it has no square operand");
  return cholesky_or_nan(operands[0], /*lower=*/true);
}

Result<hlo::Literal> call_invert_lower_triangular(const OpContext& context, std::span<const hlo::Literal> operands) {
  return invert_triangular(context, operands, /*lower=*/true);
}

Result<hlo::Literal> call_invert_upper_triangular(const OpContext& context, std::span<const hlo::Literal> operands) {
  return invert_triangular(context, operands, /*lower=*/false);
}

// (factors, pivots, permutation), both counted from zero.
Result<hlo::Literal> call_lu_decomposition(const OpContext& context, std::span<const hlo::Literal> operands) {
  const std::vector<hlo::Shape>& shapes = context.instruction.shape.elements();
  if (operands.size() != 1 || !is_matrix(operands[0]) || shapes.size() != 3)
    return unsupported_custom_call(context, "it is not of a matrix, giving factors, pivots and permutation");
  LuFactors lu = lu_factor(operands[0]);
  SAPPER_TRY(hlo::Literal pivots, index_array(context, shapes[1], lu.pivots));
  SAPPER_TRY(hlo::Literal permutation, index_array(context, shapes[2], lu.permutations));
  return hlo::Literal::tuple({std::move(lu.factors), std::move(pivots), std::move(permutation)});
}

// (factors, coefficients), as LAPACK's geqrf has them.
Result<hlo::Literal> call_qr_decomposition(const OpContext& context, std::span<const hlo::Literal> operands) {
  const std::vector<hlo::Shape>& shapes = context.instruction.shape.elements();
  if (operands.size() != 1 || !is_matrix(operands[0]) || shapes.size() != 2)
    return unsupported_custom_call(context, "it is not of a matrix, giving factors and coefficients");
  std::vector<int64_t> expected = operands[0].shape().dimensions();
  const int64_t columns = expected.back();
  expected.pop_back();
  expected.back() = std::min(expected.back(), columns);
  if (shapes[1].dimensions() != expected)
    return unsupported_custom_call(context, "its coefficients have another shape");
  QrFactors qr = qr_factor(operands[0], shapes[1]);
  return hlo::Literal::tuple({std::move(qr.factors), std::move(qr.coefficients)});
}

// (vectors, values). The backend config is "LOWER,SORTED,ITERATIONS,TOLERANCE", the first two 0 or 1; values that need
// not be sorted are.
Result<hlo::Literal> call_eigh(const OpContext& context, std::span<const hlo::Literal> operands) {
  const std::vector<hlo::Shape>& shapes = context.instruction.shape.elements();
  const std::string& config = context.instruction.attributes().backend_config();
  const bool known = config.starts_with("0,") || config.starts_with("1,");
  if (operands.size() != 1 || !is_matrix(operands[0]) || shapes.size() != 2 || !known)
    return unsupported_custom_call(context, "it is not of a matrix, with a triangle, giving vectors and values");
  std::vector<int64_t> expected = operands[0].shape().dimensions();
  const int64_t columns = expected.back();
  expected.pop_back();
  if (expected.back() != columns || shapes[1].dimensions() != expected || !hlo::is_float(shapes[1].element_type()) ||
      !hlo::is_float(operands[0].shape().element_type()))
    return unsupported_custom_call(context, "it is not of a real square matrix");
  Eigenpairs pairs = eigenpairs(operands[0], config.front() == '1', shapes[1]);
  return hlo::Literal::tuple({std::move(pairs.vectors), std::move(pairs.values)});
}

// Q from what a QR decomposition gives; LAPACK's orgqr.
Result<hlo::Literal> call_householder_product(const OpContext& context, std::span<const hlo::Literal> operands) {
  if (operands.size() != 2 || !is_matrix(operands[0]) || operands[1].shape().rank() + 1 != operands[0].shape().rank())
    return unsupported_custom_call(context, "it is not of factors and coefficients");
  const std::vector<int64_t>& dimensions = operands[0].shape().dimensions();
  const int64_t steps = operands[1].shape().dimensions().back();
  if (steps > dimensions.back() || dimensions.back() > dimensions[dimensions.size() - 2])
    return unsupported_custom_call(context, "it has more columns than rows, or more reflections than columns");
  return householder_product(operands[0], operands[1]);
}

// From M = (I + U) * diag(-tau), where U is the part above the diagonal of V^T * V, the C with
// H(1) * H(2) * ... = I + V * C * V^T. Column by column: C(j) = M(j, j) * e(j) + C * M(j), of M(j) what is above the
// diagonal.
Result<hlo::Literal> call_compact_wy_helper(const OpContext& context, std::span<const hlo::Literal> operands) {
  if (operands.size() != 1 || !is_square(operands[0]))
    return unsupported_custom_call(context, "it has no square operand");
  return with_working_type(operands[0].shape().element_type(), [&]<class Number>() -> hlo::Literal {
    MatrixBatch<Number> given = read_matrices<Number>(operands[0]);
    MatrixBatch<Number> result = given;
    for_each_matrix(given.count, [&](int64_t index) {
      const MatrixView<Number> m = given[index];
      const MatrixView<Number> c = result[index];
      for (int64_t j = 0; j < c.columns; ++j) {
        for (int64_t i = 0; i < c.rows; ++i) {
          Number sum = i == j ? m(j, j) : Number(0);
          for (int64_t k = i; k < j; ++k) sum += product(c(i, k), m(k, j));
          c(i, j) = sum;
        }
      }
    });
    return round_to_literal(result.values, operands[0].shape());
  });
}

}  // namespace sapper::eval
