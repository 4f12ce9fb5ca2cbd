// Folding lanes into running values with one operation. Sums and products of float lanes run in double; everything else
// runs in the lane's own type.
#pragma once

#include <cstddef>

#include "eval/lane.h"
#include "hlo/opcode.h"

namespace sapper::eval {

struct LaneFold {
  // running[0] = running[0] op lanes[0] op ... op lanes[n - 1], in a fixed order that depends on n only.
  void (*row)(size_t n, const void* lanes, void* running) = nullptr;
  // running[i] = running[i] op lanes[i].
  void (*columns)(size_t n, const void* lanes, void* running) = nullptr;
};

// Null functions where the operation is not defined on the lane type.
[[nodiscard]] LaneFold lane_fold(hlo::Opcode opcode, hlo::ElementType lane_type);

}  // namespace sapper::eval
