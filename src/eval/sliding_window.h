// Sliding windows: which elements of an array each window position covers, padding and dilations accounted for. Shared
// by reduce-window and select-and-scatter.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "eval/index_space.h"
#include "hlo/hlo.pb.h"

namespace sapper::eval {

// One dimension of the window: the elements under the window at position o, in order, are first(o) + i * step() for
// i < count(o).
class WindowAxis {
 public:
  // `size` elements, `positions` of the window.
  WindowAxis(const proto::WindowDimension& window, int64_t size, int64_t positions);

  [[nodiscard]] int64_t first(int64_t o) const { return first_[static_cast<size_t>(o)]; }
  [[nodiscard]] int64_t count(int64_t o) const { return count_[static_cast<size_t>(o)]; }
  [[nodiscard]] int64_t step() const { return step_; }

  // Cumulative windows: elements follow one another, start at element 0 (end at the last element), and from one
  // position to the next only grow (shrink).
  [[nodiscard]] bool is_prefix() const;
  [[nodiscard]] bool is_suffix() const;

 private:
  std::vector<int64_t> first_;
  std::vector<int64_t> count_;
  int64_t size_;
  int64_t step_;
};

// A dimension that the window slides over, or several merged ones where it does nothing.
struct WindowedDimension {
  int64_t positions;
  int64_t base_stride;               // elements from one index to the next in the array under the window
  int64_t position_stride;           // and in the array with one element a position
  std::optional<WindowAxis> window;  // none: position o covers element o alone

  // Element offset of the first element under the window at position o.
  [[nodiscard]] int64_t start(int64_t o) const { return (window ? window->first(o) : o) * base_stride; }
  // The elements under the window at position o.
  [[nodiscard]] Axis<1> elements(int64_t o) const {
    return window ? Axis<1>{window->count(o), {window->step() * base_stride}} : Axis<1>{1, {0}};
  }
};

// `positions` are the dimensions of the array with one element a position. Elements of `base` past its dynamic sizes
// are not covered.
[[nodiscard]] std::vector<WindowedDimension> windowed_dimensions(const proto::Window& window, const hlo::Literal& base,
                                                                 std::span<const int64_t> positions);

// Consecutive positions of a dimension whose windows cover equally many elements, equally far apart.
struct PositionRun {
  int64_t begin;
  int64_t size;
  int64_t stride;  // elements of the base from one position's window to the next
};
[[nodiscard]] std::vector<PositionRun> position_runs(const WindowedDimension& dimension, int64_t longest);

}  // namespace sapper::eval
