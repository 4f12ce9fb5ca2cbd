#include "check/check.h"

#include <chrono>
#include <utility>

#include "check/inputs_for.h"
#include "check/judge.h"
#include "hlo/fingerprint.h"
#include "hlo/proto.h"
#include "hlo/verifier.h"

namespace sapper::check {
namespace {

using hlo::Literal;
using hlo::Module;

class Clock {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

Verdict verdict_of(const Error& error) {
  switch (error.kind) {
    case ErrorKind::Rejected: return Verdict::Rejected;
    case ErrorKind::Crash: return Verdict::Crash;
    case ErrorKind::Timeout: return Verdict::Timeout;
    default: return Verdict::Undetermined;
  }
}

// One module on one target over its input sets.
class Check {
 public:
  Check(target::CompilerPool& pool, const CheckOptions& options, Report& report)
      : pool_(pool), options_(options), report_(report) {}

  Status run() {
    SAPPER_TRY(module_, hlo::read_module(report_.path));
    report_.module = module_.name;
    SAPPER_CHECKED(in_file(hlo::verify(module_), report_.path));
    report_.fingerprint = hlo::fingerprint(module_).to_hex();
    SAPPER_TRY(const std::vector<InputSet> sets,
               inputs_for(module_, inputs_path(options_.inputs, report_.path), options_.input_set, options_.seed));
    serialized_ = hlo::to_compilable_proto(module_);
    report_.verdict = Verdict::Agree;
    for (const InputSet& set : sets) {
      Report one;
      SAPPER_CHECKED(run_set(set, one));
      if (&set == &sets.front() || severity(one.verdict) > severity(report_.verdict)) adopt(one, set.label);
    }
    return {};
  }

 private:
  void adopt(Report& one, const std::string& label) {
    report_.input_set = label;
    report_.verdict = one.verdict;
    report_.reason = std::move(one.reason);
    report_.outputs = std::move(one.outputs);
    report_.stages = std::move(one.stages);
    report_.guilty = std::move(one.guilty);
    report_.notes = std::move(one.notes);
  }

  Result<target::CompileResult> compile(bool dump_passes, const std::vector<Literal>* arguments) {
    target::CompileRequest request;
    request.module = serialized_;
    request.configuration = options_.configuration;
    request.dump_passes = dump_passes;
    if (arguments != nullptr) request.arguments = *arguments;
    const Clock clock;
    auto result = pool_.compile(options_.target, request);
    report_.compiler_seconds += clock.seconds();
    return result;
  }

  Status run_set(const InputSet& set, Report& one) {
    const bool executes = target::can_execute(options_.target);
    const Policy policy{.strict = options_.strict,
                        .bfloat16_products = options_.target.platform == target::Platform::Tpu,
                        .fast_min_max = options_.target.platform == target::Platform::Cpu && has_fast_min_max()};
    Judge judge(module_, set.arguments, options_.evaluation, options_.tolerance, policy);
    const Status prepared = in_file(judge.prepare(), report_.path);
    if (!prepared && prepared.error().kind == ErrorKind::BadInput) return prepared;

    SAPPER_TRY(const target::CompileResult compiled, compile(options_.all_stages, executes ? &set.arguments : nullptr));
    if (!prepared) {
      one.verdict = Verdict::Undetermined;
      one.reason = prepared.error().describe();
      return {};
    }
    const bool device_agrees = !compiled.output || judge_device(judge, *compiled.output, one).verdict == Verdict::Agree;
    const target::HloStage optimized{-1, "", "optimized", compiled.optimized};
    const bool optimized_agrees = judge_optimized(judge, optimized, one);
    if (device_agrees && optimized_agrees && !options_.all_stages) return {};
    return walk(set, judge, compiled, optimized, one);
  }

  // On unless the configuration says otherwise.
  [[nodiscard]] bool has_fast_min_max() const {
    const auto option = options_.configuration.options.find("xla_cpu_enable_fast_min_max");
    return option == options_.configuration.options.end() || option->second != target::OptionValue(false);
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
  bool judge_optimized(Judge& judge, const target::HloStage& optimized, Report& one) {
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
  Status walk(const InputSet& set, Judge& judge, const target::CompileResult& compiled,
              const target::HloStage& optimized, Report& one) {
    std::vector<target::HloStage> stages = compiled.stages;
    std::optional<Literal> output = compiled.output;
    target::HloStage last = optimized;
    if (!options_.all_stages) {
      SAPPER_TRY(target::CompileResult again, compile(true, compiled.output ? &set.arguments : nullptr));
      stages = std::move(again.stages);
      last.module = again.optimized;
      output = std::move(again.output);
    }
    last.index = static_cast<int>(stages.size());
    stages.push_back(std::move(last));
    Walk walk = walk_stages(judge, stages, options_.strict, options_.all_stages);
    one.verdict = walk.verdict;
    one.reason = walk.reason;
    one.guilty = walk.guilty;
    one.outputs = outputs_of(walk);
    one.stages = std::move(walk.stages);
    if (output && !one.guilty) judge_native(judge, *output, static_cast<int>(stages.size()), one);
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

  // Every program of the chain is right so far; what the device computed is the last stage.
  void judge_native(Judge& judge, const Literal& output, int index, Report& one) {
    Judgement judgement = judge.judge(output, Origin::Device);
    StageReport native;
    native.index = index;
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
    if (judgement.verdict == Verdict::Mismatch) one.guilty = Guilty{native.level, native.pass, ""};
  }

  target::CompilerPool& pool_;
  const CheckOptions& options_;
  Report& report_;
  Module module_;
  std::string serialized_;
};

std::string shell_quoted(const std::string& word) {
  if (word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:@+,") ==
      std::string::npos)
    return word;
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// The same check again with every stage judged and listed.
std::string closer_look(const Report& report, const CheckOptions& options) {
  std::string command = fmt::format("sapper check {} --on {} --stages all", shell_quoted(report.path), report.target);
  command += options.inputs.empty() ? fmt::format(" --seed {}", options.seed)
                                    : fmt::format(" --inputs {}", shell_quoted(options.inputs));
  if (!report.input_set.empty()) command += fmt::format(" --input-set {}", report.input_set.substr(3));
  for (const auto& [name, value] : options.configuration.options)
    command += " --option " + shell_quoted(fmt::format("{}={}", name, target::to_string(value)));
  if (options.strict) command += " --strict";
  return command;
}

}  // namespace

Report check_file(target::CompilerPool& pool, const std::string& path, const CheckOptions& options) {
  Report report;
  report.path = path;
  report.target = options.target.to_string();
  report.seed = options.seed;
  const Clock clock;
  if (const Status status = Check(pool, options, report).run(); !status) {
    report.error = status.error();
    report.verdict = verdict_of(status.error());
    report.reason = status.error().describe();
  }
  report.next_command = closer_look(report, options);
  report.seconds = clock.seconds();
  return report;
}

}  // namespace sapper::check
