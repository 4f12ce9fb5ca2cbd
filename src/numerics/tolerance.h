// How far each output of a program may be from the reference: derived from what the program does, not from a global
// number.
//
// One forward pass carries, for every value, an estimate of the rounding error that a legal implementation may show. It
// is a heuristic (docs/comparison.md gives the rules and their reasons), kept in this one place; bounds per element
// replace it.
#pragma once

#include <string>
#include <vector>

#include "hlo/module.h"
#include "numerics/compare.h"

namespace sapper::numerics {

struct OutputTolerance {
  Tolerance tolerance;
  // The first instruction by which this output depends on a discrete decision (compare, floor, sort, convert to
  // integer, ...) over values that carry rounding error: then a legal implementation may decide otherwise, and a
  // mismatch proves nothing. Empty: none.
  std::string decision;
};

// One entry an output leaf of the entry computation. With `excess_precision`, roundings to narrow float types are
// permissions, not obligations: their epsilon enters the tolerance. Linear in the module's size (loop bodies are walked
// a few times and extrapolated).
[[nodiscard]] std::vector<OutputTolerance> derive_tolerances(const hlo::Module& module, bool excess_precision);

}  // namespace sapper::numerics
