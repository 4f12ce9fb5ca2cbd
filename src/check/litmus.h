// Litmus tests of a program: does it have one meaning at all? A program that does not cannot show that a compiler is
// wrong.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "eval/evaluator.h"
#include "hlo/module.h"

namespace sapper::check {

struct OpenMeaning {
  std::string why;  // a sentence naming the instruction
  hlo::Opcode opcode = hlo::Opcode::Parameter;
};

// The first instruction whose result the operation semantics leave open whatever the arguments: a reduce or
// reduce-window whose initial value is a constant that is not neutral for its body (how often it enters the result is
// left open), a sort whose comparison is no strict order, random numbers of the device, an eigendecomposition (the
// signs of its vectors). nullopt: none found.
[[nodiscard]] std::optional<OpenMeaning> open_meaning(const hlo::Module& module);

// The first one whose result is left open on these arguments: a scatter that promised unique indices and has equal
// ones, or that overwrites one element twice, indices that were promised sorted, or (XLA:TPU's
// marks in optimized programs) in bounds, and are not, a division of integers by
// 0 or one that overflows, a number that becomes an integer and does not fit, a sort of NaNs by a comparison that does
// not order them. Where that cannot be evaluated, within its limits, that is what `why` says.
[[nodiscard]] std::optional<OpenMeaning> open_meaning_on(const hlo::Module& module,
                                                         std::span<const hlo::Literal> arguments,
                                                         const eval::Options& evaluation);

}  // namespace sapper::check
