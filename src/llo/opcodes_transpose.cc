// Transposes of the cross-lane units: a run of registers in, the transposed ones out of a queue.
#include "llo/isa.h"

namespace sapper::llo {

std::span<const OpcodeInfo> transpose_opcodes() { return {}; }

}  // namespace sapper::llo
