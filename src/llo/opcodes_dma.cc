// DMA: moves of whole stretches of memory, counted in granules by sync flags.
#include "llo/isa.h"

namespace sapper::llo {

std::span<const OpcodeInfo> dma_opcodes() { return {}; }

}  // namespace sapper::llo
