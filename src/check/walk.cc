#include "check/walk.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "check/widen.h"
#include "hlo/fingerprint.h"
#include "hlo/proto.h"
#include "hlo/verifier.h"

namespace sapper::check {
namespace {

using hlo::Literal;
using hlo::Module;

// Passes whose documented business is to rewrite floating-point arithmetic by identities of real algebra;
// docs/verdicts.md says what is asked of them.
const std::set<std::string, std::less<>> real_algebra_passes = {
    "algsimp", "algebraic-simplifier", "simplification", "dot-merger", "reduce-decomposer", "tree_reduction_rewriter",
};

// Whether `before` and `after` agree wherever both are finite when computed over wider numbers, and return floats.
bool same_over_reals(const Module& before, const Module& after, const Judge& judge) {
  const auto wide_before = widen(before);
  const auto wide_after = widen(after);
  if (!wide_before || !wide_after) return false;
  std::vector<Literal> arguments;
  for (const Literal& argument : judge.arguments()) arguments.push_back(widen(argument));
  const auto value_before = eval::evaluate(*wide_before, arguments, judge.evaluation());
  const auto value_after = eval::evaluate(*wide_after, arguments, judge.evaluation());
  if (!value_before || !value_after) return false;
  const std::vector<Literal> narrow = hlo::leaves(judge.reference());
  const std::vector<Literal> expected = hlo::leaves(*value_before);
  std::vector<Literal> got = hlo::leaves(*value_after);
  if (expected.size() != got.size() || expected.size() != narrow.size()) return false;
  for (size_t leaf = 0; leaf < expected.size(); ++leaf) {
    if (!expected[leaf].shape().is_array()) continue;
    if (!(expected[leaf].shape() == got[leaf].shape())) return false;
    if (hlo::is_float(expected[leaf].shape().element_type())) {
      for (int64_t i = 0; i < got[leaf].element_count(); ++i)
        if (!std::isfinite(got[leaf].real_at(i)) || !std::isfinite(expected[leaf].real_at(i)))
          got[leaf].set_real(i, expected[leaf].real_at(i));
    }
    // Constants that the pass folded are rounded to the program's own types, hence not closer than that.
    const double folded = std::max(1e-6, 2 * numerics::epsilon(narrow[leaf].shape().element_type()));
    const numerics::Tolerance tolerance{.relative = folded, .scaled = folded};
    if (numerics::compare(got[leaf], expected[leaf], tolerance).mismatches != 0) return false;
  }
  return true;
}

class Walker {
 public:
  Walker(Judge& judge, bool strict) : judge_(judge), strict_(strict) {}

  void step(const target::HloStage& stage) {
    StageReport report;
    report.index = stage.index;
    report.level = "hlo";
    report.pipeline = stage.pipeline;
    report.pass = stage.pass;
    Judgement judgement;
    const auto module = read(stage);
    if (!module) {
      judgement = {Verdict::Undetermined, module.error().describe(), {}};
    } else {
      report.instructions = module->instruction_count();
      const std::string fingerprint = hlo::fingerprint(*module).to_hex();
      report.changed = fingerprint != last_fingerprint_;
      last_fingerprint_ = fingerprint;
      judgement = report.changed ? judge_stage(*module, report.pass) : walk_.judgements.back();
      if (judgement.verdict == Verdict::Policy && !report.changed) judgement = {};
    }
    report.verdict = judgement.verdict;
    report.reason = judgement.reason;
    conclude(report, judgement);
    walk_.stages.push_back(std::move(report));
    walk_.judgements.push_back(std::move(judgement));
  }

  [[nodiscard]] bool found() const { return walk_.guilty.has_value(); }
  // A last stage that could not be judged leaves the whole in doubt, whatever the stages before it.
  Walk take() {
    if (!walk_.guilty && !walk_.stages.empty() && walk_.stages.back().verdict == Verdict::Undetermined) {
      walk_.verdict = Verdict::Undetermined;
      walk_.reason = walk_.stages.back().reason;
    }
    return std::move(walk_);
  }

 private:
  static Result<Module> read(const target::HloStage& stage) {
    SAPPER_TRY(Module module, hlo::parse_module(stage.module, stage.pass));
    SAPPER_CHECKED(hlo::verify(module));
    return module;
  }

  Judgement judge_stage(const Module& module, const std::string& pass) {
    auto value = eval::evaluate(module, judge_.arguments(), judge_.evaluation());
    if (!value) return {Verdict::Undetermined, value.error().describe(), {}};
    Judgement judgement = judge_.judge(*value);
    if (!strict_ && walk_.program && may_be_real_algebra(judgement, pass) &&
        same_over_reals(*walk_.program, module, judge_)) {
      excuse(judgement,
             fmt::format(fmt::runtime(real_algebra_passes.contains(pass)
                                          ? "{} rewrote floating-point arithmetic by an identity of real algebra"
                                          : "{} changed roundings only: over the reals its program is the same"),
                         pass));
    }
    if (judgement.verdict == Verdict::Policy) judge_.accept(std::move(*value));
    if (judgement.verdict == Verdict::Agree || judgement.verdict == Verdict::Policy) walk_.program = module;
    return judgement;
  }

  // Whether the values part here, and an identity of real algebra would explain it: in passes that are known for such
  // where results are wrong, in any where their differences prove nothing.
  [[nodiscard]] bool may_be_real_algebra(const Judgement& judgement, const std::string& pass) const {
    if (judgement.verdict == Verdict::Mismatch) return real_algebra_passes.contains(pass);
    return judgement.verdict == Verdict::Undetermined && doubtful_since_.empty();
  }

  void conclude(const StageReport& report, const Judgement& judgement) {
    if (judgement.verdict == Verdict::Mismatch && !walk_.guilty) {
      walk_.guilty = Guilty{report.level, report.pass, doubtful_since_};
      walk_.verdict = Verdict::Mismatch;
      walk_.reason = judgement.reason;
    }
    if (judgement.verdict == Verdict::Undetermined) {
      if (doubtful_since_.empty()) doubtful_since_ = last_sure_;
    } else {
      doubtful_since_.clear();
      last_sure_ = report.pass;
    }
    if (walk_.guilty) return;
    if (judgement.verdict == Verdict::Policy) {
      walk_.verdict = Verdict::Policy;
      walk_.reason = judgement.reason;
    }
  }

  Judge& judge_;
  bool strict_;
  Walk walk_;
  std::string last_fingerprint_;
  std::string last_sure_;
  std::string doubtful_since_;
};

}  // namespace

Walk walk_stages(Judge& judge, const std::vector<target::HloStage>& stages, bool strict, bool to_the_end) {
  Walker walker(judge, strict);
  for (const target::HloStage& stage : stages) {
    walker.step(stage);
    if (walker.found() && !to_the_end) break;
  }
  return walker.take();
}

}  // namespace sapper::check
