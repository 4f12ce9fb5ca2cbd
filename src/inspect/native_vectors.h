// What an instruction on vectors writes, as tags: lanes that stay, move, or change their width, and masks over them.
#pragma once

#include "inspect/native_state.h"

namespace sapper::inspect {

// `rm`: of its operand that may be memory; `old`: of what it writes over, where a mask leaves elements out. `before`:
// the registers before it; `after`: their values once it ran.
[[nodiscard]] TaggedBytes vector_result(const PendingStep& step, const TaggedBytes& rm, const TaggedBytes& old,
                                        const TaggedRegisters& before, const target::Registers& after, TagTable& tags);

}  // namespace sapper::inspect
