// What of an instruction must not go with it into a piece: what ties it to its surroundings.
#pragma once

#include <string>
#include <string_view>

#include "hlo/module.h"

namespace sapper::isolate {

// A copy of an instruction of `module` for a piece: default memory, no sharding, metadata, ids, control predecessors,
// channels, prefetches nor assumptions about neighbours. Operands and called computations are the caller's to set.
[[nodiscard]] hlo::Instruction sanitized(const hlo::Module& module, const hlo::Instruction& instruction);

// The flags of `module` that a piece of it keeps.
[[nodiscard]] hlo::Module module_like(const hlo::Module& module);

// Says the layouts of parameters and result where compilers look for them: XLA:TPU takes a program that is scheduled
// already as it is, but for its boundary, to which it gives default layouts unless these attributes say others.
void state_boundary_layouts(hlo::Module& piece);

}  // namespace sapper::isolate
