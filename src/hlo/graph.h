// A module as a Graphviz graph: one cluster a computation, one node an instruction, edges from operands to users.
#pragma once

#include <string>

#include "hlo/module.h"

namespace sapper::hlo {

[[nodiscard]] std::string to_dot(const Module& module);

}  // namespace sapper::hlo
