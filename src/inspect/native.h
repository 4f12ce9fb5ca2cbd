// Looks into a kernel of XLA:CPU: the machine code that the compiler made runs in a process as it is, stepped
// instruction by instruction (target/stepper.h), and the values in its registers are laid beside its HLO.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "check/judge.h"
#include "inspect/inspection.h"
#include "target/compiler.h"
#include "target/step.h"

namespace sapper::inspect {

struct NativeOptions {
  target::Target target;
  target::Configuration configuration;
  std::string kernel;  // the HLO instruction; empty: the first whose result is wrong, else the longest
  eval::Options evaluation;
  check::Policy policy;
  int window = 2;  // instructions around the first divergence whose values are kept
  int64_t memory_bytes = int64_t{2} << 30;
  std::vector<std::pair<uint32_t, uint8_t>> patches = {};  // bytes of the kernel written over: simulated defects
};

// `module` on `arguments`. Errors: BadInput (no such kernel), Unsupported (no machine code, buffers that cannot be
// read), Resource (more steps than a trace holds), Crash (where the kernel dies), Internal (instrumentation failed: the
// stepped run gave other results), and those of compiling.
[[nodiscard]] Result<Inspection> inspect_native(target::CompilerPool& pool, const hlo::Module& module,
                                                const std::vector<hlo::Literal>& arguments,
                                                const NativeOptions& options);

}  // namespace sapper::inspect
