#include "fuzz/windows.h"

#include <algorithm>

namespace sapper::fuzz {

WindowOver trivial_window(int64_t positions) {
  WindowOver made{.operand = positions};
  made.window.set_size(1);
  made.window.set_stride(1);
  made.window.set_base_dilation(1);
  made.window.set_window_dilation(1);
  return made;
}

WindowOver running_window(int64_t positions, bool from_there_on) {
  WindowOver made = trivial_window(positions);
  made.window.set_size(positions);
  if (from_there_on)
    made.window.set_padding_high(positions - 1);
  else
    made.window.set_padding_low(positions - 1);
  return made;
}

WindowOver choose_window(Choices& choices, int64_t positions, const WindowBounds& bounds) {
  WindowOver made = trivial_window(positions);
  proto::WindowDimension& window = made.window;
  window.set_size(choices.between(1, bounds.size));
  if (bounds.dilations && choices.chance(20)) window.set_window_dilation(2);
  if (bounds.dilations && choices.chance(20)) window.set_base_dilation(choices.between(2, 3));
  const int64_t spread = (window.size() - 1) * window.window_dilation() + 1;
  if (positions > 1 && choices.chance(30)) {
    const int64_t most = std::max<int64_t>(1, (bounds.operand - spread) / (positions - 1));
    window.set_stride(choices.between(1, std::min<int64_t>(3, most)));
  }
  // What the windows cover, and a rest that a stride leaves over.
  const int64_t covered = (positions - 1) * window.stride() + spread + choices.between(0, window.stride() - 1);
  int64_t padding = choices.between(bounds.negative_padding ? -1 : 0, spread - 1 + (bounds.negative_padding ? 1 : 0));
  const int64_t dilation = window.base_dilation();
  // (operand - 1) * dilation + 1 + padding = covered, with at least one element.
  padding = std::min(padding, covered - 1);
  padding += (covered - padding - 1) % dilation;
  made.operand = (covered - padding - 1) / dilation + 1;
  const int64_t low = choices.between(std::min<int64_t>(0, padding), std::max<int64_t>(0, padding));
  window.set_padding_low(low);
  window.set_padding_high(padding - low);
  return made;
}

}  // namespace sapper::fuzz
