// The grammar of what an LLO instruction works on: registers, immediates, allocations, memory operands.
#pragma once

#include "llo/program.h"
#include "llo/text_scanner.h"

namespace sapper::llo {

// %v17, %v17_v3, %5
Register read_register(Scanner& scanner);
// 12, 0x1f, -3, 1.5, -inf, nan, 1.0|2.0
Immediate read_immediate(Scanner& scanner);
// #allocation3, #allocation7_spill
AllocationName read_allocation_name(Scanner& scanner);
// At the `[`: [#allocation3], [#allocation3 + $0x8]: an address, and what is added to it.
std::pair<AllocationName, uint32_t> read_allocation_address(Scanner& scanner);
// At the `[`: is it that of a memory operand?
[[nodiscard]] bool at_memory_operand(const Scanner& scanner);
MemoryOperand read_memory_operand(Scanner& scanner);
std::optional<Space> space_of(std::string_view name);

}  // namespace sapper::llo
