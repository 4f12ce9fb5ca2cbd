// Where the windows of gathers and scatters may start.
#pragma once

#include <cstdint>
#include <vector>

#include "hlo/module.h"

namespace sapper::hlo {

// For each part of an index vector the last start whose window is inside of the operand; negative: none is.
[[nodiscard]] std::vector<int64_t> last_gather_starts(const Instruction& gather, const Shape& operand);
[[nodiscard]] std::vector<int64_t> last_scatter_starts(const Instruction& scatter, const Shape& operand,
                                                       const Shape& updates);

}  // namespace sapper::hlo
