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
  bool saturated = false;  // the estimate is at its largest: the program is too deep for it to say anything
};

// What an implementation may do beyond rounding each operation once.
struct Allowance {
  bool excess_precision = false;   // leave out roundings to narrow float types
  bool bfloat16_products = false;  // f32 dots and convolutions in bf16: of default precision once, of high three times
  bool short_formulas = false;     // compute functions as the emitters of XLA:TPU do (docs/comparison.md)
};

// One entry an output leaf of the entry computation. Linear in the module's size (loop bodies are walked a few times
// and extrapolated).
[[nodiscard]] std::vector<OutputTolerance> derive_tolerances(const hlo::Module& module, Allowance allowance);

// In how many products of bf16 numbers a dot or convolution with an f32 operand may be computed, by its
// operand_precision: default 1, high 3 (each operand as the sum of two bf16 numbers). 0: it must keep f32, or is
// something else.
[[nodiscard]] int bfloat16_passes(const hlo::Computation& computation, const hlo::Instruction& instruction);

}  // namespace sapper::numerics
