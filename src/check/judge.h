// The judge: is a value what the program means? Knows the reference values of one module on one set of inputs, and what
// the target's documented policies allow beyond them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/verdict.h"
#include "eval/evaluator.h"
#include "hlo/module.h"
#include "numerics/compare.h"
#include "numerics/tolerance.h"

namespace sapper::check {

struct OutputReport {
  std::string name;  // "out" and its tuple position: out, out{0}, out{1,2}
  std::string shape;
  Verdict verdict = Verdict::Agree;
  std::string reason;  // empty when it agrees
  numerics::Difference difference;
};

struct Judgement {
  Verdict verdict = Verdict::Agree;
  std::string reason;  // of the decisive output
  std::vector<OutputReport> outputs;
};

class Judge {
 public:
  // `module` and `arguments` must outlive the judge. `tolerance` replaces the derived ones; `strict` forbids every
  // policy.
  Judge(const hlo::Module& module, const std::vector<hlo::Literal>& arguments, eval::Options evaluation,
        std::optional<numerics::Tolerance> tolerance, bool strict);

  // Evaluates the reference; to be called once, before judge.
  [[nodiscard]] Status prepare();

  // `got` against the reference.
  [[nodiscard]] Judgement judge(const hlo::Literal& got);

  // From here on `value` is the reference: what a stage computes after a difference that policy allows.
  void accept(hlo::Literal value) { reference_ = std::move(value); }

  [[nodiscard]] const hlo::Literal& reference() const { return reference_; }
  [[nodiscard]] const eval::Options& evaluation() const { return evaluation_; }
  [[nodiscard]] const std::vector<hlo::Literal>& arguments() const { return arguments_; }

 private:
  OutputReport judge_leaf(size_t leaf, const hlo::Literal& got, const hlo::Literal& expected);
  const hlo::Literal* excess_leaf(size_t leaf);

  const hlo::Module& module_;
  const std::vector<hlo::Literal>& arguments_;
  eval::Options evaluation_;
  std::optional<numerics::Tolerance> tolerance_;
  bool strict_;
  hlo::Literal reference_;
  std::vector<numerics::OutputTolerance> tolerances_;
  std::vector<numerics::OutputTolerance> excess_tolerances_;
  std::optional<std::vector<hlo::Literal>> excess_;  // leaves under excess precision; empty when that failed
  std::optional<std::string> open_meaning_;
};

}  // namespace sapper::check
