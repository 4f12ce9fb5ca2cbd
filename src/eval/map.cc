// map: a computation on scalars applied to each element of arrays of the same dimensions.
#include <algorithm>

#include "eval/dynamic_shape.h"
#include "eval/lane_memory.h"
#include "eval/op.h"
#include "eval/parallel.h"
#include "eval/scalar_function.h"

namespace sapper::eval {

Result<hlo::Literal> map(const OpContext& context, std::span<const hlo::Literal> operands) {
  constexpr auto block = static_cast<int64_t>(ScalarFunction::block);
  std::vector<hlo::ElementType> types;
  for (const hlo::Literal& operand : operands) types.push_back(operand.shape().element_type());
  const hlo::ElementType result_type = context.instruction.shape.element_type();
  SAPPER_TRY(const ScalarFunction function, ScalarFunction::make(context, 0, types, std::span(&result_type, 1)));

  hlo::Literal result = hlo::Literal::uninitialized(context.instruction.shape);
  std::byte* to = result.mutable_bytes().data();
  const int64_t count = result.element_count();
  const bool is_parallel = function.program() != nullptr;
  const int64_t cost = is_parallel ? 1 + static_cast<int64_t>(function.program()->steps().size()) : 1;
  const Status done = try_blocks(is_parallel, count, cost, [&](int64_t begin, int64_t end) -> Status {
    ScalarFunction applied = function;
    std::vector<LaneReader> readers;
    readers.reserve(types.size());
    for (const hlo::ElementType type : types) readers.emplace_back(type, ScalarFunction::block);
    LaneBuffer lanes(result_type, ScalarFunction::block);
    LaneWriter writer(result_type, ScalarFunction::block);
    std::vector<const void*> inputs(operands.size());
    void* outputs[] = {lanes.at(0)};
    for (int64_t i = begin; i < end; i += block) {
      const auto n = static_cast<size_t>(std::min(block, end - i));
      for (size_t o = 0; o < operands.size(); ++o) {
        inputs[o] = readers[o].read(n, operands[o].bytes().data() + i * hlo::host_bytes(types[o]), 1);
      }
      SAPPER_CHECKED(applied.run(n, inputs, outputs));
      writer.write(n, to + i * hlo::host_bytes(result_type), 1, lanes.at(0));
    }
    return {};
  });
  SAPPER_CHECKED(done);
  if (!operands.empty()) set_actual_sizes(result, actual_sizes(operands[0]));
  return result;
}

}  // namespace sapper::eval
