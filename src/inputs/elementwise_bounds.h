// Bounds of what elementwise operations make of bounded operands.
#pragma once

#include <optional>
#include <span>

#include "hlo/opcode.h"
#include "inputs/interval.h"

namespace sapper::inputs {

// The bounds of the operation's result, its type's limits aside, where the operands (within `x`) are inside the
// operation's domain; nullopt for operations that are not elementwise or bounded by nothing but their type. `type` is
// the result's.
[[nodiscard]] std::optional<Interval> elementwise_bounds(hlo::Opcode opcode, std::span<const Interval> x,
                                                         hlo::ElementType type);

// Whether an operand within `x` may be outside of the operation's domain, so that its result is NaN or infinite.
[[nodiscard]] bool may_leave_domain(hlo::Opcode opcode, std::span<const Interval> x, hlo::ElementType type);

}  // namespace sapper::inputs
