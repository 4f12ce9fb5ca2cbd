// Inspection of a kernel on the LLO machine, from programs at hand.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "check/judge.h"
#include "inspect/inspection.h"
#include "inspect/kernel_view.h"
#include "llo/machine.h"
#include "llo/program.h"

namespace sapper::inspect {

struct LloInspectionOptions {
  llo::MachineOptions machine;
  eval::Options evaluation;
  check::Policy policy;
  int window = 2;                           // instructions on each side of the first divergence whose values are kept
  int64_t memory_bytes = int64_t{2} << 30;  // of the values of the kernel's instructions
};

// Everything but target, seed, inputs and command. Errors: of the machine and of the evaluator.
[[nodiscard]] Result<Inspection> inspect_llo(const LloKernel& kernel, const LloInspectionOptions& options);

}  // namespace sapper::inspect
