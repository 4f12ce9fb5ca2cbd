// Vector compares and classifications: from vectors to masks.
#include "llo/isa.h"

namespace sapper::llo {

std::span<const OpcodeInfo> compare_opcodes() { return {}; }

}  // namespace sapper::llo
