#include "check/check.h"

#include <functional>
#include <utility>

#include "base/memory.h"
#include "base/stopwatch.h"
#include "check/judge.h"
#include "check/kernel_passes.h"
#include "check/policy.h"
#include "check/recorded_options.h"
#include "hlo/fingerprint.h"
#include "hlo/proto.h"
#include "hlo/verifier.h"
#include "llo/missing_tiles.h"

namespace sapper::check {
namespace {

using hlo::Literal;
using hlo::Module;

Verdict verdict_of(const Error& error) {
  switch (error.kind) {
    case ErrorKind::Rejected: return Verdict::Rejected;
    case ErrorKind::Crash: return Verdict::Crash;
    case ErrorKind::Timeout: return Verdict::Timeout;
    default: return Verdict::Undetermined;
  }
}

// One input set with its judge.
struct Run {
  const InputSet& set;
  Judge judge;
  Status prepared;  // why there is no reference to judge by
};

// One module on one target over its input sets: compiled once, and once more with dumps when passes are to be walked.
class Check {
 public:
  Check(target::CompilerPool& pool, const CheckOptions& options, Report& report)
      : pool_(pool), options_(options), report_(report) {}

  Status run_file() {
    SAPPER_TRY(Module module, hlo::read_module(report_.path));
    return run(std::move(module), {});
  }

  // `sets` empty: the inputs are as the options say.
  Status run(Module module, std::vector<InputSet> sets) {
    module_ = std::move(module);
    sets_ = std::move(sets);
    if (options_.level == Level::Llo && !has_llo())
      return fail(ErrorKind::BadInput, "{} has no LLO: that level is for tpu targets", options_.target.to_string());
    report_.module = module_.name;
    SAPPER_CHECKED(in_file(hlo::verify(module_), report_.path));
    report_.fingerprint = hlo::fingerprint(module_).to_hex();
    if (sets_.empty()) {
      SAPPER_TRY(sets_, inputs_for(module_, inputs_path(options_.inputs, report_.path), options_.input_set,
                                   options_.sampling));
    }
    SAPPER_CHECKED(prepare());
    serialized_ = hlo::to_compilable_proto(module_);
    std::vector<std::vector<Literal>> executions;
    for (const Run& run : runs_)
      if (executes() && run.prepared) executions.push_back(run.set.arguments);
    const bool dump_passes = options_.all_stages || options_.on_compiled;
    SAPPER_TRY(compiled_, compile(dump_passes, std::move(executions), backend_stages()));
    if (options_.on_compiled) options_.on_compiled(compiled_);
    report_.verdict = Verdict::Agree;
    size_t execution = 0;
    for (Run& run : runs_) {
      const Literal* const output = run.prepared && executes() ? &compiled_.outputs[execution++] : nullptr;
      Report one;
      SAPPER_CHECKED(judge_run(run, output, one));
      if (&run == &runs_.front() || severity(one.verdict) > severity(report_.verdict)) adopt(one, run.set);
    }
    return {};
  }

 private:
  void adopt(Report& one, const InputSet& set) {
    report_.input_set = set.label;
    report_.inputs_kind = set.kind;
    if (!set.kind.empty()) report_.seed = set.seed;
    report_.verdict = one.verdict;
    report_.reason = std::move(one.reason);
    report_.error = std::move(one.error);
    report_.outputs = std::move(one.outputs);
    report_.stages = std::move(one.stages);
    report_.guilty = std::move(one.guilty);
    report_.repeats = one.repeats;
    report_.kernels = std::move(one.kernels);
    report_.notes = std::move(one.notes);
  }

  [[nodiscard]] bool has_llo() const { return options_.target.platform == target::Platform::Tpu; }
  [[nodiscard]] bool executes() const { return target::can_execute(options_.target); }

  // The arguments and results are held on both sides; a compiled program needs no less than the evaluator.
  Status room_to_execute() {
    int64_t held = 0;
    for (const InputSet& set : sets_)
      for (const Literal& argument : set.arguments) held += argument.shape().host_byte_size();
    held += std::ssize(sets_) * module_.entry_computation().root_instruction().shape.host_byte_size();
    const int64_t machine = physical_memory_bytes();
    const int64_t needed = held + eval::least_memory_bytes(module_);
    if (needed <= machine) return {};
    return fail(ErrorKind::Resource, "to execute the program takes at least {} MiB of memory; the machine has {}",
                needed >> 20, machine >> 20);
  }

  // Evaluates the reference on each input set.
  Status prepare() {
    const Status room = in_file(executes() ? room_to_execute() : Status(), report_.path);
    for (const InputSet& set : sets_) {
      Run run{set, Judge(module_, set.arguments, options_.evaluation, options_.tolerance, policy_of(options_)), {}};
      if (!room)
        run.prepared = room;
      else if (options_.level != Level::Llo)
        run.prepared = in_file(run.judge.prepare(), report_.path);
      if (!run.prepared && run.prepared.error().kind == ErrorKind::BadInput) return run.prepared;
      runs_.push_back(std::move(run));
    }
    return {};
  }

  // Executes too, on each of the argument sets.
  Result<target::CompileResult> compile(bool dump_passes, std::vector<std::vector<Literal>> argument_sets,
                                        const std::string& dump_llo, int runs = 1) {
    target::CompileRequest request;
    request.module = serialized_;
    request.configuration = options_.configuration;
    request.dump_passes = dump_passes;
    request.dump_llo = dump_llo;
    request.argument_sets = std::move(argument_sets);
    request.runs = runs;
    const Stopwatch clock;
    auto result = pool_.compile(options_.target, request);
    report_.compiler_seconds += clock.seconds();
    return result;
  }

  Status judge_run(Run& run, const Literal* output, Report& one) {
    if (!run.prepared) {
      one.verdict = Verdict::Undetermined;
      one.error = run.prepared.error();
      one.reason = one.error->describe();
      return {};
    }
    one.verdict = Verdict::Agree;
    if (options_.level != Level::Llo) {
      SAPPER_CHECKED(judge_hlo(run, output, one));
    }
    if (options_.level != Level::Hlo && has_llo() && one.verdict != Verdict::Mismatch) {
      SAPPER_CHECKED(judge_kernels(run, one));
    }
    return {};
  }

  // What the dumps of every backend program are asked for with.
  [[nodiscard]] std::string backend_stages() const {
    return options_.level != Level::Hlo && has_llo() ? kFirstAndLastStage : "";
  }

  // The device's result and the optimized program; every pass where something differs.
  Status judge_hlo(Run& run, const Literal* output, Report& one) {
    const bool device_agrees = output == nullptr || judge_device(run.judge, *output, one).verdict == Verdict::Agree;
    const target::HloStage optimized{-1, "", "optimized", compiled_.optimized};
    const bool optimized_agrees = judge_optimized(run.judge, optimized, one);
    if (device_agrees && optimized_agrees && !options_.all_stages) return {};
    return walk(run.judge, output, one);
  }

  // The kernels of the optimized program, each run from its LLO; every pass of the one that is wrong.
  Status judge_kernels(Run& run, Report& one) {
    if (!backend_) {
      SAPPER_TRY(Module optimized, hlo::parse_proto(compiled_.optimized));
      llo::state_missing_tiles(optimized);
      backend_ = Backend{std::move(optimized), llo::read_dump(std::move(compiled_.llo))};
    }
    SAPPER_TRY(KernelOptions options, kernel_options());
    KernelsReport kernels = run_kernels(backend_->optimized, backend_->dump, run.set.arguments, options);
    const bool hlo_allowed = options_.level == Level::All && severity(one.verdict) <= severity(Verdict::Policy);
    for (const std::string& stage : options.stages)
      one.stages.push_back(
          {.index = static_cast<int>(one.stages.size()), .level = "llo", .pass = stage, .verdict = kernels.verdict});
    if (severity(kernels.verdict) > severity(one.verdict)) {
      one.verdict = kernels.verdict;
      one.reason = kernels.reason;
    }
    if (const KernelReport* wrong = kernels.first_wrong(); wrong != nullptr) {
      one.outputs = wrong->outputs;
      if (wrong->emitted_wrong) {
        one.guilty = guilty_emitter(backend_->dump, *wrong, options.machine);
      } else {
        walk_kernel(*wrong, options.machine, one);
      }
    } else if (hlo_allowed && kernels.output) {
      judge_whole(run, kernels, options.policy, one);
    }
    one.kernels = std::move(kernels);
    return {};
  }

  // Each kernel does what its instruction says, as far as policy allows; together they must do what the program says. A
  // multiply by a subnormal constant is right as it stands, and wrong where the program divides.
  void judge_whole(const Run& run, const KernelsReport& kernels, const Policy& policy, Report& one) const {
    Judge judge(module_, run.set.arguments, options_.evaluation, options_.tolerance, policy);
    judge.accept(run.judge.reference());
    Judgement judgement = judge.judge(*kernels.output, Origin::Device);
    if (judgement.verdict != Verdict::Mismatch) return;
    one.verdict = judgement.verdict;
    one.reason = "every kernel does what its instruction says, but not all together what the program says";
    one.outputs = std::move(judgement.outputs);
    one.guilty = Guilty{.level = "llo", .pass = "original"};
    // What makes the difference is a kernel that differs, be it as policy allows.
    for (const KernelReport& kernel : kernels.reports) {
      if (kernel.verdict != Verdict::Policy) continue;
      one.guilty->kernel = kernel.kernel;
      one.guilty->hlo_instruction = kernel.instruction;
      break;
    }
  }

  Result<KernelOptions> kernel_options() {
    KernelOptions options;
    options.machine = options_.machine;
    options.evaluation = options_.evaluation;
    options.tolerance = options_.tolerance;
    options.policy = kernel_policy_of(options_);
    SAPPER_TRY(options.machine.generation, llo::generation_of(options_.target.generation));
    options.machine.time_limit_seconds = options_.evaluation.time_limit_seconds;
    return options;
  }

  // Every pass of a kernel whose last stage is not as its first one.
  void walk_kernel(const KernelReport& wrong, const llo::MachineOptions& machine, Report& one) {
    auto all = compile(false, {}, ".*");
    if (!all) {
      one.notes.push_back(
          fmt::format("the passes of kernel {} cannot be walked: {}", wrong.kernel, all.error().describe()));
      return;
    }
    KernelPasses passes = walk_kernel_passes(llo::read_dump(std::move(all->llo)), wrong, machine);
    for (StageReport& stage : passes.stages) {
      stage.index = static_cast<int>(one.stages.size());
      one.stages.push_back(std::move(stage));
    }
    if (!passes.note.empty()) one.notes.push_back(std::move(passes.note));
    one.guilty = std::move(passes.guilty);
  }

  // The device's result against the reference; fills the outputs of the report.
  Judgement judge_device(Judge& judge, const Literal& output, Report& one) {
    Judgement judgement = judge.judge(output, Origin::Device);
    one.verdict = judgement.verdict;
    one.reason = judgement.reason;
    one.outputs = judgement.outputs;
    return judgement;
  }

  // The optimized program against the reference. True when it agrees, or when it cannot be judged but a device's result
  // could.
  bool judge_optimized(const Judge& judge, const target::HloStage& optimized, Report& one) const {
    Judge trial = judge;
    Walk walk = walk_stages(trial, {optimized}, options_.strict, true);
    const StageReport& stage = walk.stages[0];
    if (stage.verdict == Verdict::Undetermined && one.outputs.empty()) {
      one.verdict = Verdict::Undetermined;
      one.reason = fmt::format("the optimized program: {}", stage.reason);
      one.outputs = walk.judgements[0].outputs;
      return walk.judgements[0].outputs.empty();  // not evaluated: no walk will help; decided otherwise: walk
    }
    if (stage.verdict == Verdict::Undetermined) {
      one.notes.push_back(fmt::format("the optimized program: {}", stage.reason));
      return true;
    }
    if (one.outputs.empty()) {
      one.verdict = stage.verdict;
      one.reason = stage.reason;
      one.outputs = std::move(walk.judgements[0].outputs);
    }
    return stage.verdict == Verdict::Agree;
  }

  // Something differs (or everything is wanted): walk the passes, then the optimized program, then the device.
  Status walk(Judge& judge, const Literal* output, Report& one) {
    if (const Status dumped = dump_stages(); !dumped) {
      leave_unexplained(dumped.error(), one);
      if (output != nullptr && one.verdict == Verdict::Mismatch) repeat(judge, std::nullopt, *output, one);
      return {};
    }
    Walk walk = walk_stages(judge, stages_, options_.strict, options_.all_stages);
    one.verdict = walk.verdict;
    one.reason = walk.reason;
    one.guilty = walk.guilty;
    one.outputs = outputs_of(walk);
    one.stages = std::move(walk.stages);
    if (output != nullptr && !one.guilty) judge_native(judge, walk.program, *output, one);
    return {};
  }

  // The passes cannot be had, which would have said whether policy allows what differs.
  void leave_unexplained(const Error& error, Report& one) const {
    const std::string why = fmt::format("the passes cannot be walked: {}", error.describe());
    if (one.verdict == Verdict::Mismatch && !options_.strict) {
      one.verdict = Verdict::Undetermined;
      one.reason = fmt::format("results differ, and policy might allow it; {}", why);
      one.error = error;
    } else {
      one.notes.push_back(why);
    }
  }

  // Every pass's program, then the optimized one.
  Status dump_stages() {
    if (!stages_.empty()) return {};
    stages_ = std::move(compiled_.stages);
    if (stages_.empty()) {
      SAPPER_TRY(target::CompileResult dumped, compile(true, {}, backend_stages()));
      stages_ = std::move(dumped.stages);
    }
    stages_.push_back({static_cast<int>(stages_.size()), "", "optimized", compiled_.optimized});
    return {};
  }

  // The outputs of the stage that decided, else of the last one that was judged.
  static std::vector<OutputReport> outputs_of(const Walk& walk) {
    std::vector<OutputReport> outputs;
    for (size_t i = 0; i < walk.stages.size(); ++i) {
      if (walk.judgements[i].outputs.empty()) continue;
      outputs = walk.judgements[i].outputs;
      if (walk.stages[i].verdict == Verdict::Mismatch) break;
    }
    return outputs;
  }

  // Every program of the chain is right so far, `program` is the last; what the device computed is the last stage.
  void judge_native(Judge& judge, const std::optional<Module>& program, const Literal& output, Report& one) {
    Judgement judgement = judge_result(judge, program, output);
    StageReport native;
    native.index = static_cast<int>(stages_.size());
    native.level = "native";
    native.pass = "codegen";
    native.verdict = judgement.verdict;
    native.reason = judgement.reason;
    one.stages.push_back(native);
    if (judgement.verdict == Verdict::Agree) {
      if (one.verdict == Verdict::Undetermined) {  // what counts is right; a program on the way could not be judged
        one.notes.push_back(std::exchange(one.reason, ""));
        one.verdict = Verdict::Agree;
        one.outputs = std::move(judgement.outputs);
      }
      return;
    }
    one.outputs = std::move(judgement.outputs);
    if (severity(judgement.verdict) < severity(one.verdict)) return;
    one.verdict = judgement.verdict;
    one.reason = judgement.reason;
    if (judgement.verdict != Verdict::Mismatch) return;
    repeat(judge, program, output, one);
    if (one.is_same_twice()) one.guilty = Guilty{native.level, native.pass, ""};
  }

  Judgement judge_result(Judge& judge, const std::optional<Module>& program, const Literal& output) const {
    Judgement judgement = judge.judge(output, Origin::Device);
    if (judgement.verdict == Verdict::Mismatch && program && !options_.strict) {
      // A division that became a multiplication is contracted with the addition after it.
      Judge last(*program, judge.arguments(), options_.evaluation, options_.tolerance, policy_of(options_));
      last.accept(judge.reference());
      if (last.is_contracted(output)) excuse(judgement, "multiply-adds that passes made are contracted");
    }
    return judgement;
  }

  // The device's result is wrong: is it so again? Where nothing in the program is random, a result that is wrong in
  // one run and otherwise in the next is no pass's doing. Bits alone do not tell: the order of a sum may be another one
  // each time.
  void repeat(Judge& judge, const std::optional<Module>& program, const Literal& output, Report& one) {
    constexpr int more_runs = 8;            // where half of the runs differ, all of these miss it once in 256 times
    if (!judge.why_open().empty()) return;  // random numbers, judged by a tolerance
    const auto again = compile(false, {judge.arguments()}, "", more_runs);
    if (!again) {
      one.notes.push_back(
          fmt::format("whether the result is the same again was not found out: {}", again.error().describe()));
      return;
    }
    Repeats repeats{.runs = 1 + more_runs, .wrong = 1};
    for (const Literal& result : again->outputs) {
      const bool same = result == output;
      const Judgement judgement = same ? Judgement{} : judge_result(judge, program, result);
      if (same || judgement.verdict == Verdict::Mismatch) ++repeats.wrong;
      if (!same && !same_failure(judgement.outputs, one.outputs)) ++repeats.differing;
    }
    one.repeats = repeats;
    if (repeats.differing > 0)
      one.reason = fmt::format("not the same twice: {} runs on the same arguments, {} wrong, {} not as the first",
                               repeats.runs, repeats.wrong, repeats.differing);
  }

  target::CompilerPool& pool_;
  const CheckOptions& options_;
  Report& report_;
  Module module_;
  std::string serialized_;
  std::vector<InputSet> sets_;
  std::vector<Run> runs_;  // of the input sets, in their order
  target::CompileResult compiled_;
  // What the kernels are run from, read when first needed.
  struct Backend {
    Module optimized;
    llo::ModuleDump dump;
  };
  std::optional<Backend> backend_;
  std::vector<target::HloStage> stages_;  // of the walk
};

// The same check again on the decisive inputs, with every stage judged and listed.
std::string closer_look(const Report& report, CheckOptions options) {
  options.all_stages = true;
  if (options.inputs.empty()) {
    options.sampling.seed = report.seed;
    options.sampling.seeds = 1;
    std::erase_if(options.sampling.kinds, [&](const inputs::Kind kind) {
      return !report.inputs_kind.empty() && to_string(kind) != report.inputs_kind;
    });
  } else if (!report.input_set.empty()) {
    options.input_set = std::stoi(report.input_set.substr(3));
  }
  return command_of(options, report.path);
}

Report report_of(target::CompilerPool& pool, const std::string& path, const CheckOptions& options,
                 const std::function<Status(Check&)>& run) {
  Report report;
  report.path = path;
  report.target = options.target.to_string();
  report.seed = options.sampling.seed;
  const Stopwatch clock;
  Check check(pool, options, report);
  if (const Status status = run(check); !status) {
    report.error = status.error();
    report.verdict = verdict_of(status.error());
    report.reason = status.error().describe();
  }
  report.next_command = closer_look(report, options);
  report.seconds = clock.seconds();
  return report;
}

}  // namespace

Report check_file(target::CompilerPool& pool, const std::string& path, const CheckOptions& options) {
  return report_of(pool, path, options, [](Check& check) { return check.run_file(); });
}

Report check_module(target::CompilerPool& pool, hlo::Module module, const std::string& path,
                    const CheckOptions& options, std::vector<InputSet> sets) {
  return report_of(pool, path, options, [&](Check& check) { return check.run(std::move(module), std::move(sets)); });
}

}  // namespace sapper::check
