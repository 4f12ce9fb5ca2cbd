// Wrong compilers, made by hand: a program with one instruction changed as a real defect of a backend would change it.
#pragma once

#include <string_view>
#include <vector>

#include "llo/program.h"

namespace sapper::llo {

struct Mutant {
  std::string_view kind;  // "swapped select"
  InstructionIndex instruction = 0;
  Program program;
};

// All kinds: a sublane mask with one bit flipped, a compare of the neighbouring kind, a rotate one lane too far, an
// accumulation left out, an address one step off, a select with its sides swapped, a wait for a DMA left out, the other
// half of a packed register. At most `most` of each kind, spread evenly over the program.
[[nodiscard]] std::vector<Mutant> mutants_of(const Program& program, size_t most);

}  // namespace sapper::llo
