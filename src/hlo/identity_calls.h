// Custom calls whose value is their operand: marks that compilers put on values.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "hlo/module.h"

namespace sapper::hlo {

// XLA:TPU's marks on the indices of gathers and scatters, in optimized programs: indices that the compiler knows to be
// in bounds where the whole program is at hand, or whose parts it has packed into one number. What takes them is made
// for such indices alone.
inline constexpr std::array<std::string_view, 2> index_marks = {"AssumeGatherIndicesInBound",
                                                                "GatherScatterIndicesBitpacked"};
// Shardings, placements, layouts.
inline constexpr std::array<std::string_view, 8> annotations = {
    "Sharding",
    "SPMDFullToShardShape",
    "SPMDShardToFullShape",
    "xla.sdy.FuncResultSharding",
    "annotate_device_placement",
    "MoveToDevice",
    "MoveToHost",
    "LayoutConstraint",
};

[[nodiscard]] inline bool is_index_mark(const Instruction& instruction) {
  return instruction.opcode == Opcode::CustomCall &&
         std::ranges::find(index_marks, instruction.attributes().custom_call_target()) != index_marks.end();
}

// Whether the instruction's value is its one operand, where that has the same shape.
[[nodiscard]] inline bool is_identity_call(const Instruction& instruction) {
  return is_index_mark(instruction) ||
         (instruction.opcode == Opcode::CustomCall &&
          std::ranges::find(annotations, instruction.attributes().custom_call_target()) != annotations.end());
}

}  // namespace sapper::hlo
