// Regions: the instructions of a computation grouped around heavy operations, as a compiler would fuse them.
#pragma once

#include <vector>

#include "isolate/plan.h"

namespace sapper::isolate {

struct Region {
  std::vector<hlo::InstructionIndex> members;  // ascending
  std::vector<hlo::InstructionIndex> outputs;  // members that others use
  hlo::InstructionIndex main = 0;              // the heavy one, else the last
};

// Every light and heavy instruction of `computation` is in one region; but for those that every user has a copy of.
// A heavy operation takes in the light ones that go on with its result alone, then light ones whose results only it
// uses; what is left gathers likewise around whatever comes last. Of at most `largest` instructions. Which instructions
// stand together does not depend on their order in `computation`. Linear. `planner` has entered `computation`.
[[nodiscard]] std::vector<Region> grow_regions(const hlo::Computation& computation, int64_t largest, Planner& planner,
                                               const ComputationFacts& facts);

}  // namespace sapper::isolate
