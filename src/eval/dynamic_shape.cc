// set-dimension-size, get-dimension-size and dynamic-reshape.
#include "eval/dynamic_shape.h"

#include "eval/index_space.h"
#include "eval/op.h"

namespace sapper::eval {
namespace {

// The program's meaning is undefined when a size is outside its dimension: nothing to evaluate.
Status check_size(const hlo::Instruction& instruction, int64_t size, int64_t bound) {
  if (size >= 0 && size <= bound) return {};
  return fail(hlo::error_at(ErrorKind::Unsupported, instruction,
                            fmt::format("not evaluated: {} ({}): size {} of a dimension of at most {} has no meaning",
                                        hlo::to_string(instruction.opcode), instruction.name, size, bound)));
}

// Walks the elements that are part of the value, in row-major order.
Walk<1> walk_value(const hlo::Literal& array) {
  const std::vector<int64_t> strides = row_major_strides(array.shape().dimensions());
  std::vector<Axis<1>> axes;
  for (size_t d = 0; d < strides.size(); ++d) axes.push_back({actual_size(array, d), {strides[d]}});
  return Walk<1>(coalesce(axes));
}

}  // namespace

int64_t actual_size(const hlo::Literal& array, size_t dimension) {
  return array.dynamic_sizes().empty() ? array.shape().dimension(dimension) : array.dynamic_sizes()[dimension];
}

const std::vector<int64_t>& actual_sizes(const hlo::Literal& array) {
  return array.dynamic_sizes().empty() ? array.shape().dimensions() : array.dynamic_sizes();
}

void set_actual_sizes(hlo::Literal& array, std::vector<int64_t> sizes) {
  if (sizes == array.shape().dimensions()) sizes.clear();
  array.set_dynamic_sizes(std::move(sizes));
}

Result<hlo::Literal> set_dimension_size(const OpContext& context, std::span<const hlo::Literal> operands) {
  const auto d = static_cast<size_t>(context.instruction.dimensions[0]);
  const int64_t size = IndexReader(operands[1])[0];
  SAPPER_CHECKED(check_size(context.instruction, size, operands[0].shape().dimension(d)));
  std::vector<int64_t> sizes = actual_sizes(operands[0]);
  sizes[d] = size;
  hlo::Literal result = hlo::Literal::over(context.instruction.shape, operands[0].shared_bytes());
  set_actual_sizes(result, std::move(sizes));
  return result;
}

Result<hlo::Literal> get_dimension_size(const OpContext& context, std::span<const hlo::Literal> operands) {
  hlo::Literal result(context.instruction.shape);
  result.set_integer(0, actual_size(operands[0], static_cast<size_t>(context.instruction.dimensions[0])));
  return result;
}

Result<hlo::Literal> dynamic_reshape(const OpContext& context, std::span<const hlo::Literal> operands) {
  const hlo::Literal& operand = operands[0];
  hlo::Literal result(context.instruction.shape);
  std::vector<int64_t> sizes;
  for (size_t d = 0; d + 1 < operands.size(); ++d) {
    sizes.push_back(IndexReader(operands[d + 1])[0]);
    SAPPER_CHECKED(check_size(context.instruction, sizes.back(), result.shape().dimension(d)));
  }
  set_actual_sizes(result, std::move(sizes));

  Walk<1> from = walk_value(operand);
  Walk<1> to = walk_value(result);
  if (from.positions() != to.positions()) {
    return fail(hlo::error_at(ErrorKind::Unsupported, context.instruction,
                              fmt::format("not evaluated: dynamic-reshape ({}) of {} elements to {}",
                                          context.instruction.name, from.positions(), to.positions())));
  }
  const int bytes = hlo::host_bytes(operand.shape().element_type());
  std::byte* to_bytes = result.mutable_bytes().data();
  const int64_t count = from.positions();
  for (int64_t i = 0; i < count; ++i, from.next(), to.next()) {
    copy_run(to_bytes + to.offset(0) * bytes, 1, operand.bytes().data() + from.offset(0) * bytes, 1, 1, bytes);
  }
  return result;
}

}  // namespace sapper::eval
