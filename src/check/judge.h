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
#include "numerics/contract.h"

namespace sapper::check {

struct OutputReport {
  size_t leaf = 0;   // of the result, tokens counted
  std::string name;  // "out" and its tuple position: out, out{0}, out{1,2}
  std::string shape;
  Verdict verdict = Verdict::Agree;
  std::string reason;  // empty when it agrees
  numerics::Difference difference;
  // The largest deviation of an element that agrees, over what it would be if roundings in sums were as independent as
  // chance (numerics::Contract::statistical). Far above 1 is suspicious, though legal.
  double suspicion = 0;
};

// The worst element of the first output with this verdict, in one line; empty: none has it, or it agrees.
[[nodiscard]] std::string worst_of(const std::vector<OutputReport>& outputs, Verdict verdict);

// Whether the same outputs are wrong, and in the same way as far as the number of wrong elements and the worst one
// tell.
[[nodiscard]] bool same_failure(const std::vector<OutputReport>& a, const std::vector<OutputReport>& b);

struct Judgement {
  Verdict verdict = Verdict::Agree;
  std::string reason;  // of the decisive output
  std::vector<OutputReport> outputs;
};

// The leaves of the outputs that are wrong, or in doubt.
[[nodiscard]] std::vector<size_t> leaves_in_question(const Judgement& judgement);

// What differs is as policy allows, for this reason.
void excuse(Judgement& judgement, std::string reason);

// What a target documents that it may do to values (docs/verdicts.md).
struct Policy {
  bool strict = false;             // nothing: every operation as written
  bool bfloat16_products = false;  // f32 dots and convolutions of default precision run in one bf16 pass (XLA:TPU)
  bool short_formulas = false;     // functions are computed by the emitters' formulas (XLA:TPU)
  bool float64_pairs = false;      // f64 is emulated by pairs of f32 (XLA:TPU)
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

  // Whether `got` is what the reference becomes when multiply-adds are contracted, and nothing else is done to it.
  [[nodiscard]] bool is_contracted(const hlo::Literal& got);

  // Why the program has no one meaning on these inputs (litmus.h); empty: it has.
  [[nodiscard]] const std::string& why_open();

  // From here on `value` is the reference: what a stage computes after a difference that policy allows.
  void accept(hlo::Literal value) { reference_ = std::move(value); }

  [[nodiscard]] const hlo::Literal& reference() const { return reference_; }
  [[nodiscard]] const eval::Options& evaluation() const { return evaluation_; }
  [[nodiscard]] const std::vector<hlo::Literal>& arguments() const { return arguments_; }

 private:
  // The leaves' values and how far they may deviate; of an invalid shape where there is nothing to deviate.
  struct Bounded {
    std::vector<hlo::Literal> values, deviations;
  };

  // The reference's bounds under a contract; none: they cannot be had.
  struct Bounds {
    numerics::Contract contract;
    Bounded reference;               // no values: the reference's
    std::optional<Bounded> flushed;  // of the arguments without subnormals, where they may be flushed and there are any
    std::vector<std::string> unbounded;
    std::optional<Error> error;
  };

  // A leaf of the result.
  struct Leaf {
    size_t index = 0;
    const hlo::Literal& got;
    const hlo::Literal& expected;
    Origin origin;
    const hlo::Literal* open = nullptr;  // where it is above 0, anything may be; null: nowhere
  };

  OutputReport judge_leaf(Leaf leaf);
  // What policy explains the whole result at once, exactly, where bounds say too little; null: nothing does.
  const char* reason_of_the_whole(const hlo::Literal& got);
  OutputReport judge_by_bounds(const Leaf& leaf);  // there are bounds
  void judge_by_policy(const Leaf& leaf, OutputReport& report);
  const Bounds& bounds_under(const numerics::Contract& contract);
  void judge_within(numerics::Contract contract, const Leaf& leaf, Verdict verdict, OutputReport& report);
  // Within the bounds of the arguments as they are, or of those without subnormals.
  static numerics::Difference within(const Bounds& bounds, const Leaf& leaf);
  static numerics::Difference within(const numerics::Contract& contract, const hlo::Literal& deviation,
                                     const hlo::Literal& expected, const Leaf& leaf);
  // Where the leaf's reference has infinities and NaNs that nobody meant; null: nowhere, or it cannot be told.
  const hlo::Literal* produced_infinities(const Leaf& leaf);
  // Whether some minimum, maximum or complex magnitude of the reference is NaN: else none can have dropped a NaN.
  Result<bool> nan_meets_min_max();
  [[nodiscard]] std::string doubt_about(const Bounds& bounds, const numerics::Difference& difference) const;

  const hlo::Module& module_;
  const std::vector<hlo::Literal>& arguments_;
  eval::Options evaluation_;
  std::optional<numerics::Tolerance> tolerance_;
  Policy policy_;
  hlo::Literal reference_;
  std::vector<Bounds> bounds_;                         // under the contracts that were needed so far
  std::optional<std::vector<hlo::Literal>> produced_;  // of each leaf, when first needed
  std::optional<Error> produced_error_;                // it cannot be had
  std::optional<bool> nan_meets_min_max_;              // traced when first needed
  std::optional<std::string> open_meaning_;
};

}  // namespace sapper::check
