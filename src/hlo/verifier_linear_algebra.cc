// Rules of dot and its relatives, FFT, Cholesky factors and triangular solves.
#include <algorithm>

#include "hlo/compressed_dot.h"
#include "hlo/verifier_rules.h"

namespace sapper::hlo::verifier {
namespace {

// The dimensions of one side of a dot.
struct Side {
  const Shape& shape;
  DimensionSet contracting;
  DimensionSet batch;
  // Free dimensions are those that are neither.
  [[nodiscard]] bool is_free(size_t i) const {
    const auto dimension = static_cast<int64_t>(i);
    return !contracting.contains(dimension) && !batch.contains(dimension);
  }
};

Result<Side> read_side(const Site& site, std::string_view name, const Shape& shape,
                       std::span<const int64_t> contracting, std::span<const int64_t> batch) {
  Side side{shape, DimensionSet(shape.rank()), DimensionSet(shape.rank())};
  SAPPER_CHECKED(add_dimensions(site, "contracting dimensions", contracting, shape.rank(), &side.contracting));
  SAPPER_CHECKED(add_dimensions(site, "batch dimensions", batch, shape.rank(), &side.batch));
  for (const int64_t dimension : batch)
    if (side.contracting.contains(dimension))
      return site.bad("dimension {} of {} is both contracting and batch", dimension, name);
  return side;
}

// Dimensions lhs[i] of operand 0 and rhs[i] of operand 1 have the same sizes.
Status check_paired(const Site& site, std::string_view kind, std::span<const int64_t> lhs,
                    std::span<const int64_t> rhs) {
  if (lhs.size() != rhs.size()) return site.bad("{} {} dimensions of lhs but {} of rhs", lhs.size(), kind, rhs.size());
  for (size_t i = 0; i < lhs.size(); ++i) {
    if (site.operand(0).dimension(static_cast<size_t>(lhs[i])) !=
        site.operand(1).dimension(static_cast<size_t>(rhs[i])))
      return site.bad("{} dimensions {} of {} and {} of {} differ in size", kind, lhs[i], text(site.operand(0)), rhs[i],
                      text(site.operand(1)));
  }
  return {};
}

void add_free_dimensions(const Side& side, ShapeBuilder* builder) {
  for (size_t i = 0; i < side.shape.rank(); ++i)
    if (side.is_free(i)) builder->add(side.shape.dimension(i), side.shape.is_dynamic(i));
}

void add_dimensions_of(const Shape& shape, std::span<const int64_t> dimensions, ShapeBuilder* builder) {
  for (const int64_t dimension : dimensions)
    builder->add(shape.dimension(static_cast<size_t>(dimension)), shape.is_dynamic(static_cast<size_t>(dimension)));
}

// Batch dimensions, then the free ones of lhs, then those of rhs.
Result<Inferred> infer_product(const Site& site) {
  SAPPER_CHECKED(expect_array(site, 0));
  SAPPER_CHECKED(expect_array(site, 1));
  const proto::DotDimensionNumbers& numbers = site.attributes().dot_dimension_numbers();
  const auto lhs_contracting = span_of(numbers.lhs_contracting_dimensions());
  const auto rhs_contracting = span_of(numbers.rhs_contracting_dimensions());
  const auto lhs_batch = span_of(numbers.lhs_batch_dimensions());
  const auto rhs_batch = span_of(numbers.rhs_batch_dimensions());
  SAPPER_TRY(const Side lhs, read_side(site, "lhs", site.operand(0), lhs_contracting, lhs_batch));
  SAPPER_TRY(const Side rhs, read_side(site, "rhs", site.operand(1), rhs_contracting, rhs_batch));
  // A sparse or block-scaled operand is stored shorter along the contracted dimension.
  const bool compressed = is_compressed_dot(site.attributes());
  if (!compressed) SAPPER_CHECKED(check_paired(site, "contracting", lhs_contracting, rhs_contracting));
  SAPPER_CHECKED(check_paired(site, "batch", lhs_batch, rhs_batch));
  SAPPER_TRY(const ElementType type, product_type(site));
  ShapeBuilder builder(site.stated(), type);
  add_dimensions_of(lhs.shape, lhs_batch, &builder);
  add_free_dimensions(lhs, &builder);
  add_free_dimensions(rhs, &builder);
  return builder.finish();
}

Status check_matrix(const Site& site, size_t i) {
  const Shape& shape = site.operand(i);
  if (!is_float(shape.element_type()) && !is_complex(shape.element_type()))
    return site.bad("operand {} is {}, expected floating-point or complex", i, text(shape));
  if (shape.rank() < 2) return site.bad("operand {} is {}, expected at least 2 dimensions", i, text(shape));
  return {};
}

Status check_square(const Site& site, size_t i) {
  SAPPER_CHECKED(check_matrix(site, i));
  const Shape& shape = site.operand(i);
  if (shape.dimension(shape.rank() - 1) != shape.dimension(shape.rank() - 2))
    return site.bad("operand {} is {}, expected square matrices in the last two dimensions", i, text(shape));
  return {};
}

}  // namespace

Result<ElementType> product_type(const Site& site) {
  const ElementType lhs = site.operand(0).element_type();
  const ElementType rhs = site.operand(1).element_type();
  // Classes may be mixed: frontends multiply integers by floats in one dot.
  const auto rank_of = [](ElementType type) { return std::pair(element_class(type), bit_width(type)); };
  const ElementType wider = rank_of(rhs) > rank_of(lhs) ? rhs : lhs;
  const ElementType stated = site.stated().element_type();
  if (!is_array_type(stated) || stated == wider) return wider;
  const bool fits = is_float(wider)     ? is_float(stated) || is_complex(stated)
                    : is_complex(wider) ? is_complex(stated) && bit_width(stated) >= bit_width(wider)
                                        : bit_width(stated) >= bit_width(wider);
  if (!fits) return site.bad("products of {} cannot be accumulated in {}", to_string(wider), to_string(stated));
  return stated;
}

Result<Inferred> infer_dot(const Site& site) {
  const bool compressed = is_compressed_dot(site.attributes());
  if (site.operand_count() > 2 && !compressed)
    return site.bad("{} operands, expected 2 (lhs, rhs) without sparsity or block scaling", site.operand_count());
  return infer_product(site);
}

Result<Inferred> infer_scaled_dot(const Site& site) {
  SAPPER_CHECKED(expect_arrays(site));
  return infer_product(site);
}

// Groups of rows of lhs (their sizes are operand 2) meet different matrices of rhs. The ragged dimension of lhs is
// free: rhs has a group dimension; contracting: the result gains one in front; or batch: neither has one.
Result<Inferred> infer_ragged_dot(const Site& site) {
  SAPPER_CHECKED(expect_arrays(site));
  const proto::RaggedDotDimensionNumbers& ragged = site.attributes().ragged_dot_dimension_numbers();
  const proto::DotDimensionNumbers& numbers = ragged.dot_dimension_numbers();
  const auto lhs_contracting = span_of(numbers.lhs_contracting_dimensions());
  const auto rhs_contracting = span_of(numbers.rhs_contracting_dimensions());
  const auto lhs_batch = span_of(numbers.lhs_batch_dimensions());
  const auto rhs_batch = span_of(numbers.rhs_batch_dimensions());
  const auto lhs_ragged = span_of(ragged.lhs_ragged_dimensions());
  const auto rhs_group = span_of(ragged.rhs_group_dimensions());
  SAPPER_TRY(const Side lhs, read_side(site, "lhs", site.operand(0), lhs_contracting, lhs_batch));
  SAPPER_TRY(Side rhs, read_side(site, "rhs", site.operand(1), rhs_contracting, rhs_batch));
  SAPPER_CHECKED(check_paired(site, "contracting", lhs_contracting, rhs_contracting));
  SAPPER_CHECKED(check_paired(site, "batch", lhs_batch, rhs_batch));
  const Shape& sizes = site.operand(2);
  if (!is_integer(sizes.element_type()) || sizes.rank() == 0)
    return site.bad("group sizes are {}, expected integers with a last dimension of groups", text(sizes));
  if (lhs_ragged.size() != 1) return site.bad("{} ragged dimensions, expected 1", lhs_ragged.size());
  SAPPER_CHECKED(dimension_set(site, "lhs_ragged_dims", lhs_ragged, lhs.shape.rank()));
  SAPPER_CHECKED(dimension_set(site, "rhs_group_dims", rhs_group, rhs.shape.rank()));
  const int64_t groups = sizes.dimension(sizes.rank() - 1);
  const bool free = lhs.is_free(static_cast<size_t>(lhs_ragged[0]));
  if (rhs_group.size() != (free ? 1 : 0))
    return site.bad("{} rhs group dimensions, expected {}", rhs_group.size(), free ? 1 : 0);
  if (free) {
    if (!rhs.is_free(static_cast<size_t>(rhs_group[0])))
      return site.bad("rhs group dimension {} is also a contracting or batch dimension", rhs_group[0]);
    if (rhs.shape.dimension(static_cast<size_t>(rhs_group[0])) != groups)
      return site.bad("rhs {} has {} groups but group sizes {} have {}", text(rhs.shape),
                      rhs.shape.dimension(static_cast<size_t>(rhs_group[0])), text(sizes), groups);
    rhs.contracting.insert(rhs_group[0]);  // not a free dimension of the result
  }
  SAPPER_TRY(const ElementType type, product_type(site));
  ShapeBuilder builder(site.stated(), type);
  if (lhs.contracting.contains(lhs_ragged[0])) builder.add(groups);
  add_dimensions_of(lhs.shape, lhs_batch, &builder);
  add_free_dimensions(lhs, &builder);
  add_free_dimensions(rhs, &builder);
  return builder.finish();
}

Result<Inferred> infer_cholesky(const Site& site) {
  SAPPER_CHECKED(check_square(site, 0));
  return site.operand(0);
}

Result<Inferred> infer_triangular_solve(const Site& site) {
  SAPPER_CHECKED(check_square(site, 0));
  SAPPER_CHECKED(check_matrix(site, 1));
  const Shape& a = site.operand(0);
  const Shape& b = site.operand(1);
  const proto::TriangularSolveOptions& options = site.attributes().triangular_solve_options();
  const auto fits = [&] {
    if (a.rank() != b.rank() || !interchangeable(a.element_type(), b.element_type())) return false;
    if (!std::equal(a.dimensions().begin(), a.dimensions().end() - 2, b.dimensions().begin())) return false;
    return a.dimension(a.rank() - 1) == b.dimension(b.rank() - (options.left_side() ? 2 : 1));
  };
  if (!fits())
    return site.bad("operands {} and {} do not fit with left_side={}", text(a), text(b), options.left_side());
  if (options.transpose_a() < proto::TriangularSolveOptions::NO_TRANSPOSE ||
      options.transpose_a() > proto::TriangularSolveOptions::ADJOINT)
    return site.bad("transpose_a is {}, expected NO_TRANSPOSE, TRANSPOSE or ADJOINT",
                    static_cast<int>(options.transpose_a()));
  return b;
}

Result<Inferred> infer_fft(const Site& site) {
  SAPPER_CHECKED(expect_array(site, 0));
  const Shape& operand = site.operand(0);
  const auto lengths = span_of(site.attributes().fft_length());
  if (lengths.empty() || lengths.size() > 3) return site.bad("{} FFT lengths, expected 1 to 3", lengths.size());
  if (operand.rank() < lengths.size())
    return site.bad("{} FFT lengths but operand is {}", lengths.size(), text(operand));
  const proto::FftType type = site.attributes().fft_type();
  if (type < proto::FFT || type > proto::IRFFT) return site.bad("unknown FFT type {}", static_cast<int>(type));
  const bool real_input = type == proto::RFFT;
  const bool real_output = type == proto::IRFFT;
  const ElementType from = operand.element_type();
  if (real_input ? (from != ElementType::F32 && from != ElementType::F64) : !is_complex(from))
    return site.bad("operand is {}, expected {}", text(operand), real_input ? "f32 or f64" : "complex");

  // All lengths are those of the time domain, and IRFFT's operand holds only half of the last dimension's frequencies.
  const size_t outer = operand.rank() - lengths.size();
  const size_t last = operand.rank() - 1;
  const auto halved = [](int64_t length) { return length == 0 ? 0 : length / 2 + 1; };
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] < 0) return site.bad("FFT length {} is negative", lengths[i]);
    const int64_t expected = real_output && outer + i == last ? halved(lengths[i]) : lengths[i];
    if (operand.dimension(outer + i) != expected)
      return site.bad("dimension {} of {} must be {} for FFT length {}", outer + i, text(operand), expected,
                      lengths[i]);
  }
  const ElementType to = real_output  ? component_type(from)
                         : real_input ? (from == ElementType::F32 ? ElementType::C64 : ElementType::C128)
                                      : from;
  ShapeBuilder builder(site.stated(), to);
  for (size_t i = 0; i < last; ++i) builder.add(operand.dimension(i), operand.is_dynamic(i));
  const int64_t size = real_input ? halved(lengths.back()) : real_output ? lengths.back() : operand.dimension(last);
  builder.add(size, operand.is_dynamic(last));
  return builder.finish();
}

}  // namespace sapper::hlo::verifier
