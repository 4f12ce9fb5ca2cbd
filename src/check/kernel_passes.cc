#include "check/kernel_passes.h"

#include <fmt/format.h>

#include "llo/blame.h"
#include "llo/pass_walk.h"
#include "llo/text.h"

namespace sapper::check {
namespace {

void name(const llo::Program& program, llo::InstructionIndex index, Guilty& guilty) {
  const llo::Instruction& instruction = program.instructions[index];
  guilty.instruction = fmt::format("{} = {}", to_string(instruction.result), instruction.opcode);
  guilty.hlo_instruction = program.hlo_of(instruction);
  guilty.line = instruction.line;
}

llo::KernelCall call_of(const KernelReport& wrong, const llo::MachineOptions& machine) {
  return {nullptr, wrong.call->operands, wrong.call->operand_shapes, wrong.call->result, machine};
}

// The store that wrote the worst element of the first wrong output.
void name_store(const llo::Program& program, const KernelReport& wrong, const llo::KernelCall& call, Guilty& guilty) {
  for (size_t leaf = 0; leaf < wrong.outputs.size(); ++leaf) {
    const numerics::Difference& difference = wrong.outputs[leaf].difference;
    if (wrong.outputs[leaf].verdict != Verdict::Mismatch || difference.worst < 0) continue;
    const auto store = llo::last_writer(program, call, leaf, difference.worst);
    if (store && *store) name(program, **store, guilty);
    return;
  }
}

// The instruction that `guilty` names, from the dump of its pass.
void name_instruction(const llo::KernelDump& dump, const llo::PassWalk& walk, Guilty& guilty) {
  if (!walk.divergence) return;
  const llo::StageText* const stage = dump.stage(guilty.pass);
  if (stage == nullptr) return;
  const auto program = llo::parse_program(stage->text, dump.kernel);
  if (!program) return;
  name(*program, walk.divergence->later, guilty);
}

// A finding says where by itself.
void name_finding(const KernelReport& wrong, Guilty& guilty) {
  if (wrong.findings.empty()) return;
  guilty.instruction = wrong.findings.front().opcode;
  guilty.hlo_instruction = wrong.findings.front().hlo_instruction;
  guilty.line = wrong.findings.front().line;
}

}  // namespace

Guilty guilty_emitter(const llo::ModuleDump& dump, const KernelReport& wrong, const llo::MachineOptions& machine) {
  Guilty guilty{.level = "llo", .pass = "original", .kernel = wrong.kernel};
  const llo::KernelDump* const kernel = dump.kernel_of(wrong.instruction);
  const llo::StageText* const stage = kernel == nullptr ? nullptr : kernel->stage(guilty.pass);
  if (stage != nullptr && wrong.call)
    if (const auto program = llo::parse_program(stage->text, kernel->kernel))
      name_store(*program, wrong, call_of(wrong, machine), guilty);
  if (guilty.line == 0) name_finding(wrong, guilty);
  return guilty;
}

KernelPasses walk_kernel_passes(const llo::ModuleDump& dump, const KernelReport& wrong,
                                const llo::MachineOptions& machine) {
  KernelPasses result;
  const llo::KernelDump* const kernel = dump.kernel_of(wrong.instruction);
  if (kernel == nullptr || !wrong.call) {
    result.note = fmt::format("kernel {} was not dumped again", wrong.kernel);
    return result;
  }
  const auto walk = llo::walk_passes(*kernel, call_of(wrong, machine));
  if (!walk) {
    result.note = fmt::format("the passes of kernel {} cannot be walked: {}", wrong.kernel, walk.error().describe());
    return result;
  }
  for (size_t i = 0; i < walk->passes.size(); ++i) {
    const llo::PassOutcome& pass = walk->passes[i];
    StageReport stage{.level = "llo", .kernel = kernel->kernel, .pass = pass.pass, .reason = pass.reason};
    stage.instructions = static_cast<int64_t>(pass.instructions);
    const bool not_run = pass.result == llo::PassOutcome::Result::NotRun;
    const bool wrong_from_here = walk->guilty && i >= *walk->guilty;
    stage.verdict = not_run ? Verdict::Undetermined : wrong_from_here ? Verdict::Mismatch : Verdict::Agree;
    result.stages.push_back(std::move(stage));
  }
  if (!walk->guilty) {
    result.note = fmt::format("no single pass of kernel {} changes its result", wrong.kernel);
    return result;
  }
  Guilty guilty{.level = "llo", .pass = walk->passes[*walk->guilty].pass, .kernel = kernel->kernel};
  if (walk->before && *walk->before + 1 < *walk->guilty) guilty.after = walk->passes[*walk->before].pass;
  name_instruction(*kernel, *walk, guilty);
  if (guilty.line == 0) name_finding(wrong, guilty);
  result.guilty = std::move(guilty);
  return result;
}

}  // namespace sapper::check
