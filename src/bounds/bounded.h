// Bounded evaluation: the reference value of a program together with the largest deviation from it, element by element,
// that a legal implementation may show under a numerics contract.
//
// The bound is itself a program: with_bounds() writes, next to every instruction, the instructions that compute how far
// its value may deviate, from how far its operands' may (running error analysis). The evaluator runs both together, so
// bounds have its speed, and can be printed, read and tested like any module. docs/verdicts.md has the rules and why
// they hold.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "eval/evaluator.h"
#include "hlo/literal.h"
#include "hlo/module.h"
#include "numerics/contract.h"

namespace sapper::bounds {

// A program whose root is a tuple: the original root, then one array for each of its leaves that may deviate.
struct BoundedModule {
  hlo::Module module;
  // For each leaf of the original root: does it have an array of deviations? Those that do have them in this order.
  std::vector<bool> deviates;
  // Instructions that no rule bounds: what depends on them is undetermined.
  std::vector<std::string> unbounded;
};

// Deviations are f32 (f64 beside f64, c128 and integers of 32 bits and more), not negative, rounded upwards. Where one
// is infinite or NaN, a legal implementation may give anything. They count distance: of real numbers, in the complex
// plane, between integers; of preds, 1 means undecided. The module must be verified. Linear in the module's size, but
// for loops and computations called with different leaves deviating.
[[nodiscard]] Result<BoundedModule> with_bounds(const hlo::Module& module, const numerics::Contract& contract);

struct Bounded {
  hlo::Literal value;                    // what eval::evaluate gives; of pairs of f32 where they stand for f64
  std::vector<hlo::Literal> deviations;  // one a leaf; of an invalid shape where every implementation gives the value
  std::vector<std::string> unbounded;
};

// Errors as eval::evaluate.
[[nodiscard]] Result<Bounded> evaluate(const BoundedModule& bounded, std::span<const hlo::Literal> arguments,
                                       const eval::Options& options = {});

}  // namespace sapper::bounds
