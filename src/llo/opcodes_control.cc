// Control: operands of the kernel, branches that the decoder leaves, halts, barriers, tuples, traces: what has little
// or no effect on values.
#include "llo/isa.h"

namespace sapper::llo {

std::span<const OpcodeInfo> control_opcodes() { return {}; }

}  // namespace sapper::llo
