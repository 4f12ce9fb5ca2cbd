// ragged-dot: consecutive stretches (groups, of sizes given at run time) of one dimension of lhs meet different
// matrices of rhs. Where that dimension is
//   free:         [b, m, k], [g, b, k, n] -> [b, m, n]: row m meets the rhs of its group; rows beyond the last group
//   are 0; contracting:  [b, m, k], [b, k, n] -> [g, b, m, n]: a sum for each group, over its k alone; batch: the same
//   as dot.
// Group sizes are [b..., x..., g], x being the dimensions of the same kind outer to the ragged one, or [g] for all of
// them.
#include <algorithm>

#include "eval/dimensions.h"
#include "eval/dot.h"
#include "eval/op.h"

namespace sapper::eval {
namespace {

// One dimension among several that are enumerated together, the last fastest: `outer` combinations of those before it,
// `inner` of those after.
struct Axis {
  int64_t outer = 1;
  int64_t size = 1;
  int64_t inner = 1;

  // Appends the numbers of the combinations with this outer part and first <= index < last along the axis.
  void append(int64_t outer_index, int64_t first, int64_t last, std::vector<size_t>& numbers) const {
    for (int64_t i = (outer_index * size + first) * inner; i < (outer_index * size + last) * inner; ++i)
      numbers.push_back(static_cast<size_t>(i));
  }
};

Axis find_axis(const hlo::Shape& shape, std::span<const int64_t> enumerated, int64_t dimension) {
  Axis axis;
  bool before = true;
  for (const int64_t d : enumerated) {
    const int64_t size = shape.dimension(static_cast<size_t>(d));
    if (d == dimension) {
      axis.size = size;
      before = false;
    } else {
      (before ? axis.outer : axis.inner) *= size;
    }
  }
  return axis;
}

// Along the ragged axis, the combinations that belong to a group, for one entry of the batch.
std::vector<size_t> members(const Axis& axis, const hlo::Literal& sizes, int64_t batch, int64_t group) {
  const int64_t groups = sizes.shape().dimensions().back();
  std::vector<size_t> found;
  for (int64_t outer = 0; outer < axis.outer; ++outer) {
    const int64_t list = sizes.shape().rank() == 1 ? 0 : (batch * axis.outer + outer) * groups;
    int64_t first = 0;
    int64_t last = 0;
    for (int64_t g = 0; g <= group; ++g) {
      first = last;
      last += std::clamp<int64_t>(sizes.integer_at(list + g), 0, axis.size - last);
    }
    axis.append(outer, first, last, found);
  }
  return found;
}

std::vector<int64_t> pick(const std::vector<int64_t>& from, const std::vector<size_t>& chosen) {
  std::vector<int64_t> picked;
  picked.reserve(chosen.size());
  for (const size_t i : chosen) picked.push_back(from[i]);
  return picked;
}

bool contains(std::span<const int64_t> dimensions, int64_t d) {
  return std::ranges::find(dimensions, d) != dimensions.end();
}

}  // namespace

Result<hlo::Literal> ragged_dot(const OpContext& context, std::span<const hlo::Literal> operands) {
  const proto::RaggedDotDimensionNumbers& ragged = context.instruction.attributes().ragged_dot_dimension_numbers();
  const proto::DotDimensionNumbers& numbers = ragged.dot_dimension_numbers();
  const std::span<const int64_t> lhs_batch = view(numbers.lhs_batch_dimensions());
  const std::span<const int64_t> lhs_sum = view(numbers.lhs_contracting_dimensions());
  const hlo::Literal& lhs = operands[0];
  const hlo::Literal& rhs = operands[1];
  const hlo::Literal& sizes = operands[2];
  const hlo::Shape& shape = context.instruction.shape;
  const int64_t dimension = ragged.lhs_ragged_dimensions(0);
  if (contains(lhs_batch, dimension)) return dot_general(numbers, lhs, rhs, shape);

  SAPPER_TRY(const Accumulator accumulator,
             choose_accumulator(lhs.shape().element_type(), rhs.shape().element_type(), shape.element_type()));
  hlo::Literal result(shape);
  if (shape.element_count() == 0 || lhs.element_count() == 0) return result;
  const bool contracting = contains(lhs_sum, dimension);
  const std::vector<int64_t> lhs_free = other_dimensions(lhs.shape().rank(), lhs_batch, lhs_sum);
  const Axis axis = find_axis(lhs.shape(), contracting ? lhs_sum : lhs_free, dimension);
  const Contraction all = dot_contraction(numbers, lhs, rhs);
  const auto batches = std::ssize(all.lhs_batch);
  const int64_t groups = sizes.shape().dimensions().back();
  if (sizes.shape().rank() > 1 && sizes.element_count() != batches * axis.outer * groups)
    return fail(hlo::error_at(
        ErrorKind::BadInput, context.instruction,
        fmt::format(
            "group sizes {} do not fit: expected {} lists (a list for each batch entry and outer index), or one",
            sizes.shape().to_text(false), batches * axis.outer)));

  // Among the free dimensions of rhs, the group dimension picks the columns.
  Axis group_axis;
  if (!contracting)
    group_axis = find_axis(rhs.shape(),
                           other_dimensions(rhs.shape().rank(), view(numbers.rhs_batch_dimensions()),
                                            view(numbers.rhs_contracting_dimensions())),
                           ragged.rhs_group_dimensions(0));
  const auto rows = std::ssize(all.lhs_free);
  const auto columns = std::ssize(all.rhs_free) / group_axis.size;
  const std::vector<int64_t> row_places = progression(rows, columns);
  const auto wide_lhs = widen(lhs, accumulator);
  const auto wide_rhs = widen(rhs, accumulator);
  for (int64_t group = 0; group < groups; ++group) {
    std::vector<size_t> group_columns;
    for (int64_t outer = 0; outer < group_axis.outer && !contracting; ++outer)
      group_axis.append(outer, group, group + 1, group_columns);
    for (int64_t batch = 0; batch < batches; ++batch) {
      const std::vector<size_t> chosen = members(axis, sizes, batch, group);
      const int64_t place = (contracting ? group * batches + batch : batch) * rows * columns;
      contract({.lhs_batch = {all.lhs_batch[static_cast<size_t>(batch)]},
                .lhs_free = contracting ? all.lhs_free : pick(all.lhs_free, chosen),
                .lhs_sum = contracting ? pick(all.lhs_sum, chosen) : all.lhs_sum,
                .rhs_batch = {all.rhs_batch[static_cast<size_t>(batch)]},
                .rhs_free = contracting ? all.rhs_free : pick(all.rhs_free, group_columns),
                .rhs_sum = contracting ? pick(all.rhs_sum, chosen) : all.rhs_sum,
                .result_batch = {place},
                .result_lhs = contracting ? row_places : pick(row_places, chosen),
                .result_rhs = progression(columns, 1)},
               accumulator, wide_lhs->data(), wide_rhs->data(), result);
    }
  }
  return result;
}

}  // namespace sapper::eval
