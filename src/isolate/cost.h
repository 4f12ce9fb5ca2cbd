// What a piece costs to run and what it mostly does: for ranking, not for scheduling.
#pragma once

#include "isolate/piece.h"

namespace sapper::isolate {

struct Weight {
  double cycles = 0;  // the compiler's estimates where every operation worth one has it, else from operations and bytes
  Kind kind = Kind::Movement;
};

[[nodiscard]] Weight weigh(const hlo::Module& piece);

}  // namespace sapper::isolate
