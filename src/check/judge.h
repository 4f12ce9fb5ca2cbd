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

// What a target documents that it may do to values (docs/comparison.md).
struct Policy {
  bool strict = false;             // nothing: every operation as written
  bool bfloat16_products = false;  // f32 dots and convolutions of default precision run in one bf16 pass (XLA:TPU)
  bool short_formulas = false;     // functions are computed by the emitters' formulas (XLA:TPU)
  bool fast_min_max = false;       // minima and maxima may drop a NaN (XLA:CPU's xla_cpu_enable_fast_min_max)
};

// Where a value comes from: a program that the evaluator ran, or a device, which may also contract multiply-adds.
enum class Origin { Evaluator, Device };

class Judge {
 public:
  // `module` and `arguments` must outlive the judge. `tolerance` replaces the derived ones; `policy` says what is
  // allowed.
  Judge(const hlo::Module& module, const std::vector<hlo::Literal>& arguments, eval::Options evaluation,
        std::optional<numerics::Tolerance> tolerance, Policy policy);

  // Evaluates the reference; to be called once, before judge.
  [[nodiscard]] Status prepare();

  // `got` against the reference.
  [[nodiscard]] Judgement judge(const hlo::Literal& got, Origin origin = Origin::Evaluator);

  // From here on `value` is the reference: what a stage computes after a difference that policy allows.
  void accept(hlo::Literal value) { reference_ = std::move(value); }

  [[nodiscard]] const hlo::Literal& reference() const { return reference_; }
  [[nodiscard]] const eval::Options& evaluation() const { return evaluation_; }
  [[nodiscard]] const std::vector<hlo::Literal>& arguments() const { return arguments_; }

 private:
  OutputReport judge_leaf(size_t leaf, const hlo::Literal& got, const hlo::Literal& expected, Origin origin);
  std::optional<std::string> allowing_policy(size_t leaf, const hlo::Literal& got,
                                             const numerics::Difference& difference, Origin origin);
  const std::vector<hlo::Literal>& with_excess_precision();
  const std::vector<std::vector<hlo::Literal>>& perturbed();
  // Whether some minimum or maximum of the reference is NaN: else none can have dropped a NaN.
  bool nan_meets_min_max();
  bool agrees_with_excess_precision(size_t leaf, const hlo::Literal& got);
  bool agrees_within(size_t leaf, const hlo::Literal& got, numerics::Allowance allowance);
  // Whether inputs moved by one unit in the last place move each element as far, or the array as a whole does not
  // differ from the reference by more than legal executions do.
  bool is_ill_conditioned(size_t leaf, const hlo::Literal& got);
  bool is_within_legal_spread(size_t leaf, const hlo::Literal& got);
  bool agrees_contracted(size_t leaf, const hlo::Literal& got);

  const hlo::Module& module_;
  const std::vector<hlo::Literal>& arguments_;
  eval::Options evaluation_;
  std::optional<numerics::Tolerance> tolerance_;
  Policy policy_;
  hlo::Literal reference_;
  std::vector<numerics::OutputTolerance> tolerances_;
  std::vector<numerics::OutputTolerance> excess_tolerances_;
  // Leaves of the reference under excess precision, and with products contracted left and right; evaluated when first
  // needed, empty when there is nothing to evaluate or that failed.
  std::optional<std::vector<hlo::Literal>> excess_;
  std::optional<std::vector<std::vector<hlo::Literal>>> contracted_;
  // Leaves of the reference on inputs moved by one unit in the last place, evaluated when first needed.
  std::optional<std::vector<std::vector<hlo::Literal>>> perturbed_;
  std::optional<bool> nan_meets_min_max_;  // traced when first needed
  std::optional<std::string> open_meaning_;
};

}  // namespace sapper::check
