// Loads and stores of the vector and scalar units, with strides, sublane masks and patterns.
#include "llo/isa.h"

namespace sapper::llo {

std::span<const OpcodeInfo> memory_opcodes() { return {}; }

}  // namespace sapper::llo
