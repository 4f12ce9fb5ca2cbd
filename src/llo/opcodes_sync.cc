// Sync flags: add, set, wait.
#include "llo/isa.h"

namespace sapper::llo {

std::span<const OpcodeInfo> sync_opcodes() { return {}; }

}  // namespace sapper::llo
