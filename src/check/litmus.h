// Litmus tests of a program: does it have one meaning at all? A program that does not cannot show that a compiler is
// wrong.
#pragma once

#include <optional>
#include <string>

#include "hlo/module.h"

namespace sapper::check {

// A sentence naming the first instruction whose result the operation semantics leave open: a reduce or reduce-window
// whose initial value is a constant that is not neutral for its body (how often it enters the result is left open), an
// eigendecomposition (the signs of its vectors). nullopt: none found.
[[nodiscard]] std::optional<std::string> open_meaning(const hlo::Module& module);

}  // namespace sapper::check
