// One instruction as a module of its own.
#pragma once

#include "hlo/module.h"

namespace sapper::check {

// A module whose root is `instruction` of `computation`, its operands as parameters, with the computations it calls.
// Scalar constants stay constants, as what they are may decide what the instruction means; their parameters are unused.
[[nodiscard]] hlo::Module single_instruction_module(const hlo::Module& module, const hlo::Computation& computation,
                                                    const hlo::Instruction& instruction);

}  // namespace sapper::check
