#include "check/walk.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "check/widen.h"
#include "hlo/dead_code.h"
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

// Leaves of what `module` returns, computed over wider numbers.
Result<std::vector<Literal>> over_reals(Module module, const std::vector<size_t>& wanted,
                                        const std::vector<Literal>& wide_arguments, const eval::Options& evaluation) {
  const bool only_wanted = hlo::return_only(module, wanted);
  SAPPER_TRY(const Module wide, widen(module));
  SAPPER_TRY(const Literal value, eval::evaluate(wide, wide_arguments, evaluation));
  std::vector<Literal> leaves = hlo::leaves(value);
  if (only_wanted) return leaves;
  if (std::ranges::any_of(wanted, [&](size_t leaf) { return leaf >= leaves.size(); }))
    return fail(ErrorKind::Unsupported, "the program has {} results", leaves.size());
  std::vector<Literal> picked;
  picked.reserve(wanted.size());
  for (const size_t leaf : wanted) picked.push_back(std::move(leaves[leaf]));
  return picked;
}

// Whether these leaves of what `before` and `after` return agree wherever both are finite when computed over wider
// numbers, and are floats. Resource errors: a limit was reached; other programs that have no meaning there do not
// agree.
Result<bool> same_over_reals(const Module& before, const Module& after, const std::vector<size_t>& wanted,
                             const Judge& judge) {
  const auto without_meaning = [](const Error& error) -> Result<bool> {
    if (error.kind == ErrorKind::Resource) return tl::unexpected<Error>(error);
    return false;
  };
  std::vector<Literal> arguments;
  for (const Literal& argument : judge.arguments()) arguments.push_back(widen(argument));
  const auto expected = over_reals(before, wanted, arguments, judge.evaluation());
  if (!expected) return without_meaning(expected.error());
  auto got = over_reals(after, wanted, arguments, judge.evaluation());
  if (!got) return without_meaning(got.error());
  const std::vector<Literal> narrow = hlo::leaves(judge.reference());
  for (size_t i = 0; i < wanted.size(); ++i) {
    const Literal& mine = (*expected)[i];
    Literal& theirs = (*got)[i];
    if (!mine.shape().is_array() || !(mine.shape() == theirs.shape())) return false;
    if (hlo::is_float(mine.shape().element_type())) {
      for (int64_t at = 0; at < theirs.element_count(); ++at)
        if (!std::isfinite(theirs.real_at(at)) || !std::isfinite(mine.real_at(at)))
          theirs.set_real(at, mine.real_at(at));
    }
    // Constants that the pass folded are rounded to the program's own types, hence not closer than that.
    const double folded = std::max(1e-6, 2 * numerics::epsilon(narrow[wanted[i]].shape().element_type()));
    const numerics::Tolerance tolerance{.relative = folded, .scaled = folded};
    if (numerics::compare(theirs, mine, tolerance).mismatches != 0) return false;
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
    if (!strict_ && walk_.program && may_be_real_algebra(judgement, pass)) {
      const Result<bool> same = same_over_reals(*walk_.program, module, leaves_in_question(judgement), judge_);
      if (!same) return {Verdict::Undetermined, same.error().describe(), {}};
      if (*same) excuse_real_algebra(judgement, pass);
    }
    if (judgement.verdict == Verdict::Policy) judge_.accept(std::move(*value));
    if (judgement.verdict == Verdict::Agree || judgement.verdict == Verdict::Policy) walk_.program = module;
    return judgement;
  }

  static void excuse_real_algebra(Judgement& judgement, const std::string& pass) {
    excuse(judgement,
           fmt::format(fmt::runtime(real_algebra_passes.contains(pass)
                                        ? "{} rewrote floating-point arithmetic by an identity of real algebra"
                                        : "{} changed roundings only: over the reals its program is the same"),
                       pass));
  }

  // Whether the values part here, and an identity of real algebra would explain it: in passes that are known for such
  // where results are wrong, in any where their differences prove nothing. Not where the program means nothing.
  [[nodiscard]] bool may_be_real_algebra(const Judgement& judgement, const std::string& pass) const {
    if (judgement.outputs.empty()) return false;
    const bool may_be = judgement.verdict == Verdict::Mismatch
                            ? real_algebra_passes.contains(pass)
                            : judgement.verdict == Verdict::Undetermined && doubtful_since_.empty();
    return may_be && judge_.why_open().empty();
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
