// Inspection of a kernel on the LLO machine, from programs at hand.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "check/judge.h"
#include "inspect/inspection.h"
#include "llo/machine.h"
#include "llo/program.h"

namespace sapper::inspect {

struct LloKernel {
  const hlo::Module& module;  // the kernel alone (check::single_instruction_module), verified
  std::vector<hlo::Literal> operands;
  const llo::Program& original;  // the stage that the emitter wrote
  const llo::Program& stage;     // the one that is looked into; may be the same
  std::string stage_name;
};

struct LloInspectionOptions {
  llo::MachineOptions machine;
  eval::Options evaluation;
  check::Policy policy;
  int window = 2;                           // instructions on each side of the first divergence whose values are kept
  int64_t memory_bytes = int64_t{2} << 30;  // of the values of the kernel's instructions
};

// Everything but target, seed, inputs and command. Errors: of the machine and of the evaluator; Unsupported: ...
[[nodiscard]] Result<Inspection> inspect_llo(const LloKernel& kernel, const LloInspectionOptions& options);

}  // namespace sapper::inspect
