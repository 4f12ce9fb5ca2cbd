// XLA:TPU's marks on the indices of gathers and scatters, in optimized programs.
#pragma once

#include "hlo/module.h"

namespace sapper::hlo {

// A custom call whose value is its operand: indices that the compiler knows to be in bounds where the whole program is
// at hand, or whose parts it has packed into one number. What takes them is made for such indices alone.
[[nodiscard]] inline bool is_index_mark(const Instruction& instruction) {
  if (instruction.opcode != Opcode::CustomCall) return false;
  const std::string& target = instruction.attributes().custom_call_target();
  return target == "AssumeGatherIndicesInBound" || target == "GatherScatterIndicesBitpacked";
}

}  // namespace sapper::hlo
