// LAPACK and BLAS routines that JAX calls on CPU. Their options are letters in the backend config, {uplo = 76 : ui8};
// info and pivots are counted from one, as LAPACK does.
#include <algorithm>
#include <charconv>
#include <optional>

#include "eval/custom_call.h"
#include "eval/linear_algebra.h"

namespace sapper::eval {
namespace {

// The letter of option `name` in a backend config; nullopt when it is not there.
std::optional<char> letter(const OpContext& context, std::string_view name) {
  const std::string& config = context.instruction.attributes().backend_config();
  const size_t at = config.find(fmt::format("{} = ", name));
  if (at == std::string::npos) return std::nullopt;
  const char* const number = config.data() + at + name.size() + 3;
  int code = 0;
  if (std::from_chars(number, config.data() + config.size(), code).ec != std::errc() || code < 0 || code > 127)
    return std::nullopt;
  return static_cast<char>(code);
}

bool is_square(const hlo::Literal& matrix) {
  const std::vector<int64_t>& dimensions = matrix.shape().dimensions();
  return dimensions.size() >= 2 && dimensions[dimensions.size() - 1] == dimensions[dimensions.size() - 2];
}

template <class Number>
Result<hlo::Literal> index_array(const OpContext& context, const hlo::Shape& shape, const std::vector<Number>& values) {
  if (shape.element_type() != hlo::ElementType::S32 || shape.element_count() != std::ssize(values))
    return unsupported_custom_call(context,
                                   fmt::format("{} cannot hold {} numbers", shape.to_text(false), values.size()));
  hlo::Literal result = hlo::Literal::uninitialized(shape);
  std::ranges::transform(values, result.mutable_data<int32_t>().begin(),
                         [](Number value) { return static_cast<int32_t>(value); });
  return result;
}

}  // namespace

// trsm: X with op(A) * X = B, or X * op(A) = B.
Result<hlo::Literal> call_lapack_trsm(const OpContext& context, std::span<const hlo::Literal> operands) {
  const std::optional<char> side = letter(context, "side");
  const std::optional<char> uplo = letter(context, "uplo");
  const std::optional<char> trans = letter(context, "trans_x");
  const std::optional<char> diag = letter(context, "diag");
  if (operands.size() != 2 || !side || !uplo || !trans || !diag)
    return unsupported_custom_call(context,
                                   "it does not have two operands and the options side, uplo, trans_x and diag");
  const size_t rank = operands[1].shape().rank();
  const size_t shared = rank - (side == 'L' ? 2 : 1);
  if (!is_square(operands[0]) || operands[0].shape().rank() != rank ||
      operands[0].shape().dimensions().back() != operands[1].shape().dimension(shared))
    return unsupported_custom_call(context, "its operands do not fit");
  proto::TriangularSolveOptions options;
  options.set_left_side(side == 'L');
  options.set_lower(uplo == 'L');
  options.set_unit_diagonal(diag == 'U');
  options.set_transpose_a(trans == 'N'   ? proto::TriangularSolveOptions::NO_TRANSPOSE
                          : trans == 'T' ? proto::TriangularSolveOptions::TRANSPOSE
                                         : proto::TriangularSolveOptions::ADJOINT);
  return solve_triangular(operands[0], operands[1], options);
}

// potrf: (factor, info); the other triangle stays as it was.
Result<hlo::Literal> call_lapack_potrf(const OpContext& context, std::span<const hlo::Literal> operands) {
  const std::optional<char> uplo = letter(context, "uplo");
  const std::vector<hlo::Shape>& shapes = context.instruction.shape.elements();
  if (operands.size() != 1 || !is_square(operands[0]) || !uplo || shapes.size() != 2)
    return unsupported_custom_call(context,
                                   "it is not of a square matrix with the option uplo, giving factor and info");
  CholeskyFactor result = cholesky_factor(operands[0], uplo == 'L');
  SAPPER_TRY(hlo::Literal info, index_array(context, shapes[1], result.failed_minor));
  return hlo::Literal::tuple({std::move(result.factor), std::move(info)});
}

// getrf: (factors, pivots, info).
Result<hlo::Literal> call_lapack_getrf(const OpContext& context, std::span<const hlo::Literal> operands) {
  const std::vector<hlo::Shape>& shapes = context.instruction.shape.elements();
  if (operands.size() != 1 || operands[0].shape().rank() < 2 || shapes.size() != 3)
    return unsupported_custom_call(context, "it is not of a matrix, giving factors, pivots and info");
  LuFactors lu = lu_factor(operands[0]);
  for (int32_t& pivot : lu.pivots) ++pivot;
  SAPPER_TRY(hlo::Literal pivots, index_array(context, shapes[1], lu.pivots));
  SAPPER_TRY(hlo::Literal info, index_array(context, shapes[2], lu.zero_pivot));
  return hlo::Literal::tuple({std::move(lu.factors), std::move(pivots), std::move(info)});
}

}  // namespace sapper::eval
