// Is an infinity or NaN in a result meant? One that a constant or an argument put there, and that came through
// (masks, paddings, identities of reductions), is; one that arithmetic made of finite numbers, or a NaN made of
// infinities, is produced: what a compiler makes of it says little about the compiler.
//
// Like bounds, intents are a program: beside each value an array of where it was produced. docs/verdicts.md.
#pragma once

#include <span>
#include <vector>

#include "base/error.h"
#include "eval/evaluator.h"
#include "hlo/literal.h"
#include "hlo/module.h"

namespace sapper::bounds {

// For each leaf of the root an array of its dimensions, above 0 where the value is an infinity or NaN that was
// produced; of an invalid shape where none can be. The module must be verified. Costs about as much as bounds.
[[nodiscard]] Result<std::vector<hlo::Literal>> produced_infinities(const hlo::Module& module,
                                                                    std::span<const hlo::Literal> arguments,
                                                                    const eval::Options& options = {});

// The same shape of answer: above 0 where the value depends on an infinity, a NaN or the sign of a zero that HLO leaves
// to the implementation. Complex arithmetic, sums of products, transforms and general computations make such; real
// arithmetic as IEEE 754 has it and sums in any order make none of their own (what a rounding decides, bounds know).
// Errs by calling too much free.
[[nodiscard]] Result<std::vector<hlo::Literal>> free_infinities(const hlo::Module& module,
                                                                std::span<const hlo::Literal> arguments,
                                                                const eval::Options& options = {});

}  // namespace sapper::bounds
