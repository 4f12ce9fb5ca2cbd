// The bodies of plain calls put in their place, as compilers do before anything else, and those of fusions within
// fusions.
#pragma once

#include "hlo/module.h"

namespace sapper::eval {

// `module` without such calls, as far as that multiplies its size only moderately: a call that would make its caller
// larger than that stays.
[[nodiscard]] hlo::Module with_calls_inlined(const hlo::Module& module);

}  // namespace sapper::eval
