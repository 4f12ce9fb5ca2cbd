#include "bounds/bounded.h"

#include "bounds/rules.h"
#include "bounds/transformer.h"
#include "eval/mixed_precision.h"

namespace sapper::bounds {

using hlo::Computation;
using hlo::Instruction;
using hlo::Literal;
using hlo::Module;

namespace {

// Dynamic dimensions and bounds of them: no rule knows both.
Status refuse_dynamic_shapes(const Module& module) {
  for (const Computation& computation : module.computations)
    for (const Instruction& instruction : computation.instructions)
      if (instruction.shape.is_dynamic())
        return tl::unexpected<Error>(hlo::error_at(ErrorKind::Unsupported, instruction,
                                                   fmt::format("no bounds for {}: its shape {} is dynamic",
                                                               instruction.name, instruction.shape.to_text(false))));
  return {};
}

}  // namespace

Result<BoundedModule> with_bounds(const Module& module, const numerics::Contract& contract) {
  return with_rules(module, contract, find_rule);
}

Result<BoundedModule> with_rules(const Module& module, const numerics::Contract& contract, RuleTable rules) {
  SAPPER_CHECKED(refuse_dynamic_shapes(module));
  SAPPER_CHECKED(eval::check_call_depth(module));
  // The rules know nothing of roundings inside operations of mixed float types.
  const std::optional<Module> converting = eval::with_explicit_converts(module, {});
  const Module& plain = converting ? *converting : module;
  Transformer transformer(plain, contract, rules);
  size_t leaves = 0;
  for (const hlo::InstructionIndex parameter : plain.entry_computation().parameters())
    leaves += leaf_count(plain.entry_computation().instructions[parameter].shape);
  const BoundedComputation entry = transformer.bounded(plain.entry, std::vector<bool>(leaves, false), true);
  BoundedModule bounded{std::move(transformer.to()), entry.deviates, std::move(transformer).unbounded()};
  bounded.module.entry = entry.index;
  bounded.module.config = module.config;
  return bounded;
}

Result<Bounded> evaluate(const BoundedModule& bounded, std::span<const Literal> arguments,
                         const eval::Options& options) {
  SAPPER_TRY(Literal root, eval::evaluate(bounded.module, arguments, options));
  Bounded result;
  result.unbounded = bounded.unbounded;
  size_t deviating = 0;
  for (const bool deviates : bounded.deviates) deviating += deviates ? 1 : 0;
  if (deviating == 0) {
    result.value = std::move(root);
    result.deviations.resize(bounded.deviates.size());
    return result;
  }
  result.value = std::move(root.mutable_elements()[0]);
  size_t next = 1;
  for (const bool deviates : bounded.deviates)
    result.deviations.push_back(deviates ? std::move(root.mutable_elements()[next++]) : Literal());
  return result;
}

}  // namespace sapper::bounds
