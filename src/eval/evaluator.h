// The reference evaluator: runs an HLO module on literals, in exact mode: every operation as the operation semantics
// say, every rounding that the module states and no other, except that f32 (and narrower) sums, dots and convolutions
// accumulate in f64 and round once (docs/evaluator.md).
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/error.h"
#include "hlo/literal.h"
#include "hlo/module.h"

namespace sapper::eval {

// Resource, where computations call each other deeper than the stack allows (1000 levels). Linear.
[[nodiscard]] Status check_call_depth(const hlo::Module& module);

// Receives each instruction's value as it is computed, in execution order: inside fusions, calls, branches and loop
// bodies (once an iteration) too, but not inside computations that are applied to elements: reducers, comparators,
// combiners, maps. Converts that the evaluator adds between float types come under the name of what they
// convert. Values may be read only during the call.
using Trace = std::function<void(const hlo::Computation&, const hlo::Instruction&, const hlo::Literal&)>;

// Runs some instructions in place of the evaluator.
struct Substitute {
  // Those whose value comes from `run`.
  std::function<bool(const hlo::Computation&, const hlo::Instruction&)> covers;
  // The value, of the instruction's shape, from those of its operands.
  std::function<Result<hlo::Literal>(const hlo::Computation&, const hlo::Instruction&, std::vector<hlo::Literal>)> run;
};

struct Options {
  // A convert to a narrower float type whose result is only converted back (or computed on in floats) may keep its
  // operand's precision, as under xla_allow_excess_precision: bf16 and f16 values are carried in f32, unrounded.
  bool excess_precision = false;
  // Arguments and live buffers above this are a Resource error before they are allocated. 0: three quarters of physical
  // memory.
  int64_t memory_limit_bytes = 0;
  // Loop iterations in the whole run above this are a Resource error. 0: no limit.
  int64_t iteration_limit = 0;
  // Wall-clock seconds above this are a Resource error; trace and substitute are not cut short. 0: no limit.
  double time_limit_seconds = 0;
  Trace trace;  // tracing turns off fusion of elementwise chains
  Substitute substitute;
};

// The value of the module's root. `arguments[i]` is parameter i and must have its shape (layouts aside). The module
// must be verified (hlo/verifier.h). Errors: BadInput (arguments, an elided constant whose value is needed),
// Unsupported ("not evaluated: OPCODE (name)"), Resource.
[[nodiscard]] Result<hlo::Literal> evaluate(const hlo::Module& module, std::span<const hlo::Literal> arguments,
                                            const Options& options = {});

// The least memory that evaluating the module takes, arguments counted, in bytes. 0 for what evaluate() refuses.
[[nodiscard]] int64_t least_memory_bytes(const hlo::Module& module);

}  // namespace sapper::eval
