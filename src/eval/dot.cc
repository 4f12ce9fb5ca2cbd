// dot: batch, free and contracting dimensions in any places and of any types, as one Contraction. Precision and
// algorithm attributes say how a compiler may approximate; the exact value does not depend on them.
#include "eval/dot.h"

#include <algorithm>

#include "eval/dimensions.h"
#include "eval/dynamic_shape.h"
#include "eval/op.h"
#include "hlo/compressed_dot.h"

namespace sapper::eval {
namespace {

// Actual sizes of the result's dimensions, when an operand has dynamic ones.
std::vector<int64_t> result_extents(const proto::DotDimensionNumbers& numbers, const hlo::Literal& lhs,
                                    const hlo::Literal& rhs) {
  std::vector<int64_t> sizes;
  for (const int64_t d : numbers.lhs_batch_dimensions()) sizes.push_back(actual_sizes(lhs)[static_cast<size_t>(d)]);
  const auto add_free = [&](const hlo::Literal& operand, const auto& batch, const auto& contracting) {
    for (const int64_t d : other_dimensions(operand.shape().rank(), view(batch), view(contracting)))
      sizes.push_back(actual_sizes(operand)[static_cast<size_t>(d)]);
  };
  add_free(lhs, numbers.lhs_batch_dimensions(), numbers.lhs_contracting_dimensions());
  add_free(rhs, numbers.rhs_batch_dimensions(), numbers.rhs_contracting_dimensions());
  return sizes;
}

}  // namespace

Contraction dot_contraction(const proto::DotDimensionNumbers& numbers, const hlo::Literal& lhs,
                            const hlo::Literal& rhs) {
  std::vector<int64_t> lhs_sizes = lhs.shape().dimensions();
  std::vector<int64_t> rhs_sizes = rhs.shape().dimensions();
  // Beyond the actual size of a dynamic contracting dimension there is nothing to add.
  for (int i = 0; i < numbers.lhs_contracting_dimensions_size(); ++i) {
    const auto left = static_cast<size_t>(numbers.lhs_contracting_dimensions(i));
    const auto right = static_cast<size_t>(numbers.rhs_contracting_dimensions(i));
    lhs_sizes[left] = rhs_sizes[right] = std::min(actual_sizes(lhs)[left], actual_sizes(rhs)[right]);
  }
  const std::vector<int64_t> lhs_strides = row_major_strides(lhs.shape().dimensions());
  const std::vector<int64_t> rhs_strides = row_major_strides(rhs.shape().dimensions());
  const std::vector<int64_t> lhs_free = other_dimensions(lhs_sizes.size(), view(numbers.lhs_batch_dimensions()),
                                                         view(numbers.lhs_contracting_dimensions()));
  const std::vector<int64_t> rhs_free = other_dimensions(rhs_sizes.size(), view(numbers.rhs_batch_dimensions()),
                                                         view(numbers.rhs_contracting_dimensions()));
  Contraction contraction{.lhs_batch = offsets_over(lhs_sizes, lhs_strides, view(numbers.lhs_batch_dimensions())),
                          .lhs_free = offsets_over(lhs_sizes, lhs_strides, lhs_free),
                          .lhs_sum = offsets_over(lhs_sizes, lhs_strides, view(numbers.lhs_contracting_dimensions())),
                          .rhs_batch = offsets_over(rhs_sizes, rhs_strides, view(numbers.rhs_batch_dimensions())),
                          .rhs_free = offsets_over(rhs_sizes, rhs_strides, rhs_free),
                          .rhs_sum = offsets_over(rhs_sizes, rhs_strides, view(numbers.rhs_contracting_dimensions())),
                          .result_batch = {},
                          .result_lhs = {},
                          .result_rhs = {}};
  const auto batches = std::ssize(contraction.lhs_batch);
  const auto rows = std::ssize(contraction.lhs_free);
  const auto columns = std::ssize(contraction.rhs_free);
  contraction.result_batch = progression(batches, rows * columns);
  contraction.result_lhs = progression(rows, columns);
  contraction.result_rhs = progression(columns, 1);
  return contraction;
}

Result<hlo::Literal> dot_general(const proto::DotDimensionNumbers& numbers, const hlo::Literal& lhs,
                                 const hlo::Literal& rhs, const hlo::Shape& shape) {
  SAPPER_TRY(const Accumulator accumulator,
             choose_accumulator(lhs.shape().element_type(), rhs.shape().element_type(), shape.element_type()));
  hlo::Literal result(shape);
  if (shape.is_dynamic()) result.set_dynamic_sizes(result_extents(numbers, lhs, rhs));
  if (shape.element_count() == 0 || lhs.element_count() == 0) return result;  // an empty sum is zero
  contract(dot_contraction(numbers, lhs, rhs), accumulator, widen(lhs, accumulator)->data(),
           widen(rhs, accumulator)->data(), result);
  return result;
}

Result<hlo::Literal> dot(const OpContext& context, std::span<const hlo::Literal> operands) {
  const hlo::Instruction& instruction = context.instruction;
  const hlo::Attributes& attributes = instruction.attributes();
  if (hlo::is_compressed_dot(attributes) || operands.size() != 2)
    return fail(hlo::error_at(ErrorKind::Unsupported, instruction,
                              fmt::format("not evaluated: a sparse or block-scaled dot ({})", instruction.name)));
  return dot_general(attributes.dot_dimension_numbers(), operands[0], operands[1], instruction.shape);
}

}  // namespace sapper::eval
