#include "eval/evaluator.h"

#include <algorithm>
#include <vector>

#include "eval/excess_precision.h"
#include "eval/execution.h"
#include "eval/mixed_precision.h"

namespace sapper::eval {
namespace {

using hlo::Computation;
using hlo::Instruction;
using hlo::Literal;
using hlo::Module;

// Computations run inside each other on the machine's stack.
constexpr int deepest_calls = 1000;

}  // namespace

Status check_call_depth(const Module& module) {
  std::vector<int> depths;  // called computations come before their callers
  depths.reserve(module.computations.size());
  const auto depth_of = [&](const Instruction& instruction) {
    int depth = 1;
    for (const hlo::ComputationIndex called : instruction.called) depth = std::max(depth, depths[called] + 1);
    return depth;
  };
  for (const Computation& computation : module.computations) {
    int depth = 1;
    for (const Instruction& instruction : computation.instructions) depth = std::max(depth, depth_of(instruction));
    depths.push_back(depth);
  }
  for (const Instruction& instruction : module.entry_computation().instructions) {
    if (depth_of(instruction) <= deepest_calls) continue;
    return fail(hlo::error_at(ErrorKind::Resource, instruction,
                              fmt::format("computations call each other more than {} levels deep", deepest_calls)));
  }
  return {};
}

namespace {

bool has_unbounded_dimension(const hlo::Shape& shape) {
  const auto& dimensions = shape.dimensions();
  return std::find(dimensions.begin(), dimensions.end(), hlo::Shape::unbounded) != dimensions.end() ||
         std::any_of(shape.elements().begin(), shape.elements().end(), has_unbounded_dimension);
}

Status check_bounded(const Module& module) {
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      if (!has_unbounded_dimension(instruction.shape)) continue;
      return fail(hlo::error_at(
          ErrorKind::Unsupported, instruction,
          fmt::format("not evaluated: {} ({}): a dimension of {} has no bound", hlo::to_string(instruction.opcode),
                      instruction.name, instruction.shape.to_text(false))));
    }
  }
  return {};
}

Status check_arguments(const Module& module, std::span<const Literal> arguments) {
  const Computation& entry = module.entry_computation();
  const std::vector<hlo::InstructionIndex> parameters = entry.parameters();
  if (parameters.size() != arguments.size())
    return fail(ErrorKind::BadInput, "{} arguments for the {} parameters of the entry computation", arguments.size(),
                parameters.size());
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Instruction& parameter = entry.instructions[parameters[i]];
    if (!arguments[i].shape().same_ignoring_layout(parameter.shape)) {
      return fail(hlo::error_at(ErrorKind::BadInput, parameter,
                                fmt::format("argument {} has shape {}, but the parameter is {}", i,
                                            arguments[i].shape().to_text(false), parameter.shape.to_text(false))));
    }
  }
  return {};
}

}  // namespace

Result<Literal> evaluate(const Module& module, std::span<const Literal> arguments, const Options& options) {
  SAPPER_CHECKED(check_arguments(module, arguments));
  SAPPER_CHECKED(check_call_depth(module));
  SAPPER_CHECKED(check_bounded(module));
  std::optional<Module> rewritten = with_explicit_converts(module, options.substitute);
  if (options.excess_precision) rewritten = with_excess_precision(rewritten ? *rewritten : module);
  return Execution(rewritten ? *rewritten : module, options).run(arguments);
}

int64_t least_memory_bytes(const Module& module) {
  if (!check_call_depth(module) || !check_bounded(module)) return 0;
  const std::optional<Module> rewritten = with_explicit_converts(module, {});
  const Options options;
  return Execution(rewritten ? *rewritten : module, options).need_of(module.entry).bytes;
}

}  // namespace sapper::eval
