// Values that passes gave new numbers: loads with folded addresses, functions taken apart into push and pop. What they
// are shows where they are used: instructions that kept their numbers take them in the place of the old ones.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "llo/program.h"

namespace sapper::llo {

// Vectors and masks of a later program that stand for one of an earlier: number -> number.
struct Renamed {
  std::unordered_map<uint32_t, uint32_t> certain;
  std::vector<std::pair<uint32_t, uint32_t>> possible;  // one of those with the same first number, or none
};

// Near linear.
[[nodiscard]] Renamed renamed_values(const Program& earlier, const Program& later);

}  // namespace sapper::llo
