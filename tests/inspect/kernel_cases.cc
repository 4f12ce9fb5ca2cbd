#include "tests/inspect/kernel_cases.h"

#include <filesystem>

#include "check/inputs_for.h"
#include "check/open_elements.h"
#include "check/single_instruction.h"
#include "hlo/proto.h"
#include "hlo/verifier.h"
#include "llo/dump.h"
#include "llo/text.h"

namespace sapper::inspect {

Result<std::vector<KernelCase>> kernel_cases(target::CompilerPool& pool, const std::string& path,
                                             const target::Target& target) {
  SAPPER_TRY(const hlo::Module module, hlo::read_module(path));
  SAPPER_CHECKED(hlo::verify(module));
  const std::string npz = path.substr(0, path.rfind('.')) + ".npz";
  SAPPER_TRY(const std::vector<check::InputSet> sets,
             check::inputs_for(module, std::filesystem::exists(npz) ? npz : "", std::nullopt, {}));
  target::CompileRequest request{.module = hlo::to_compilable_proto(module)};
  request.dump_llo = "^original$|^final_bundles$|^deduplication-map$";
  SAPPER_TRY(target::CompileResult compiled, pool.compile(target, request));
  SAPPER_TRY(const hlo::Module optimized, hlo::parse_proto(compiled.optimized));
  const llo::ModuleDump dump = llo::read_dump(std::move(compiled.llo));

  std::vector<KernelCase> cases;
  eval::Options evaluation;
  evaluation.substitute.covers = [&](const hlo::Computation& computation, const hlo::Instruction& instruction) {
    return !computation.is_fusion && !check::is_uninitialized(instruction) &&
           dump.kernel_of(instruction.name) != nullptr;
  };
  evaluation.substitute.run = [&](const hlo::Computation& computation, const hlo::Instruction& instruction,
                                  std::vector<hlo::Literal> operands) -> Result<hlo::Literal> {
    hlo::Module single = check::single_instruction_module(optimized, computation, instruction);
    SAPPER_TRY(hlo::Literal value, eval::evaluate(single, operands));
    const llo::KernelDump& kernel = *dump.kernel_of(instruction.name);
    const llo::StageText* const first = kernel.stage("original");
    const llo::StageText* const last = kernel.stage("final_bundles");
    const bool known = std::ranges::any_of(cases, [&](const KernelCase& it) { return it.name == instruction.name; });
    if (first == nullptr || last == nullptr || known) return value;
    SAPPER_TRY(llo::Program original, llo::parse_program(first->text, instruction.name + "-original"));
    SAPPER_TRY(llo::Program final, llo::parse_program(last->text, instruction.name + "-final_bundles"));
    cases.push_back({instruction.name, std::move(single), std::move(operands), std::move(original), std::move(final)});
    return value;
  };
  SAPPER_TRY(const hlo::Literal result, eval::evaluate(optimized, sets.front().arguments, evaluation));
  return cases;
}

Result<LloInspectionOptions> options_for(const target::Target& target) {
  LloInspectionOptions options;
  SAPPER_TRY(options.machine.generation, llo::generation_of(target.generation));
  options.machine.time_limit_seconds = 60;
  options.evaluation.time_limit_seconds = 60;
  options.policy = {.bfloat16_products = true, .short_formulas = true};
  return options;
}

}  // namespace sapper::inspect
