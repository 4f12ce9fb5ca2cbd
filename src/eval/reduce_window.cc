// reduce-window: a reduction of the elements under each position of a sliding window. Each result element starts from
// the init values, once, and takes the elements under its window in row-major order; padding and the gaps of a dilated
// base give nothing.
#include <algorithm>

#include "eval/dynamic_shape.h"
#include "eval/fold.h"
#include "eval/op.h"
#include "eval/parallel.h"
#include "eval/sliding_window.h"

namespace sapper::eval {
namespace {

using Dimensions = std::vector<WindowedDimension>;

// Windows of one dimension that all begin with the data, or all end with it, are reduced in one pass: each result goes
// on from the one before. Ends are reduced backwards, where the order makes no difference.
struct Cumulative {
  size_t dimension;
  bool backwards;
};

std::optional<Cumulative> find_cumulative(const Dimensions& dimensions, bool order_free) {
  std::optional<Cumulative> found;
  for (size_t d = 0; d < dimensions.size(); ++d) {
    const std::optional<WindowAxis>& window = dimensions[d].window;
    if (!window) continue;
    if (found) return std::nullopt;
    if (window->is_prefix()) {
      found = Cumulative{d, false};
    } else if (order_free && window->is_suffix()) {
      found = Cumulative{d, true};
    } else {
      return std::nullopt;
    }
  }
  return found;
}

// What running values lie along: runs of positions of one dimension, or single positions when there is none.
struct Runs {
  size_t dimension;
  int64_t position_stride;
  std::vector<PositionRun> runs;
};

// The dimension, other than `except`, whose positions lie in the longest runs. Where running values are far apart each
// reads a cache line of its own: then few run at once, so that the lines are still there for the next elements, and
// they are worth less.
Runs choose_runs(const Dimensions& dimensions, std::optional<size_t> except) {
  constexpr int64_t far = 8;
  constexpr int64_t far_block = 16;
  Runs chosen{dimensions.size(), 1, {{0, 1, 1}}};
  int64_t most = 1;
  for (size_t d = 0; d < dimensions.size(); ++d) {
    if (d == except) continue;
    const bool is_far = dimensions[d].base_stride > far;
    std::vector<PositionRun> runs = position_runs(dimensions[d], is_far ? far_block : Fold::block);
    const int64_t length = runs.empty() ? 0 : dimensions[d].positions / static_cast<int64_t>(runs.size());
    const int64_t worth = is_far ? 1 + length / 4 : length;
    if (worth < most) continue;
    most = worth;
    chosen = {d, dimensions[d].position_stride, std::move(runs)};
  }
  return chosen;
}

// Walks all positions of the dimensions but `left_out`, which stay at 0: offset 0 is in the result.
Walk<1> walk_positions(const Dimensions& dimensions, std::span<const size_t> left_out) {
  std::vector<Axis<1>> axes;
  for (size_t d = 0; d < dimensions.size(); ++d) {
    const bool walks = std::find(left_out.begin(), left_out.end(), d) == left_out.end();
    axes.push_back({walks ? dimensions[d].positions : 1, {dimensions[d].position_stride}});
  }
  return Walk<1>(std::move(axes));
}

Status reduce_each(const Dimensions& dimensions, const Fold& fold, FoldResults& results) {
  const Runs runs = choose_runs(dimensions, std::nullopt);
  const auto run_count = static_cast<int64_t>(runs.runs.size());
  const size_t left_out[] = {runs.dimension};
  const Walk<1> positions = walk_positions(dimensions, left_out);

  int64_t cost = fold.cost() * runs.runs[runs.runs.size() / 2].size;
  for (const WindowedDimension& dimension : dimensions) {
    if (dimension.window) cost *= 1 + dimension.window->count(dimension.positions / 2);
  }
  return try_blocks(
      fold.is_parallel(), positions.positions() * run_count, cost, [&](int64_t begin, int64_t end) -> Status {
        Fold running = fold;
        Walk<1> position = positions;
        Walk<1> element({});
        std::vector<Axis<1>> elements(dimensions.size());
        for (int64_t i = begin; i < end; ++i) {
          position.seek(i / run_count);
          const PositionRun& run = runs.runs[static_cast<size_t>(i % run_count)];
          int64_t start = 0;
          for (size_t d = 0; d < dimensions.size(); ++d) {
            const int64_t o = d == runs.dimension ? run.begin : position.index(d);
            start += dimensions[d].start(o);
            elements[d] = dimensions[d].elements(o);
          }
          element.restart(elements);
          const auto n = static_cast<size_t>(run.size);
          running.begin(n);
          const int64_t count = element.positions();
          for (int64_t e = 0; e < count; ++e, element.next()) {
            SAPPER_CHECKED(running.add(0, n, start + element.offset(0), run.stride));
          }
          running.write(n, results.bytes, position.offset(0) + run.begin * runs.position_stride, runs.position_stride);
        }
        return {};
      });
}

Status reduce_cumulatively(const Dimensions& dimensions, const Cumulative& cumulative, const Fold& fold,
                           FoldResults& results) {
  const Runs runs = choose_runs(dimensions, cumulative.dimension);
  const auto run_count = static_cast<int64_t>(runs.runs.size());
  const WindowedDimension& along = dimensions[cumulative.dimension];
  const size_t left_out[] = {runs.dimension, cumulative.dimension};
  const Walk<1> positions = walk_positions(dimensions, left_out);

  const int64_t cost = (fold.cost() + 5) * along.positions * runs.runs[0].size;
  return try_blocks(
      fold.is_parallel(), positions.positions() * run_count, cost, [&](int64_t begin, int64_t end) -> Status {
        Fold running = fold;
        Walk<1> position = positions;
        for (int64_t i = begin; i < end; ++i) {
          position.seek(i / run_count);
          const PositionRun& run = runs.runs[static_cast<size_t>(i % run_count)];
          const auto n = static_cast<size_t>(run.size);
          int64_t start = runs.dimension < dimensions.size() ? dimensions[runs.dimension].start(run.begin) : 0;
          for (size_t d = 0; d < dimensions.size(); ++d) {
            if (d != runs.dimension && d != cumulative.dimension) start += dimensions[d].start(position.index(d));
          }
          const int64_t result_start = position.offset(0) + run.begin * runs.position_stride;

          running.begin(n);
          int64_t taken = 0;
          for (int64_t step = 0; step < along.positions; ++step) {
            const int64_t o = cumulative.backwards ? along.positions - 1 - step : step;
            const int64_t first = along.window->first(o);
            const int64_t count = along.window->count(o);
            for (; taken < count; ++taken) {
              const int64_t element = cumulative.backwards ? first + count - 1 - taken : taken;
              SAPPER_CHECKED(running.add(0, n, start + element * along.base_stride, run.stride));
            }
            running.write(n, results.bytes, result_start + o * along.position_stride, runs.position_stride);
          }
        }
        return {};
      });
}

}  // namespace

Result<hlo::Literal> reduce_window(const OpContext& context, std::span<const hlo::Literal> operands) {
  FoldResults results(context.instruction.shape);
  const std::vector<int64_t>& positions = results.arrays[0].shape().dimensions();
  if (results.arrays[0].element_count() == 0) return results.finish(positions);

  SAPPER_TRY(const Fold fold, Fold::make(context, operands));
  const Dimensions dimensions = windowed_dimensions(context.instruction.attributes().window(), operands[0], positions);
  if (const std::optional<Cumulative> cumulative = find_cumulative(dimensions, fold.is_order_free())) {
    SAPPER_CHECKED(reduce_cumulatively(dimensions, *cumulative, fold, results));
  } else {
    SAPPER_CHECKED(reduce_each(dimensions, fold, results));
  }
  return results.finish(positions);
}

}  // namespace sapper::eval
