// Kernels made wrong by hand, and what must be said of them: which instructions of the HLO are the first whose values
// are others than in the right kernel. Found without judging: by comparing every register of the two runs.
#pragma once

#include <set>
#include <string>

#include "llo/program.h"
#include "tests/inspect/kernel_cases.h"

namespace sapper::inspect {

// The names of the first instructions whose values `wrong`, a stage of the kernel with one instruction changed, makes
// others: those that no other such instruction goes before. Empty: the results are what they may be.
[[nodiscard]] Result<std::set<std::string>> first_changed(const KernelCase& kernel, const llo::Program& wrong,
                                                          const LloInspectionOptions& options);

}  // namespace sapper::inspect
