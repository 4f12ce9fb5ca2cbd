// The least memory that a run takes, known from the plans before it starts: what cannot fit is refused at once, not
// after an hour.
#pragma once

#include <cstdint>
#include <functional>

#include "eval/plan.h"

namespace sapper::eval {

struct MemoryNeed {
  int64_t bytes = 0;
  const hlo::Instruction* instruction = nullptr;  // where that much is live; null: at the start
};

// Of running `plan`, its parameters counted. A lower bound: operands that die may be written over, results may be
// operands handed on, loops may have no iteration, and the branches of conditionals may be small. `need_of` answers for
// the computations that it calls.
[[nodiscard]] MemoryNeed least_memory(const Plan& plan,
                                      const std::function<MemoryNeed(hlo::ComputationIndex)>& need_of);

}  // namespace sapper::eval
