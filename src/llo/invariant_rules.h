// The rules behind check_invariants, one a subject; each appends what it finds.
#pragma once

#include <vector>

#include "llo/invariants.h"

namespace sapper::llo {

void check_values(const Program& program, std::vector<Violation>& found);
void check_branches(const Program& program, std::vector<Violation>& found);
void check_allocations(const Program& program, std::vector<Violation>& found);
void check_dma(const Program& program, const Generation& generation, std::vector<Violation>& found);
void check_bundles(const Program& program, const Generation& generation, std::vector<Violation>& found);

}  // namespace sapper::llo
