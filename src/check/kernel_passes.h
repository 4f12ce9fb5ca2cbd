// The backend passes of a kernel that is wrong: which one made it so, and with which instruction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/kernels.h"
#include "check/walk.h"
#include "llo/dump.h"
#include "llo/machine.h"

namespace sapper::check {

// The names of the stages that say whether there is anything to look for, as a regular expression for dumps.
constexpr const char* kFirstAndLastStage = "^original$|^final_bundles$|^deduplication-map$";

struct KernelPasses {
  std::vector<StageReport> stages;  // of the kernel
  std::optional<Guilty> guilty;
  std::string note;  // why the passes cannot be walked, when they cannot
};

// The emitter, whose program (`original`) is wrong already, with the store that wrote the worst element. `dump` has
// that stage.
[[nodiscard]] Guilty guilty_emitter(const llo::ModuleDump& dump, const KernelReport& wrong,
                                    const llo::MachineOptions& machine);

// `dump`: all passes of the module's kernels. `wrong` is a mismatch.
[[nodiscard]] KernelPasses walk_kernel_passes(const llo::ModuleDump& dump, const KernelReport& wrong,
                                              const llo::MachineOptions& machine);

}  // namespace sapper::check
