#include "inspect/inspect.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/shell.h"
#include "check/kernels.h"
#include "check/policy.h"
#include "check/single_instruction.h"
#include "hlo/proto.h"
#include "hlo/verifier.h"
#include "inspect/llo_inspection.h"
#include "inspect/native.h"
#include "llo/dump.h"
#include "llo/missing_tiles.h"
#include "llo/text.h"

namespace sapper::inspect {
namespace {

using hlo::Literal;
using hlo::Module;

class KernelInspection {
 public:
  KernelInspection(target::CompilerPool& pool, const InspectOptions& options) : pool_(pool), options_(options) {}

  Result<Inspection> run(const Module& module, const std::string& path) {
    if (options_.check.target.platform == target::Platform::Gpu)
      return fail(ErrorKind::Unsupported, "the kernels of {} cannot be looked into", options_.check.target.to_string());
    SAPPER_CHECKED(in_file(hlo::verify(module), path));
    SAPPER_TRY(const std::vector<check::InputSet> sets,
               check::inputs_for(module, check::inputs_path(options_.check.inputs, path), options_.check.input_set,
                                 options_.check.sampling));
    const check::InputSet& set = sets.front();
    SAPPER_TRY(Inspection inspection, options_.check.target.platform == target::Platform::Cpu
                                          ? look_natively(module, set)
                                          : look_at_llo(module, set));
    inspection.target = options_.check.target.to_string();
    inspection.seed = set.seed;
    inspection.inputs_kind = set.kind;
    inspection.command = command(path, inspection);
    return inspection;
  }

 private:
  struct Kernel {
    Module module;
    std::vector<Literal> operands;
  };

  Result<Inspection> look_natively(const Module& module, const check::InputSet& set) {
    return inspect_native(pool_, module, set.arguments,
                          {.target = options_.check.target,
                           .configuration = options_.check.configuration,
                           .kernel = options_.kernel,
                           .evaluation = options_.check.evaluation,
                           .policy = check::policy_of(options_.check),
                           .window = options_.window,
                           .memory_bytes = options_.memory_bytes});
  }

  Result<Inspection> look_at_llo(const Module& module, const check::InputSet& set) {
    SAPPER_CHECKED(compile(module));
    SAPPER_TRY(const std::string name, choose(set.arguments));
    SAPPER_TRY(const Kernel kernel, kernel_at(name, set.arguments));
    SAPPER_TRY(const llo::Program original, program_of(name, "original"));
    const bool other = options_.stage != "original";
    SAPPER_TRY(const llo::Program stage, other ? program_of(name, options_.stage) : Result<llo::Program>(original));
    SAPPER_TRY(const LloInspectionOptions options, llo_options());
    return inspect_llo({kernel.module, kernel.operands, original, other ? stage : original, options_.stage}, options);
  }

  Status compile(const Module& module) {
    target::CompileRequest request{.module = hlo::to_compilable_proto(module),
                                   .configuration = options_.check.configuration};
    request.dump_llo = fmt::format("^original$|^{}$|^deduplication-map$", options_.stage);
    SAPPER_TRY(target::CompileResult compiled, pool_.compile(options_.check.target, request));
    SAPPER_TRY(optimized_, hlo::parse_proto(compiled.optimized));
    llo::state_missing_tiles(optimized_);
    dump_ = llo::read_dump(std::move(compiled.llo));
    if (dump_.kernels.empty()) return fail(ErrorKind::BadInput, "the program has no kernel whose LLO is dumped");
    return {};
  }

  // The instructions that are kernels.
  [[nodiscard]] std::vector<std::string> kernels() const {
    std::vector<std::string> names;
    for (const hlo::Computation& computation : optimized_.computations) {
      if (computation.is_fusion) continue;
      for (const hlo::Instruction& instruction : computation.instructions)
        if (dump_.kernel_of(instruction.name) != nullptr) names.push_back(instruction.name);
    }
    return names;
  }

  Result<std::string> choose(const std::vector<Literal>& arguments) {
    const std::vector<std::string> names = kernels();
    if (!options_.kernel.empty()) {
      if (std::ranges::find(names, options_.kernel) != names.end()) return options_.kernel;
      return fail(ErrorKind::BadInput, "no kernel is named {}; there are {}", options_.kernel, fmt::join(names, ", "));
    }
    if (names.size() == 1) return names.front();
    if (names.empty()) return fail(ErrorKind::BadInput, "no instruction of the program is a kernel");
    SAPPER_TRY(const LloInspectionOptions llo, llo_options());
    check::KernelOptions options{.machine = llo.machine, .evaluation = llo.evaluation, .policy = llo.policy};
    options.stages = {"original"};
    if (options_.stage != "original") options.stages.push_back(options_.stage);
    const check::KernelsReport report = check::run_kernels(optimized_, dump_, arguments, options);
    if (const check::KernelReport* wrong = report.first_wrong()) return wrong->instruction;
    if (report.reports.empty()) return fail(ErrorKind::BadInput, "no kernel of the program ran");
    return std::ranges::max_element(report.reports, {}, &check::KernelReport::steps)->instruction;
  }

  // The kernel with what the reference hands it.
  Result<Kernel> kernel_at(const std::string& name, const std::vector<Literal>& arguments) {
    Kernel kernel;
    bool seen = false;
    eval::Options evaluation = options_.check.evaluation;
    evaluation.substitute.covers = [&](const hlo::Computation& computation, const hlo::Instruction& instruction) {
      return !seen && !computation.is_fusion && instruction.name == name;
    };
    evaluation.substitute.run = [&](const hlo::Computation& computation, const hlo::Instruction& instruction,
                                    std::vector<Literal> operands) -> Result<Literal> {
      seen = true;
      kernel.module = check::single_instruction_module(optimized_, computation, instruction);
      kernel.operands = std::move(operands);
      return fail(ErrorKind::Interrupted, "nothing after the kernel matters");
    };
    const Result<Literal> result = eval::evaluate(optimized_, arguments, evaluation);
    if (!seen && !result) return fail(result.error());
    if (!seen) return fail(ErrorKind::BadInput, "the program never comes to kernel {} on these inputs", name);
    return kernel;
  }

  Result<llo::Program> program_of(const std::string& name, const std::string& stage) const {
    const llo::KernelDump& kernel = *dump_.kernel_of(name);
    const llo::StageText* const text = kernel.stage(stage);
    if (text == nullptr) return fail(ErrorKind::BadInput, "kernel {} has no stage {}", kernel.kernel, stage);
    return llo::parse_program(text->text, fmt::format("{}-{}", kernel.kernel, stage));
  }

  Result<LloInspectionOptions> llo_options() const {
    LloInspectionOptions options;
    options.machine = options_.check.machine;
    options.machine.time_limit_seconds = options_.check.evaluation.time_limit_seconds;
    SAPPER_TRY(options.machine.generation, llo::generation_of(options_.check.target.generation));
    options.evaluation = options_.check.evaluation;
    options.policy = check::kernel_policy_of(options_.check);
    options.window = options_.window;
    options.memory_bytes = options_.memory_bytes;
    return options;
  }

  [[nodiscard]] std::string command(const std::string& path, const Inspection& inspection) const {
    std::string text = fmt::format("sapper inspect {} --on {} --kernel {}", shell_quoted(path), inspection.target,
                                   shell_quoted(inspection.kernel));
    if (options_.check.target.platform == target::Platform::Tpu) text += fmt::format(" --stage {}", options_.stage);
    text += options_.check.inputs.empty() ? fmt::format(" --seed {}", inspection.seed)
                                          : fmt::format(" --inputs {}", shell_quoted(options_.check.inputs));
    return text;
  }

  target::CompilerPool& pool_;
  const InspectOptions& options_;
  Module optimized_;
  llo::ModuleDump dump_;
};

}  // namespace

Result<Inspection> inspect_kernel(target::CompilerPool& pool, Module module, const std::string& path,
                                  const InspectOptions& options) {
  return KernelInspection(pool, options).run(module, path);
}

}  // namespace sapper::inspect
