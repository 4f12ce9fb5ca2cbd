// Deterministic inputs for a module: from (fingerprint, parameter number, seed, kind), the same on every machine.
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "hlo/fingerprint.h"
#include "hlo/literal.h"
#include "hlo/module.h"
#include "inputs/draw.h"
#include "inputs/ranges.h"

namespace sapper::inputs {

// One literal a parameter of the entry computation, inside its safe ranges (ranges.h).
[[nodiscard]] Result<std::vector<hlo::Literal>> sample(const hlo::Module& module, const hlo::Fingerprint& fingerprint,
                                                       uint64_t seed, Kind kind = Kind::Dense);
// The same with ranges that are known already.
[[nodiscard]] Result<std::vector<hlo::Literal>> sample(const hlo::Module& module, const Ranges& ranges,
                                                       const hlo::Fingerprint& fingerprint, uint64_t seed, Kind kind);

}  // namespace sapper::inputs
