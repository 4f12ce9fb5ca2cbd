// The program that a compiler may run under xla_allow_excess_precision: values of bf16 and f16 between arithmetic
// operations are carried in f32, without the roundings in between.
#pragma once

#include "hlo/module.h"

namespace sapper::eval {

// `module` with arithmetic on bf16 and f16, the converts to these types, the moves between them, and the dots and
// convolutions that read them done in f32. Values
// are still rounded where they are stored in their type: results, parameters and results of called computations other
// than calls, operands of other operations.
[[nodiscard]] hlo::Module with_excess_precision(const hlo::Module& module);

}  // namespace sapper::eval
