// The cross-lane units: rotates, permutes, broadcasts, reductions over lanes, and the queues of their results.
#include "llo/isa.h"

namespace sapper::llo {

std::span<const OpcodeInfo> cross_lane_opcodes() { return {}; }

}  // namespace sapper::llo
