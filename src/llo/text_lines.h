// The grammar of the SSA form: regions, allocations and instructions, one a line.
#pragma once

#include "llo/program.h"
#include "llo/text_scanner.h"

namespace sapper::llo {

// Reads the whole text into `program`; its form becomes Ssa.
void read_lines(Scanner& scanner, Program& program);

}  // namespace sapper::llo
