#include "isolate/cascade.h"

#include <algorithm>
#include <ranges>

#include "hlo/proto.h"
#include "numerics/compare.h"

namespace sapper::isolate {
namespace {

using check::CheckOptions;
using check::InputSet;
using check::Report;
using check::Verdict;

// Seeds beside the first on which a failure is tried again.
constexpr int more_seeds = 2;

bool failed(Verdict verdict) {
  return verdict == Verdict::Mismatch || verdict == Verdict::Crash || verdict == Verdict::Timeout;
}

// Says nothing of the piece: about this machine, this time, or about how sapper was called.
bool is_passing(const std::optional<Error>& error) {
  return error && (error->kind == ErrorKind::Interrupted || error->kind == ErrorKind::BadInput);
}

bool by_bits(const Report& report) {
  return std::ranges::all_of(report.outputs, [](const check::OutputReport& output) {
    return output.difference.max_absolute == 0 && output.difference.max_excess == 0;
  });
}

class Cascade {
 public:
  Cascade(target::CompilerPool& pool, const hlo::Module& piece, const std::string& name, const CheckOptions& options,
          const std::vector<InputSet>& sets)
      : pool_(pool), piece_(piece), name_(name), options_(options), sets_(sets) {}

  Judged run() {
    judged_.report = check("", options_, sets_);
    judged_.steps.back().reference = by_bits(judged_.report) ? "evaluator" : "evaluator's bounds";
    if (is_passing(judged_.report.error)) {
      judged_.no_result = judged_.report.error;
    } else if (failed(judged_.report.verdict)) {
      confirm();
    } else if (judged_.report.verdict == Verdict::Undetermined && target::can_execute(options_.target)) {
      corroborate();
    }
    return std::move(judged_);
  }

 private:
  Report check(std::string reference, const CheckOptions& options, std::vector<InputSet> sets) {
    Report report = check::check_module(pool_, piece_, name_, options, std::move(sets));
    if (report.reason.empty()) report.reason = check::worst_of(report.outputs, report.verdict);
    judged_.steps.push_back({std::move(reference), report.verdict, report.reason, report.seconds});
    judged_.compiler_seconds += report.compiler_seconds;
    return report;
  }

  // The inputs of the decisive run only.
  CheckOptions decisive_options() const {
    CheckOptions options = options_;
    options.sampling.seed = judged_.report.seed;
    options.sampling.seeds = 1;
    std::erase_if(options.sampling.kinds, [&](const inputs::Kind kind) {
      return !judged_.report.inputs_kind.empty() && to_string(kind) != judged_.report.inputs_kind;
    });
    return options;
  }

  void confirm() {
    if (!judged_.report.is_same_twice()) {  // what other compilations give says nothing of it
      judged_.confidence = Confidence::Flaky;
      return;
    }
    const CheckOptions once = decisive_options();
    const Report again = check("again", once, sets_);
    if (is_passing(again.error)) {
      judged_.no_result = again.error;
      return;
    }
    const bool same = again.verdict == judged_.report.verdict && again.is_same_twice() &&
                      same_failure(again.outputs, judged_.report.outputs);
    judged_.confidence = same ? Confidence::Confirmed : Confidence::Flaky;
    if (judged_.report.verdict != Verdict::Mismatch) return;
    for (int i = 1; sets_.empty() && i <= more_seeds; ++i) {
      CheckOptions other = once;
      other.sampling.seed += 1000 + static_cast<uint64_t>(i);
      check(fmt::format("seed {}", other.sampling.seed), other, {});
    }
    if (options_.target.platform == target::Platform::Cpu) check("without optimizations", unoptimized(once), sets_);
    for (const target::Target& release : other_releases()) {
      CheckOptions other = once;
      other.target = release;
      check(release.to_string(), other, sets_);
    }
  }

  // Where the evaluator says nothing: whether the bits are those of another compilation.
  void corroborate() {
    auto inputs = sets_.empty() ? check::inputs_for(piece_, "", std::nullopt, decisive_options().sampling)
                                : Result<std::vector<InputSet>>(sets_);
    if (!inputs) return;
    const auto results = execute("", options_, *inputs);
    if (!results) {
      if (is_passing(results.error())) judged_.no_result = results.error();
      return;
    }
    CheckOptions other = unoptimized(options_);
    if (agrees("without optimizations", other, *inputs, *results)) return;
    for (const target::Target& release : other_releases()) {
      other.target = release;
      if (agrees(release.to_string(), other, *inputs, *results)) return;
    }
  }

  bool agrees(const std::string& reference, const CheckOptions& options, const std::vector<InputSet>& inputs,
              const std::vector<hlo::Literal>& results) {
    const auto others = execute(reference, options, inputs);
    if (!others) return false;
    const bool same = std::ranges::equal(results, *others, [](const hlo::Literal& a, const hlo::Literal& b) {
      return numerics::same_bits(a, b, numerics::Alike::Zeros);
    });
    Step& step = judged_.steps.back();
    step.verdict = same ? Verdict::Agree : Verdict::Undetermined;
    step.reason = same ? "" : "other bits";
    if (!same) return false;
    judged_.report.reason = fmt::format("its bits are those of {}; {}", reference, judged_.report.reason);
    judged_.report.verdict = Verdict::Agree;
    return true;
  }

  // What the device computes, for each of the inputs; a step, when it has a name.
  Result<std::vector<hlo::Literal>> execute(const std::string& reference, const CheckOptions& options,
                                            const std::vector<InputSet>& inputs) {
    target::CompileRequest request;
    request.module = hlo::to_compilable_proto(piece_);
    request.configuration = options.configuration;
    for (const InputSet& set : inputs) request.argument_sets.push_back(set.arguments);
    auto compiled = pool_.compile(options.target, request);
    if (!reference.empty()) {
      Step step{.reference = reference};
      if (compiled)
        step.seconds = compiled->compile_seconds + compiled->execute_seconds;
      else
        step.reason = compiled.error().describe();
      judged_.steps.push_back(std::move(step));
    }
    if (!compiled) return tl::unexpected(compiled.error());
    judged_.compiler_seconds += compiled->compile_seconds + compiled->execute_seconds;
    return std::move(compiled->outputs);
  }

  // Identities of real algebra are optimizations that XLA:CPU applies at every level.
  static CheckOptions unoptimized(CheckOptions options) {
    options.configuration.options["xla_backend_optimization_level"] = int64_t{0};
    options.configuration.options.try_emplace("xla_disable_hlo_passes", std::string("algsimp"));
    return options;
  }

  // Of the same platform, and there without fetching.
  [[nodiscard]] std::vector<target::Target> other_releases() const {
    std::vector<target::Target> others = target::known_targets();
    std::erase_if(others, [&](const target::Target& other) {
      return other.platform != options_.target.platform || other.generation != options_.target.generation ||
             other == options_.target || !target::plugin_present(other);
    });
    return others;
  }

  target::CompilerPool& pool_;
  const hlo::Module& piece_;
  const std::string& name_;
  const CheckOptions& options_;
  const std::vector<InputSet>& sets_;
  Judged judged_;
};

}  // namespace

Judged judge(target::CompilerPool& pool, const hlo::Module& piece, const std::string& name, const CheckOptions& options,
             const std::vector<InputSet>& sets) {
  return Cascade(pool, piece, name, options, sets).run();
}

}  // namespace sapper::isolate
