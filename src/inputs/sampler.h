// Deterministic inputs for a module: from (fingerprint, parameter number, seed), the same on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "hlo/fingerprint.h"
#include "hlo/literal.h"
#include "hlo/module.h"

namespace sapper::inputs {

// One literal a parameter of the entry computation. Floats are distinct, of both signs and varied exponents; integers
// that plainly index (dynamic-slice starts, gather and scatter indices) stay inside the dimension they index, edges
// included; u32[2] and u32[4] that feed an RNG are keys; other integers are small and of both signs; matrices that are
// factored by Cholesky are positive definite.
[[nodiscard]] Result<std::vector<hlo::Literal>> sample(const hlo::Module& module, const hlo::Fingerprint& fingerprint,
                                                       uint64_t seed);

// `value` with every finite float moved by one unit in the last place, up or down by chance from `seed`; other types as
// they are.
[[nodiscard]] hlo::Literal perturbed(const hlo::Literal& value, uint64_t seed);

}  // namespace sapper::inputs
