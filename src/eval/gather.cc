// gather: windows of the operand, picked by index vectors and clamped to lie inside it.
#include <algorithm>

#include "eval/dynamic_shape.h"
#include "eval/indexed_windows.h"
#include "eval/op.h"
#include "eval/parallel.h"

namespace sapper::eval {
namespace {

// The result's sizes: those of the index array along batch dimensions.
std::vector<int64_t> gathered_sizes(const proto::HloInstructionProto& attributes, const hlo::Literal& indices,
                                    const hlo::Shape& result) {
  const proto::GatherDimensionNumbers& numbers = attributes.gather_dimension_numbers();
  std::vector<int64_t> index_sizes = actual_sizes(indices);
  if (numbers.index_vector_dim() < static_cast<int64_t>(index_sizes.size())) {
    index_sizes.erase(index_sizes.begin() + numbers.index_vector_dim());
  }
  std::vector<int64_t> sizes = result.dimensions();
  auto next = index_sizes.begin();
  for (size_t d = 0; d < sizes.size(); ++d) {
    const auto& offsets = numbers.offset_dims();
    if (std::find(offsets.begin(), offsets.end(), d) == offsets.end()) sizes[d] = *next++;
  }
  return sizes;
}

}  // namespace

Result<hlo::Literal> gather(const OpContext& context, std::span<const hlo::Literal> operands) {
  const hlo::Literal& operand = operands[0];
  const hlo::Literal& indices = operands[1];
  // Index vectors past a dynamic size pick nothing.
  hlo::Literal result = indices.dynamic_sizes().empty() ? hlo::Literal::uninitialized(context.instruction.shape)
                                                        : hlo::Literal(context.instruction.shape);
  if (result.element_count() == 0) return result;
  const auto& sizes = context.instruction.attributes().gather_slice_sizes();
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end())
    return fail(hlo::error_at(
        ErrorKind::Unsupported, context.instruction,
        fmt::format("not evaluated: gather ({}): elements of a slice that has none", context.instruction.name)));

  const IndexedWindows windows =
      gather_windows(context.instruction.attributes(), operand.shape(), indices, result.shape());
  const IndexReader index(indices);
  std::vector<Axis<2>> outer = windows.window;
  const Axis<2> run = outer.empty() ? Axis<2>{1, {1, 1}} : outer.back();
  if (!outer.empty()) outer.pop_back();

  const int64_t bytes = hlo::host_bytes(operand.shape().element_type());
  const std::byte* from = operand.bytes().data();
  std::byte* to = result.mutable_bytes().data();
  const int64_t runs = Walk<2>(outer).positions();
  const int64_t count = Walk<3>(windows.batch).positions();
  parallel_blocks(count, 10 + runs * (2 + run.size), [&](int64_t begin, int64_t end) {
    Walk<3> batch(windows.batch);
    Walk<2> window(outer);
    batch.seek(begin);
    for (int64_t i = begin; i < end; ++i, batch.next()) {
      const int64_t start =
          batch.offset(IndexedWindows::Operand) + windows.clamped_start(index, batch.offset(IndexedWindows::Indices));
      for (int64_t r = 0; r < runs; ++r, window.next()) {
        copy_run(to + (batch.offset(IndexedWindows::Batched) + window.offset(IndexedWindows::Batched)) * bytes,
                 run.strides[IndexedWindows::Batched], from + (start + window.offset(IndexedWindows::Operand)) * bytes,
                 run.strides[IndexedWindows::Operand], run.size, static_cast<int>(bytes));
      }
    }
  });
  if (!indices.dynamic_sizes().empty()) {
    set_actual_sizes(result, gathered_sizes(context.instruction.attributes(), indices, result.shape()));
  }
  return result;
}

}  // namespace sapper::eval
