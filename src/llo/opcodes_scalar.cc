// Scalar unit: integers, floats, compares, selects, predicates, addresses (scalar_lea, int_to_ptr).
#include "llo/isa.h"

namespace sapper::llo {

std::span<const OpcodeInfo> scalar_opcodes() { return {}; }

}  // namespace sapper::llo
