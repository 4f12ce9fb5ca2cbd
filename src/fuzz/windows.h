// Windows backwards: sliding over how many elements gives the wanted number of positions.
#pragma once

#include <cstdint>

#include "fuzz/choices.h"
#include "hlo/hlo.pb.h"

namespace sapper::fuzz {

struct WindowBounds {
  int64_t size = 4;      // most elements of a window
  int64_t operand = 64;  // most elements that it slides over, roughly
  bool dilations = true;
  bool negative_padding = false;
};

struct WindowOver {
  proto::WindowDimension window;
  int64_t operand = 1;  // how many elements it slides over
};

// A window with `positions` positions.
[[nodiscard]] WindowOver choose_window(Choices& choices, int64_t positions, const WindowBounds& bounds);

// One that at each of `positions` takes all elements up to there (or from there on).
[[nodiscard]] WindowOver running_window(int64_t positions, bool from_there_on);

// One of a single element.
[[nodiscard]] WindowOver trivial_window(int64_t positions);

}  // namespace sapper::fuzz
