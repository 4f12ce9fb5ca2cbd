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

// What an implementation may do beyond rounding each operation once.
struct Allowance {
  bool excess_precision = false;   // leave out roundings to narrow float types
  bool bfloat16_products = false;  // round the f32 operands of dots and convolutions of default precision to bf16
  bool short_formulas = false;     // compute functions as the emitters of XLA:TPU do (docs/comparison.md)
};

// One entry an output leaf of the entry computation. Linear in the module's size (loop bodies are walked a few times
// and extrapolated).
[[nodiscard]] std::vector<OutputTolerance> derive_tolerances(const hlo::Module& module, Allowance allowance);

// Whether `instruction` is a dot or convolution with an f32 operand whose precision is the default one.
[[nodiscard]] bool has_default_precision(const hlo::Computation& computation, const hlo::Instruction& instruction);

}  // namespace sapper::numerics
