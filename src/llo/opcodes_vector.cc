// Vector unit: integer and float arithmetic, bitwise operations, shifts, constants, lane numbers.
#include "llo/isa.h"

namespace sapper::llo {

std::span<const OpcodeInfo> vector_opcodes() { return {}; }

}  // namespace sapper::llo
