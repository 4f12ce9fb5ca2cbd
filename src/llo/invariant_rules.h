// The rules behind check_invariants, one a subject; each appends what it finds.
#pragma once

#include <vector>

#include "llo/invariants.h"

namespace sapper::llo {

// Basic blocks dumped without their regions and phis: what they use may be defined outside of the text, and they are
// scheduled as if more could be had.
[[nodiscard]] bool is_fragment(const Program& program);

void check_values(const Program& program, std::vector<Violation>& found);
void check_branches(const Program& program, std::vector<Violation>& found);
void check_allocations(const Program& program, std::vector<Violation>& found);
void check_dma(const Program& program, const Generation& generation, std::vector<Violation>& found);
void check_bundles(const Program& program, const Generation& generation, std::vector<Violation>& found);

}  // namespace sapper::llo
