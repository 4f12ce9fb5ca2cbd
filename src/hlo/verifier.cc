#include "hlo/verifier.h"

#include <atomic>

#include "base/parallel.h"
#include "hlo/verifier_rules.h"
#include "hlo/verifier_structure.h"

namespace sapper::hlo::verifier {
namespace {

// A run of instructions of one computation.
struct Chunk {
  ComputationIndex computation;
  InstructionIndex begin;
  InstructionIndex end;
};

constexpr size_t instructions_in_chunk = 4096;

std::vector<Chunk> split(const Module& module) {
  std::vector<Chunk> chunks;
  for (ComputationIndex c = 0; c < module.computations.size(); ++c) {
    const size_t count = module.computations[c].instructions.size();
    for (size_t begin = 0; begin < count; begin += instructions_in_chunk)
      chunks.push_back({c, static_cast<InstructionIndex>(begin),
                        static_cast<InstructionIndex>(std::min(count, begin + instructions_in_chunk))});
  }
  return chunks;
}

// check(computation index, instruction index) for all instructions, in parallel where there are many; the error of the
// first instruction, in the module's order, that has one.
template <class Check>
Status check_all(const Module& module, const std::vector<Chunk>& chunks, const Check& check) {
  std::vector<Status> status(chunks.size());
  std::atomic<size_t> first_failed = chunks.size();
  const auto run = [&](size_t i) {
    const Chunk& chunk = chunks[i];
    if (i > first_failed) return;
    for (InstructionIndex at = chunk.begin; at < chunk.end && status[i]; ++at) status[i] = check(chunk.computation, at);
    if (status[i]) return;
    size_t known = first_failed;
    while (i < known && !first_failed.compare_exchange_weak(known, i)) {
    }
  };
  if (module.instruction_count() < static_cast<int64_t>(instructions_in_chunk)) {
    for (size_t i = 0; i < chunks.size(); ++i) run(i);
  } else {
    parallel_for_each(std::ssize(chunks), run);
  }
  return first_failed < chunks.size() ? std::move(status[first_failed]) : Status{};
}

bool touches_unbounded(const Site& site) {
  if (has_unbounded_dimension(site.stated())) return true;
  for (size_t i = 0; i < site.operand_count(); ++i)
    if (has_unbounded_dimension(site.operand(i))) return true;
  return false;
}

// The stated shape follows from operands and attributes.
Status check_rule(const Site& site) {
  const Result<Inferred> inferred = site.rule.infer(site);
  if (!inferred) return fail(inferred.error());
  const Shape& shape = inferred->shape();
  const bool agrees = &shape == &site.stated() ||
                      (site.rule.agreement == Agreement::Exact ? compatible(shape, site.stated())
                                                               : compatible_ignoring_precision(shape, site.stated()));
  if (agrees) return {};
  std::string operands;
  for (size_t i = 0; i < site.operand_count() && i < 4; ++i)
    operands += (i == 0 ? " of " : ", ") + text(site.operand(i));
  if (site.operand_count() > 4) operands += ", ...";
  return site.bad("stated shape {} but {}{} gives {}", text(site.stated()), to_string(site.instruction.opcode),
                  operands, text(shape));
}

Status check_module(const Module& module) {
  std::vector<Parameters> parameters;
  parameters.reserve(module.computations.size());
  SAPPER_CHECKED(check_entry(module));
  for (const Computation& computation : module.computations) {
    SAPPER_CHECKED(check_computation(computation));
    SAPPER_TRY(parameters.emplace_back(), collect_parameters(computation));
  }

  // Rules look at the shapes of operands and called computations: all are well-formed before the first rule runs.
  const std::vector<Chunk> chunks = split(module);
  std::atomic<bool> any_unbounded = false;
  std::vector<std::atomic<bool>> has_control_predecessors(module.computations.size());
  const auto check_structure = [&](ComputationIndex c, InstructionIndex at) -> Status {
    const Computation& computation = module.computations[c];
    const Instruction& instruction = computation.instructions[at];
    SAPPER_CHECKED(check_references(module, computation, instruction, at));
    for (const ComputationIndex callee : instruction.called)
      if (callee >= c || callee == module.entry) return fail(call_order_error(module, c, instruction, callee));
    SAPPER_CHECKED(check_shape(instruction));
    if (!any_unbounded && has_unbounded_dimension(instruction.shape)) any_unbounded = true;
    if (instruction.attributes().control_predecessor_ids_size() > 0) has_control_predecessors[c] = true;
    return {};
  };
  SAPPER_CHECKED(check_all(module, chunks, check_structure));

  const auto check_inference = [&](ComputationIndex c, InstructionIndex at) -> Status {
    const Computation& computation = module.computations[c];
    const Instruction& instruction = computation.instructions[at];
    const Site site = {module, computation, instruction, rule_for(instruction.opcode), parameters};
    if (any_unbounded && touches_unbounded(site)) return {};  // only compilers that refine shapes take such modules
    return check_rule(site);
  };
  SAPPER_CHECKED(check_all(module, chunks, check_inference));

  for (ComputationIndex c = 0; c < module.computations.size(); ++c)
    if (has_control_predecessors[c]) SAPPER_CHECKED(check_control_predecessors(module.computations[c]));
  return check_boundary(module, parameters[module.entry]);
}

Result<Shape> infer(const Module& module, const Computation& computation, const Instruction& instruction) {
  SAPPER_CHECKED(check_references(module, computation, instruction, computation.instructions.size()));
  for (const InstructionIndex operand : instruction.operands)
    SAPPER_CHECKED(check_shape(computation.instructions[operand]));
  if (instruction.shape.is_valid()) SAPPER_CHECKED(check_shape(instruction));
  std::vector<Parameters> parameters(instruction.called.empty() ? 0 : module.computations.size());
  for (const ComputationIndex index : instruction.called) {
    const Computation& called = module.computations[index];
    SAPPER_CHECKED(check_computation(called));
    SAPPER_TRY(parameters[index], collect_parameters(called));
    for (const InstructionIndex parameter : parameters[index])
      SAPPER_CHECKED(check_shape(called.instructions[parameter]));
    SAPPER_CHECKED(check_shape(called.root_instruction()));
  }
  const Site site = {module, computation, instruction, rule_for(instruction.opcode), parameters};
  if (touches_unbounded(site))
    return fail(error_at(ErrorKind::Unsupported, instruction, "shapes with unbounded dimensions are not inferred"));
  SAPPER_TRY(const Inferred inferred, site.rule.infer(site));
  if (const auto defect = shape_defect(inferred.shape()))
    return site.bad("its shape would be {}: {}", text(inferred.shape()), *defect);
  return inferred.shape().without_layout();
}

}  // namespace
}  // namespace sapper::hlo::verifier

namespace sapper::hlo {

Status verify(const Module& module) { return verifier::check_module(module); }

Result<Shape> infer_shape(const Module& module, const Computation& computation, const Instruction& instruction) {
  return verifier::infer(module, computation, instruction);
}

}  // namespace sapper::hlo
