// What collectives and sharding annotations are when one device runs the program alone: its own data, cut or repeated
// to the size that the others' would have given it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "hlo/module.h"

namespace sapper::isolate {

// Why `instruction` (of Role::Collective, its operands of these shapes) has no equivalent; empty: it has one. For
// the second half of an asynchronous collective, the operands are those of the first.
[[nodiscard]] std::string_view single_device_problem(const hlo::Instruction& instruction,
                                                     std::span<const hlo::Shape> operands);

// Appends the equivalent to `to` and returns its result. There must be no problem.
[[nodiscard]] hlo::InstructionIndex append_single_device(const hlo::Instruction& instruction,
                                                         const std::vector<hlo::InstructionIndex>& operands,
                                                         hlo::Computation& to);

}  // namespace sapper::isolate
