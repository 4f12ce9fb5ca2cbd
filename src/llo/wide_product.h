// Products of two words that take two registers, although SSA programs give them one name: the register holds the low
// words, the high words are kept beside it until vextract.high.u32 asks for them.
#pragma once

#include "llo/machine.h"

namespace sapper::llo {

[[gnu::always_inline]] inline uint32_t high_product(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>(uint64_t{a} * b >> 32);
}

void compose_product(Machine& machine, const Step& step);
void extract_high(Machine& machine, const Step& step);

}  // namespace sapper::llo
