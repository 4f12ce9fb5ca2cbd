// Values that passes gave new numbers: loads with folded addresses, functions taken apart into push and pop. What they
// are shows where they are used: instructions that kept their numbers take them in the place of the old ones.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "llo/program.h"

namespace sapper::llo {

// Vectors and masks of `later` that stand for one of `earlier`: number -> number. Near linear.
[[nodiscard]] std::unordered_map<uint32_t, uint32_t> renamed_values(const Program& earlier, const Program& later);

}  // namespace sapper::llo
