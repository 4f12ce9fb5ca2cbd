// scatter: combines windows of updates into the operands. Index vectors are taken in row-major order; a window that is
// not wholly inside the operand is skipped. Where windows overlap, the combiner is applied one window after another.
#include <algorithm>

#include "eval/indexed_windows.h"
#include "eval/lane_memory.h"
#include "eval/op.h"
#include "eval/scalar_function.h"

namespace sapper::eval {
namespace {

// One array that is scattered into, and the updates that go there.
struct Target {
  std::byte* elements;
  const std::byte* updates;
  int element_bytes;
  int update_bytes;
};

// Puts a run of updates over elements of one target.
void overwrite(const Target& target, int64_t element, int64_t update, const Axis<2>& run) {
  copy_run(target.elements + element * target.element_bytes, run.strides[IndexedWindows::Operand],
           target.updates + update * target.update_bytes, run.strides[IndexedWindows::Batched], run.size,
           target.element_bytes);
}

// Applies the combiner to runs of elements and updates. The elements of one window are different from one another.
class Combiner {
 public:
  Combiner(ScalarFunction function, std::span<const Target> targets, std::span<const hlo::Literal> operands,
           std::span<const hlo::Literal> updates)
      : function_(std::move(function)), targets_(targets), inputs_(2 * targets.size()) {
    for (const hlo::Literal& operand : operands) readers_.emplace_back(operand.shape().element_type(), block);
    for (const hlo::Literal& update : updates) readers_.emplace_back(update.shape().element_type(), block);
    for (size_t t = 0; t < targets.size(); ++t) {
      const hlo::ElementType type = operands[t].shape().element_type();
      writers_.emplace_back(type, block);
      lanes_.emplace_back(type, block);
      outputs_.push_back(lanes_.back().at(0));
    }
  }

  Status combine(int64_t element, int64_t update, const Axis<2>& run) {
    const size_t count = targets_.size();
    const int64_t element_stride = run.strides[IndexedWindows::Operand];
    const int64_t update_stride = run.strides[IndexedWindows::Batched];
    for (int64_t done = 0; done < run.size; done += static_cast<int64_t>(block)) {
      const auto n = static_cast<size_t>(std::min<int64_t>(block, run.size - done));
      const int64_t first = element + done * element_stride;
      for (size_t t = 0; t < count; ++t) {
        const Target& target = targets_[t];
        inputs_[t] = readers_[t].read(n, target.elements + first * target.element_bytes, element_stride);
        inputs_[count + t] = readers_[count + t].read(
            n, target.updates + (update + done * update_stride) * target.update_bytes, update_stride);
      }
      SAPPER_CHECKED(function_.run(n, inputs_, outputs_));
      for (size_t t = 0; t < count; ++t) {
        writers_[t].write(n, targets_[t].elements + first * targets_[t].element_bytes, element_stride, outputs_[t]);
      }
    }
    return {};
  }

 private:
  static constexpr size_t block = ScalarFunction::block;

  ScalarFunction function_;
  std::span<const Target> targets_;
  std::vector<LaneReader> readers_;  // of the elements, then of the updates
  std::vector<LaneWriter> writers_;
  std::vector<LaneBuffer> lanes_;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
};

// Whether the combiner gives the updates as they are.
bool replaces(const ScalarFunction& function, std::span<const hlo::Literal> operands,
              std::span<const hlo::Literal> updates) {
  if (function.program() == nullptr) return false;
  for (size_t t = 0; t < updates.size(); ++t) {
    if (function.program()->forwarded_parameter(t) != updates.size() + t) return false;
    if (operands[t].shape().element_type() != updates[t].shape().element_type()) return false;
  }
  return true;
}

}  // namespace

Result<hlo::Literal> scatter(const OpContext& context, std::vector<hlo::Literal> results,
                             std::span<const hlo::Literal> indices_and_updates) {
  const size_t count = results.size();
  const hlo::Literal& indices = indices_and_updates[0];
  const std::span<const hlo::Literal> updates = indices_and_updates.subspan(1);

  std::vector<hlo::ElementType> types;
  types.reserve(count + updates.size());
  for (const hlo::Literal& result : results) types.push_back(result.shape().element_type());
  for (const hlo::Literal& update : updates) types.push_back(update.shape().element_type());
  SAPPER_TRY(ScalarFunction function, ScalarFunction::make(context, 0, types, std::span(types).first(count)));
  const bool is_replacement = replaces(function, results, updates);

  std::vector<Target> targets;
  for (size_t t = 0; t < count; ++t) {
    targets.push_back({results[t].mutable_bytes().data(), updates[t].bytes().data(), hlo::host_bytes(types[t]),
                       hlo::host_bytes(types[count + t])});
  }
  Combiner combiner(std::move(function), targets, results, updates);

  if (updates[0].element_count() > 0) {
    const IndexedWindows windows =
        scatter_windows(context.instruction.attributes(), results[0].shape(), indices, updates[0].shape());
    const IndexReader index(indices);
    std::vector<Axis<2>> outer = windows.window;
    const Axis<2> run = outer.empty() ? Axis<2>{1, {1, 1}} : outer.back();
    if (!outer.empty()) outer.pop_back();
    Walk<2> window(outer);
    Walk<3> batch(windows.batch);
    const int64_t runs = window.positions();
    const int64_t vectors = batch.positions();
    for (int64_t v = 0; v < vectors; ++v, batch.next()) {
      const std::optional<int64_t> inside = windows.start_inside(index, batch.offset(IndexedWindows::Indices));
      if (!inside) continue;
      for (int64_t r = 0; r < runs; ++r, window.next()) {
        const int64_t element =
            batch.offset(IndexedWindows::Operand) + *inside + window.offset(IndexedWindows::Operand);
        const int64_t update = batch.offset(IndexedWindows::Batched) + window.offset(IndexedWindows::Batched);
        if (is_replacement) {
          for (const Target& target : targets) overwrite(target, element, update, run);
        } else {
          SAPPER_CHECKED(combiner.combine(element, update, run));
        }
      }
    }
  }
  return context.instruction.shape.is_tuple() ? hlo::Literal::tuple(std::move(results)) : std::move(results[0]);
}

}  // namespace sapper::eval
