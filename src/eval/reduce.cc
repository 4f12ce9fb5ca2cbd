// reduce: any number of operands, any reducer. Each result element starts from the init values, once, and takes the
// elements in the row-major order of the reduced dimensions.
#include <algorithm>

#include "eval/dynamic_shape.h"
#include "eval/fold.h"
#include "eval/index_space.h"
#include "eval/op.h"
#include "eval/parallel.h"

namespace sapper::eval {
namespace {

enum Array : size_t { Operand, Reduced };

}  // namespace

Result<hlo::Literal> reduce(const OpContext& context, std::span<const hlo::Literal> operands) {
  const hlo::Literal& operand = operands[0];
  const std::vector<int64_t>& reduced_dimensions = context.instruction.dimensions;
  const std::vector<int64_t> strides = row_major_strides(operand.shape().dimensions());

  FoldResults results(context.instruction.shape);
  const std::vector<int64_t> result_strides = row_major_strides(results.arrays[0].shape().dimensions());
  std::vector<Axis<2>> kept;
  std::vector<Axis<1>> reduced;
  std::vector<int64_t> kept_sizes;
  for (size_t d = 0; d < strides.size(); ++d) {
    if (std::find(reduced_dimensions.begin(), reduced_dimensions.end(), d) != reduced_dimensions.end()) {
      reduced.push_back({actual_size(operand, d), {strides[d]}});
    } else {
      kept.push_back({operand.shape().dimension(d), {strides[d], result_strides[kept.size()]}});
      kept_sizes.push_back(actual_size(operand, d));
    }
  }
  if (results.arrays[0].element_count() == 0) return results.finish(kept_sizes);
  reduced = coalesce(reduced);
  kept = coalesce(kept);

  // Running values lie along the last kept axis. Where they are far apart in the operand, fewer of them keep the cache
  // lines that they share with the next elements.
  const Axis<2> run = kept.empty() ? Axis<2>{1, {1, 1}} : kept.back();
  if (!kept.empty()) kept.pop_back();
  const int64_t block = run.strides[Operand] == 1 ? static_cast<int64_t>(Fold::block) : 16;
  const int64_t blocks = (run.size + block - 1) / block;
  const int64_t elements = Walk<1>(reduced).positions();

  SAPPER_TRY(const Fold fold, Fold::make(context, operands));
  const int64_t count = Walk<2>(kept).positions() * blocks;
  const int64_t cost = (elements + 1) * (10 + fold.cost() * std::min(block, run.size));
  const Status done = try_blocks(fold.is_parallel(), count, cost, [&](int64_t begin, int64_t end) -> Status {
    Fold running = fold;
    Walk<2> outer(kept);
    Walk<1> element(reduced);
    for (int64_t i = begin; i < end; ++i) {
      outer.seek(i / blocks);
      const int64_t first = i % blocks * block;
      const auto n = static_cast<size_t>(std::min(block, run.size - first));
      const int64_t start = outer.offset(Operand) + first * run.strides[Operand];
      running.begin(n);
      for (int64_t e = 0; e < elements; ++e, element.next()) {
        SAPPER_CHECKED(running.add(0, n, start + element.offset(0), run.strides[Operand]));
      }
      running.write(n, results.bytes, outer.offset(Reduced) + first * run.strides[Reduced], run.strides[Reduced]);
    }
    return {};
  });
  SAPPER_CHECKED(done);
  return results.finish(kept_sizes);
}

}  // namespace sapper::eval
