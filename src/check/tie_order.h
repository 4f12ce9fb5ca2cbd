// The order of elements that compare equal, which a sort without is_stable leaves open.
#pragma once

#include <vector>

#include "eval/evaluator.h"
#include "hlo/module.h"

namespace sapper::check {

// Whether the module is an unstable sort of its parameters and nothing else: orders_ties_otherwise() says all there is
// to say about its ties.
[[nodiscard]] bool is_unstable_sort(const hlo::Module& module);

// Is `module` one unstable sort of its parameters, and `got` the arguments' elements in an order that its comparison
// allows, though perhaps not the one that a stable sort gives?
[[nodiscard]] bool orders_ties_otherwise(const hlo::Module& module, const std::vector<hlo::Literal>& arguments,
                                         const hlo::Literal& got, const eval::Options& evaluation);

}  // namespace sapper::check
