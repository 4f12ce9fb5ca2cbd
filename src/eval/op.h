// The interface between the evaluator's driver and the operations that live in files of their own (dot, convolution,
// gather, scatter, sort, fft, ...): a function from operand literals to the result literal.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "base/error.h"
#include "eval/evaluator.h"
#include "hlo/literal.h"
#include "hlo/module.h"

namespace sapper::eval {

struct OpContext {
  const hlo::Module& module;
  const hlo::Computation& computation;
  const hlo::Instruction& instruction;
  const Options& options;
  // Runs a called computation of the instruction on whole values; for bodies that ScalarProgram cannot take.
  std::function<Result<hlo::Literal>(hlo::ComputationIndex, std::span<const hlo::Literal>)> call;
};

using Op = Result<hlo::Literal> (*)(const OpContext& context, std::span<const hlo::Literal> operands);

// The operation for `opcode`, or null when it is not one of those files' (then the driver itself knows it, or it is
// unsupported).
[[nodiscard]] Op find_op(hlo::Opcode opcode);

// linear: dot, ragged-dot, scaled-dot, convolution, fft, cholesky, triangular-solve, batch-norm-*, rng-*, custom-call.
Result<hlo::Literal> dot(const OpContext&, std::span<const hlo::Literal>);
Result<hlo::Literal> convolution(const OpContext&, std::span<const hlo::Literal>);
Result<hlo::Literal> ragged_dot(const OpContext&, std::span<const hlo::Literal>);
Result<hlo::Literal> scaled_dot(const OpContext&, std::span<const hlo::Literal>);
Result<hlo::Literal> fft(const OpContext&, std::span<const hlo::Literal>);
Result<hlo::Literal> cholesky(const OpContext&, std::span<const hlo::Literal>);
Result<hlo::Literal> triangular_solve(const OpContext&, std::span<const hlo::Literal>);
Result<hlo::Literal> batch_norm(const OpContext&, std::span<const hlo::Literal>);
Result<hlo::Literal> rng_bit_generator(const OpContext&, std::span<const hlo::Literal>);
Result<hlo::Literal> rng_of_device(const OpContext&, std::span<const hlo::Literal>);  // rng, rng-get-and-update-state
Result<hlo::Literal> custom_call(const OpContext&, std::span<const hlo::Literal>);

// indexing: gather, sort, topk, reduce-window, select-and-scatter, map, scan, and reduce with any body.
Result<hlo::Literal> gather(const OpContext&, std::span<const hlo::Literal>);
Result<hlo::Literal> sort(const OpContext&, std::span<const hlo::Literal>);
Result<hlo::Literal> topk(const OpContext&, std::span<const hlo::Literal>);
Result<hlo::Literal> reduce(const OpContext&, std::span<const hlo::Literal>);
Result<hlo::Literal> reduce_window(const OpContext&, std::span<const hlo::Literal>);
Result<hlo::Literal> select_and_scatter(const OpContext&, std::span<const hlo::Literal>);
Result<hlo::Literal> map(const OpContext&, std::span<const hlo::Literal>);
Result<hlo::Literal> scan(const OpContext&, std::span<const hlo::Literal>);
Result<hlo::Literal> dynamic_reshape(const OpContext&, std::span<const hlo::Literal>);
Result<hlo::Literal> set_dimension_size(const OpContext&, std::span<const hlo::Literal>);
Result<hlo::Literal> get_dimension_size(const OpContext&, std::span<const hlo::Literal>);
// `results` holds the arrays that are scattered into, `indices_and_updates` the other operands.
Result<hlo::Literal> scatter(const OpContext&, std::vector<hlo::Literal> results,
                             std::span<const hlo::Literal> indices_and_updates);
Result<hlo::Literal> collective(const OpContext&,
                                std::span<const hlo::Literal>);  // the one-replica case of all of them

}  // namespace sapper::eval
