// Which parameters of a module are matrices that it factors: a Cholesky factor exists of positive definite ones only.
#pragma once

#include <cstdint>
#include <set>

#include "hlo/module.h"

namespace sapper::inputs {

// Numbers of the entry computation's parameters that a Cholesky decomposition is made of, as they are or after moves,
// symmetrization and scaling. Calls are followed. Linear in the module.
[[nodiscard]] std::set<int64_t> positive_definite_parameters(const hlo::Module& module);

}  // namespace sapper::inputs
