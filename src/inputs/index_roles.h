// Which integer parameters of a module plainly index something, and how far: gather, scatter and dynamic-slice operands
// traced back through data movement, calls and loops to the entry's parameters.
#pragma once

#include <cstdint>
#include <map>

#include "hlo/module.h"

namespace sapper::inputs {

// Parameter number of the entry computation -> largest index that is in bounds for every use (0 is always the
// smallest). Parameters that index nothing are absent. Linear in the module's size.
[[nodiscard]] std::map<int64_t, int64_t> index_roles(const hlo::Module& module);

}  // namespace sapper::inputs
