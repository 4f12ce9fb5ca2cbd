// Packing narrow lanes into words and unpacking them.
#include "llo/isa.h"

namespace sapper::llo {

std::span<const OpcodeInfo> pack_opcodes() { return {}; }

}  // namespace sapper::llo
