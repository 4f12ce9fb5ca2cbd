// scaled-dot: the dot of lhs * lhs_scale and rhs * rhs_scale, where an element of a scale serves a block of elements of
// its operand. The narrow formats that it is for multiply exactly in f64, so nothing is rounded before the sum's end.
#include "eval/dimensions.h"
#include "eval/dot.h"
#include "eval/op.h"

namespace sapper::eval {
namespace {

// operand * scale as f64; each dimension of the scale divides the operand's. A scalar scales everything.
Result<hlo::Literal> apply_scale(const OpContext& context, const hlo::Literal& operand, const hlo::Literal& scale) {
  const std::vector<int64_t>& dimensions = operand.shape().dimensions();
  const std::vector<int64_t>& blocks = scale.shape().dimensions();
  bool fits = blocks.empty() || blocks.size() == dimensions.size();
  for (size_t d = 0; fits && d < blocks.size(); ++d)
    fits = blocks[d] > 0 ? dimensions[d] % blocks[d] == 0 : dimensions[d] == 0;
  if (!fits)
    return fail(hlo::error_at(ErrorKind::BadInput, context.instruction,
                              fmt::format("the scale {} does not divide {} into equal blocks",
                                          scale.shape().to_text(false), operand.shape().to_text(false))));
  // The scale's element for each element of the operand.
  std::vector<int64_t> scale_at = {0};
  const std::vector<int64_t> strides = row_major_strides(blocks);
  for (size_t d = 0; d < dimensions.size(); ++d) {
    std::vector<int64_t> along(static_cast<size_t>(dimensions[d]), 0);
    for (size_t i = 0; i < along.size() && !blocks.empty(); ++i)
      along[i] = static_cast<int64_t>(i) / (dimensions[d] / blocks[d]) * strides[d];
    scale_at = combine(scale_at, along);
  }
  hlo::Literal scaled = hlo::Literal::uninitialized(operand.shape().with_element_type(hlo::ElementType::F64));
  const std::span<double> values = scaled.mutable_data<double>();
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = operand.real_at(static_cast<int64_t>(i)) * scale.real_at(scale_at[i]);
  return scaled;
}

}  // namespace

Result<hlo::Literal> scaled_dot(const OpContext& context, std::span<const hlo::Literal> operands) {
  if (operands.size() != 4)
    return fail(
        hlo::error_at(ErrorKind::Unsupported, context.instruction,
                      fmt::format("not evaluated: scaled-dot with {} operands; known is lhs, rhs and their scales",
                                  operands.size())));
  SAPPER_TRY(const hlo::Literal lhs, apply_scale(context, operands[0], operands[2]));
  SAPPER_TRY(const hlo::Literal rhs, apply_scale(context, operands[1], operands[3]));
  return dot_general(context.instruction.attributes().dot_dimension_numbers(), lhs, rhs, context.instruction.shape);
}

}  // namespace sapper::eval
