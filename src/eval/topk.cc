#include "eval/topk.h"

#include <algorithm>

#include "eval/dynamic_shape.h"
#include "eval/lane_memory.h"
#include "eval/op.h"
#include "eval/ordered_keys.h"
#include "eval/parallel.h"

namespace sapper::eval {

hlo::Literal top_k(const hlo::Literal& operand, bool largest, const hlo::Shape& shape) {
  const hlo::ElementType type = operand.shape().element_type();
  const int bytes = hlo::host_bytes(type);
  hlo::Literal values(shape.elements()[0]);
  hlo::Literal indices(shape.elements()[1]);
  const int64_t k = values.shape().dimensions().back();
  const int64_t line = operand.shape().dimensions().back();
  const int64_t size = actual_size(operand, operand.shape().rank() - 1);
  const int64_t taken = std::min(k, size);
  const int64_t lines = values.element_count() == 0 ? 0 : values.element_count() / k;
  std::byte* to = values.mutable_bytes().data();
  (void)indices.mutable_bytes();  // unshared before threads write

  parallel_blocks(lines, 10 * size, [&](int64_t begin, int64_t end) {
    const auto n = static_cast<size_t>(size);
    LaneReader reader(type, n);
    std::vector<uint64_t> keys(n);
    std::vector<std::pair<uint64_t, int64_t>> entries(n);
    for (int64_t l = begin; l < end; ++l) {
      const std::byte* from = operand.bytes().data() + l * line * bytes;
      (void)make_ordered_keys(type, FloatOrder::Total, largest, n, reader.read(n, from, 1), keys.data());
      for (size_t i = 0; i < n; ++i) entries[i] = {keys[i], static_cast<int64_t>(i)};
      const auto middle = entries.begin() + taken;
      if (middle != entries.end()) std::nth_element(entries.begin(), middle, entries.end());
      std::sort(entries.begin(), middle);
      for (int64_t i = 0; i < taken; ++i) {
        const int64_t index = entries[static_cast<size_t>(i)].second;
        std::memcpy(to + (l * k + i) * bytes, from + index * bytes, static_cast<size_t>(bytes));
        indices.set_integer(l * k + i, index);
      }
    }
  });
  std::vector<hlo::Literal> both;
  both.push_back(std::move(values));
  both.push_back(std::move(indices));
  return hlo::Literal::tuple(std::move(both));
}

Result<hlo::Literal> topk(const OpContext& context, std::span<const hlo::Literal> operands) {
  return top_k(operands[0], context.instruction.attributes().largest(), context.instruction.shape);
}

}  // namespace sapper::eval
