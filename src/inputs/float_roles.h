// What a module does with its float parameters that bounds their sensible size and sign.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "hlo/module.h"

namespace sapper::inputs {

// Parameter number of the entry computation -> the most elements of it that one element of a dot or convolution sums
// over. Parameters that are not contracted are absent.
[[nodiscard]] std::map<int64_t, int64_t> contracted_lengths(const hlo::Module& module);

// Numbers of the entry parameters that are variances and the like: a square root or logarithm is taken of a sum of
// them, or of products of them that are no squares, with something.
[[nodiscard]] std::set<int64_t> positive_parameters(const hlo::Module& module);

}  // namespace sapper::inputs
