// Masks: logic, constants, packing, selects by mask.
#include "llo/isa.h"

namespace sapper::llo {

std::span<const OpcodeInfo> mask_opcodes() { return {}; }

}  // namespace sapper::llo
