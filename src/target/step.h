// Stepping a kernel of XLA:CPU from outside of its process (CompilerPool::step): what to run, and what came of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "hlo/literal.h"
#include "target/compiler.h"
#include "target/trace.h"

namespace sapper::target {

struct StepRequest {
  std::string module;  // serialized HloModuleProto
  Configuration configuration;
  std::vector<hlo::Literal> arguments;
  std::string kernel;  // name of its function: that of the instruction in the optimized module
  // Bytes of the kernel that are written over, (offset, value): simulated defects, for tests.
  std::vector<std::pair<uint32_t, uint8_t>> patches;
  // By a process that traces the compiler's (tracer.h), also where breakpoints would do.
  bool is_traced = false;
  uint64_t step_limit = 4'000'000;
  uint64_t trace_bytes = uint64_t{256} << 20;
};

struct StepResult {
  std::string optimized;     // serialized HloModuleProtoWithConfig
  hlo::Literal output;       // of the run without stepping
  bool differs = false;      // the stepped run gave another one: instrumentation failed
  std::optional<Error> end;  // the process died in the stepped run; then the above is not there
  Trace trace;               // as far as it came
};

}  // namespace sapper::target
