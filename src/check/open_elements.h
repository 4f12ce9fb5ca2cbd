// Elements of a result that a program leaves open: they come from a buffer that it allocated and did not write.
#pragma once

#include <span>

#include "eval/evaluator.h"
#include "hlo/literal.h"
#include "hlo/module.h"
#include "llo/kernel.h"

namespace sapper::check {

// Its result is whatever was in memory: there is nothing to judge.
[[nodiscard]] bool is_uninitialized(const hlo::Instruction& instruction);

// The elements of `reference`, the value of `module` on `arguments`, that are others when its buffers held something
// else. Empty: it allocates none.
[[nodiscard]] llo::Elements open_elements(const hlo::Module& module, std::span<const hlo::Literal> arguments,
                                          const hlo::Literal& reference, eval::Options evaluation);

// `value` with the elements of `reference` in the place of those that are open.
[[nodiscard]] hlo::Literal closed(hlo::Literal value, const hlo::Literal& reference, const llo::Elements& open);

}  // namespace sapper::check
