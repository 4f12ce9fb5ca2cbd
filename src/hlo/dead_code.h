// What a program does not need for its results, and programs without it.
#pragma once

#include <vector>

#include "hlo/module.h"

namespace sapper::hlo {

// Takes elements of tuples from where they were put in.
void bypass_tuples(Computation& computation);

// For each instruction whether the root needs it. `parameters_stay`: parameters count as needed.
[[nodiscard]] std::vector<bool> alive_in(const Computation& computation, bool parameters_stay);

// The computation without the instructions that `alive` leaves out.
[[nodiscard]] Computation without_dead(const Computation& from, const std::vector<bool>& alive);

// Drops computations that the entry never reaches.
void drop_uncalled(Module& module);

// Makes the module return these leaves of its result (numbered in depth-first order) in one tuple, and do no more than
// they need; all parameters stay. False, and nothing is done, when the result is not put together by tuple instructions
// of the entry, or has fewer.
[[nodiscard]] bool return_only(Module& module, const std::vector<size_t>& leaves);

}  // namespace sapper::hlo
