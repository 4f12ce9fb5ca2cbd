// cholesky and triangular-solve, by the perturbation theory of their results (Higham, Accuracy and Stability of
// Numerical Algorithms, chapters 8 and 10): a result of any stable algorithm is exact for operands that are moved a
// little, and |inverse| says how much that moves the result. Products of magnitudes are taken in f32.
#include <algorithm>
#include <limits>

#include "bounds/rules.h"
#include "bounds/transformer.h"

namespace sapper::bounds {

using hlo::ElementType;
using hlo::Instruction;
using hlo::Opcode;
using hlo::Shape;

namespace {

// Blocked algorithms invert diagonal blocks: a few times the roundings of substitution.
constexpr double block_factor = 4;

// Matrices in the last two dimensions of an array of `shape`, those before count batches.
class Matrices {
 public:
  Matrices(const Site& site, const Shape& shape)
      : site_(site), shape_(shape), rank_(static_cast<int64_t>(shape.rank())) {}

  [[nodiscard]] Expression counter(int64_t dimension) const {
    Instruction iota;
    iota.opcode = Opcode::Iota;
    iota.dimensions = {dimension};
    return {&site_.builder, site_.builder.add_like(iota, shape_.with_element_type(ElementType::F32), {})};
  }
  [[nodiscard]] Expression rows() const { return counter(rank_ - 2); }
  [[nodiscard]] Expression columns() const { return counter(rank_ - 1); }

  [[nodiscard]] Expression identity(ElementType type) const {
    return converted(compare("EQ", rows(), columns()), type);
  }

  // `a` with zeros outside of one triangle.
  [[nodiscard]] Expression triangle(Expression a, bool lower) const {
    return where(lower ? rows() >= columns() : rows() <= columns(), a, a.constant(0));
  }

 private:
  const Site& site_;
  Shape shape_;
  int64_t rank_;
};

// a b of matrices, or a transposed b.
Expression times(Expression a, Expression b, bool transpose_b = false) {
  const auto rank = static_cast<int64_t>(a.shape().rank());
  Instruction dot;
  dot.opcode = Opcode::Dot;
  auto* const numbers = dot.edit_attributes().mutable_dot_dimension_numbers();
  for (int64_t d = 0; d < rank - 2; ++d) {
    numbers->add_lhs_batch_dimensions(d);
    numbers->add_rhs_batch_dimensions(d);
  }
  numbers->add_lhs_contracting_dimensions(rank - 1);
  numbers->add_rhs_contracting_dimensions(transpose_b ? rank - 1 : rank - 2);
  std::vector<int64_t> dimensions = a.shape().dimensions();
  dimensions.back() = b.shape().dimension(static_cast<size_t>(transpose_b ? rank - 2 : rank - 1));
  a = converted(a, ElementType::F32);
  b = converted(b, ElementType::F32);
  return {a.builder,
          a.builder->add_like(dot, Shape::array(ElementType::F32, std::move(dimensions)), {a.index, b.index})};
}

Expression transposed(Expression a) {
  Instruction transpose;
  transpose.opcode = Opcode::Transpose;
  std::vector<int64_t> dimensions = a.shape().dimensions();
  for (size_t d = 0; d < dimensions.size(); ++d) transpose.dimensions.push_back(static_cast<int64_t>(d));
  std::swap(dimensions[dimensions.size() - 1], dimensions[dimensions.size() - 2]);
  std::swap(transpose.dimensions[dimensions.size() - 1], transpose.dimensions[dimensions.size() - 2]);
  return {a.builder,
          a.builder->add_like(transpose, Shape::array(a.shape().element_type(), std::move(dimensions)), {a.index})};
}

double roundings(const Site& site, const Shape& matrix) {
  const auto size = static_cast<double>(matrix.dimensions().back());
  return block_factor * (numerics::sum_growth(site.contract(), size) + 2) * site.unit_roundoff();
}

// What the terms of one element may lose where they underflow: flushed to zero, else a rounding of a subnormal each.
double underflow(const Site& site, const Shape& matrix) {
  const auto terms = 2 * static_cast<double>(matrix.dimensions().back() + 1);
  return std::max(site.flushed_terms(terms), terms * smallest(site.type()));
}

Expression inverse_magnitude(const Site& site, Expression triangular, const proto::TriangularSolveOptions& options) {
  Instruction solve;
  solve.opcode = Opcode::TriangularSolve;
  *solve.edit_attributes().mutable_triangular_solve_options() = options;
  const Expression identity = Matrices(site, triangular.shape()).identity(triangular.shape().element_type());
  return magnitude_of(
      {&site.builder, site.builder.add_like(solve, triangular.shape(), {triangular.index, identity.index})});
}

}  // namespace

// A = L L^T moves by dA (its own deviation and n + 1 roundings of |L| |L^T|); then L moves by L times the lower
// triangle of |L^-1 dA L^-T|, to first order. Twice that holds while the triangle's entries stay well below 1.
Deviations bound_lower_cholesky(const Site& site) {
  if (hlo::is_complex(site.type())) return site.unbounded();
  const Expression factor = site.result_magnitude();
  const double lost = underflow(site, site.instruction.shape);
  Expression moved = times(factor, factor, true) * roundings(site, site.instruction.shape) + lost;
  if (const Deviation a = site.deviation(0)) moved = moved + *a;
  proto::TriangularSolveOptions options;
  options.set_left_side(true);
  options.set_lower(true);
  options.set_transpose_a(proto::TriangularSolveOptions::NO_TRANSPOSE);
  const Expression inverse = inverse_magnitude(site, {&site.builder, site.result}, options);
  const Matrices matrices(site, site.instruction.shape);
  const Expression change = matrices.triangle(times(times(inverse, moved), inverse, true), true);
  const Expression bound = times(factor, change) * 2;
  // Any entry that is not small leaves its whole matrix in doubt, through the product of large with infinite.
  const Expression doubt =
      where(change < 0.25, change.constant(0), change.constant(std::numeric_limits<double>::infinity()));
  const Expression ones = doubt.constant(1);
  const Expression spread = times(times(ones, doubt), ones);
  const Expression total = matrices.triangle(bound + spread + lost, true);
  return {inflated(converted(total, deviation_type(site.type())))};
}

Deviations bound_cholesky(const Site& site) {
  return site.instruction.attributes().cholesky_options().lower() ? bound_lower_cholesky(site) : site.unbounded();
}

// X = T^-1: |dX| <= |X| (roundings |T| + dT) |X|; what underflows is lost from T, from the products, and from X.
Deviations bound_triangular_inverse(const Site& site, bool lower) {
  const double lost = underflow(site, site.operand_shape(0));
  Expression move = site.magnitude(0) * roundings(site, site.operand_shape(0)) + lost;
  if (const Deviation t = site.deviation(0)) move = move + *t;
  const Expression inverse = site.result_magnitude();
  const Matrices matrices(site, site.operand_shape(0));
  const Expression residual = times(matrices.triangle(move, lower), inverse) + lost;
  const Expression bound = times(inverse, matrices.triangle(residual, lower)) + lost;
  return {inflated(converted(matrices.triangle(bound, lower), deviation_type(site.type())))};
}

// T X = B: |dX| <= |T^-1| (roundings |T| |X| + dT |X| + dB); what underflows as for the inverse.
Deviations bound_triangular_solve(const Site& site) {
  const proto::TriangularSolveOptions& options = site.instruction.attributes().triangular_solve_options();
  const Matrices matrices(site, site.operand_shape(0));
  const bool left = options.left_side();
  const bool transpose = options.transpose_a() != proto::TriangularSolveOptions::NO_TRANSPOSE;
  const auto oriented = [&](Expression a) {
    const Expression inside = matrices.triangle(a, options.lower());
    return transpose ? transposed(inside) : inside;
  };
  const auto combined = [&](Expression matrix, Expression other) {
    return left ? times(matrix, other) : times(other, matrix);
  };
  const double lost = underflow(site, site.operand_shape(0));
  Expression move = oriented(site.magnitude(0) * roundings(site, site.operand_shape(0)) + lost);
  if (const Deviation t = site.deviation(0)) move = move + oriented(*t);
  Expression residual = combined(move, site.result_magnitude()) + lost;
  if (const Deviation b = site.deviation(1)) residual = residual + *b;
  proto::TriangularSolveOptions inverse_options = options;
  inverse_options.set_left_side(true);
  const Expression bound = combined(inverse_magnitude(site, site.operand(0), inverse_options), residual) + lost;
  return {inflated(converted(bound, deviation_type(site.type())))};
}

}  // namespace sapper::bounds
