// The matrix units: weights pushed and latched, rows multiplied, results popped.
#include "llo/isa.h"

namespace sapper::llo {

std::span<const OpcodeInfo> matrix_opcodes() { return {}; }

}  // namespace sapper::llo
