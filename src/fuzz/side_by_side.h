// The parallel combinator: several programs as one module, to share the cost of a compilation.
#pragma once

#include <span>
#include <vector>

#include "hlo/module.h"

namespace sapper::fuzz {

// A module whose result is the tuple of all arrays of the results of `modules` (none scheduled), its parameters theirs
// one after the other.
[[nodiscard]] hlo::Module side_by_side(std::span<const hlo::Module> modules);

}  // namespace sapper::fuzz
