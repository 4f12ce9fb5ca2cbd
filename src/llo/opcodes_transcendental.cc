// The EUP: exponentials, logarithms, reciprocals, ... correctly rounded, with the error that the hardware may add.
#include "llo/isa.h"

namespace sapper::llo {

std::span<const OpcodeInfo> transcendental_opcodes() { return {}; }

}  // namespace sapper::llo
