// Micro inspection: compiles a module, takes one of its kernels and looks into it while it runs, intact.
#pragma once

#include <string>

#include "base/error.h"
#include "check/check.h"
#include "hlo/module.h"
#include "inspect/inspection.h"
#include "target/compiler.h"

namespace sapper::inspect {

struct InspectOptions {
  check::CheckOptions check;            // target, configuration, inputs, machine, evaluation
  std::string kernel;                   // the HLO instruction; empty: the first that is wrong, else the costliest
  std::string stage = "final_bundles";  // of its LLO; XLA:CPU has its machine code alone
  int window = 2;                       // instructions around the first divergence whose values are kept
  int64_t memory_bytes = int64_t{2} << 30;
};

// `path`: where the module is, for the command that shows the inspection again. Errors: BadInput (no such kernel or
// stage, inputs), what compiling and running can fail with.
[[nodiscard]] Result<Inspection> inspect_kernel(target::CompilerPool& pool, hlo::Module module, const std::string& path,
                                                const InspectOptions& options);

}  // namespace sapper::inspect
