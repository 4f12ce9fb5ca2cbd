#include "check/judge.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "check/contract.h"
#include "check/litmus.h"
#include "check/tie_order.h"
#include "inputs/sampler.h"

namespace sapper::check {
namespace {

using hlo::ElementType;
using hlo::Literal;
using hlo::Module;
using hlo::Shape;

void leaf_names(const Shape& shape, const std::string& path, std::vector<std::string>& names) {
  if (!shape.is_tuple()) return names.push_back(path.empty() ? "out" : fmt::format("out{{{}}}", path));
  for (size_t i = 0; i < shape.elements().size(); ++i)
    leaf_names(shape.elements()[i], path.empty() ? std::to_string(i) : fmt::format("{},{}", path, i), names);
}

// Whether test(computation, instruction) holds somewhere in the module.
template <class Test>
bool any_instruction(const Module& module, Test test) {
  bool found = false;
  for_each_instruction(module, [&](const hlo::Computation& computation, const hlo::Instruction& instruction) {
    found = found || test(computation, instruction);
  });
  return found;
}

// Whether some rounding to a float type narrower than f32 could be elided.
bool has_narrow_floats(const Module& module) {
  return any_instruction(module, [](const auto&, const hlo::Instruction& instruction) {
    const ElementType type = instruction.shape.element_type();
    return hlo::is_float(type) && hlo::bit_width(type) < 32;
  });
}

bool takes_min_or_max(const hlo::Instruction& instruction) {
  return instruction.opcode == hlo::Opcode::Maximum || instruction.opcode == hlo::Opcode::Minimum ||
         instruction.opcode == hlo::Opcode::Clamp;
}

// Of its elements, or by the computation that it applies to them.
bool takes_min_or_max(const Module& module, const hlo::Instruction& instruction) {
  switch (instruction.opcode) {
    case hlo::Opcode::Reduce:
    case hlo::Opcode::ReduceWindow:
    case hlo::Opcode::Scan:
    case hlo::Opcode::Scatter:
    case hlo::Opcode::Map:
      return std::ranges::any_of(instruction.called, [&](hlo::ComputationIndex applied) {
        return std::ranges::any_of(module.computations[applied].instructions,
                                   [](const hlo::Instruction& inner) { return takes_min_or_max(inner); });
      });
    default: return takes_min_or_max(instruction);
  }
}

bool holds_nan(const Literal& value) {
  return std::ranges::any_of(hlo::leaves(value), [](const Literal& leaf) {
    if (!leaf.shape().is_array() || !hlo::is_float(leaf.shape().element_type())) return false;
    for (int64_t i = 0; i < leaf.element_count(); ++i)
      if (std::isnan(leaf.real_at(i))) return true;
    return false;
  });
}

// The most bf16 products that a dot or convolution of f32 may be computed in; 0: there is none such.
int most_bfloat16_passes(const Module& module) {
  int most = 0;
  for_each_instruction(module, [&](const hlo::Computation& computation, const hlo::Instruction& instruction) {
    most = std::max(most, numerics::bfloat16_passes(computation, instruction));
  });
  return most;
}

// Root of the sum of squared differences; infinite where one array has a NaN or an infinity that the other has not.
double distance_between(const Literal& a, const Literal& b) {
  double sum = 0;
  for (int64_t i = 0; i < a.element_count(); ++i) {
    const double x = a.real_at(i);
    const double y = b.real_at(i);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    if (!std::isfinite(x) || !std::isfinite(y)) return std::numeric_limits<double>::infinity();
    sum += (x - y) * (x - y);
  }
  return std::sqrt(sum);
}

}  // namespace

Judge::Judge(const Module& module, const std::vector<Literal>& arguments, eval::Options evaluation,
             std::optional<numerics::Tolerance> tolerance, Policy policy)
    : module_(module),
      arguments_(arguments),
      evaluation_(std::move(evaluation)),
      tolerance_(tolerance),
      policy_(policy),
      tolerances_(numerics::derive_tolerances(module, {})) {}

Status Judge::prepare() {
  SAPPER_TRY(reference_, eval::evaluate(module_, arguments_, evaluation_));
  return {};
}

Judgement Judge::judge(const Literal& got, Origin origin) {
  const std::vector<Literal> expected = hlo::leaves(reference_);
  const std::vector<Literal> actual = hlo::leaves(got);
  if (expected.size() != actual.size())
    return {Verdict::Undetermined,
            fmt::format("the result has {} leaves where the program has {}", actual.size(), expected.size()),
            {}};
  std::vector<std::string> names;
  leaf_names(reference_.shape(), "", names);
  Judgement judgement;
  for (size_t leaf = 0; leaf < expected.size(); ++leaf) {
    if (!expected[leaf].shape().is_array()) continue;
    OutputReport output = judge_leaf(leaf, actual[leaf], expected[leaf], origin);
    output.name = names[leaf];
    output.shape = expected[leaf].shape().to_text();
    if (severity(output.verdict) > severity(judgement.verdict)) {
      judgement.verdict = output.verdict;
      judgement.reason = output.reason;
    }
    judgement.outputs.push_back(std::move(output));
  }
  if (judgement.verdict == Verdict::Mismatch && orders_ties_otherwise(module_, arguments_, got, evaluation_)) {
    judgement.verdict = Verdict::Policy;
    judgement.reason = "an unstable sort leaves elements that compare equal in another order";
    for (OutputReport& output : judgement.outputs) {
      if (output.verdict != Verdict::Mismatch) continue;
      output.verdict = judgement.verdict;
      output.reason = judgement.reason;
    }
  }
  return judgement;
}

OutputReport Judge::judge_leaf(size_t leaf, const Literal& got, const Literal& expected, Origin origin) {
  OutputReport report;
  if (!got.shape().same_dimensions(expected.shape()) || got.shape().element_type() != expected.shape().element_type()) {
    report.verdict = Verdict::Undetermined;
    report.reason =
        fmt::format("the result is {} where the program says {}", got.shape().to_text(), expected.shape().to_text());
    return report;
  }
  const numerics::OutputTolerance& derived = tolerances_[leaf];
  report.difference = numerics::compare(got, expected, tolerance_.value_or(derived.tolerance));
  if (report.difference.mismatches == 0) return report;
  report.verdict = Verdict::Mismatch;
  if (tolerance_) return report;

  if (auto policy = policy_.strict ? std::nullopt : allowing_policy(leaf, got, report.difference, origin)) {
    report.verdict = Verdict::Policy;
    report.reason = *std::move(policy);
    return report;
  }
  if (!open_meaning_) open_meaning_ = open_meaning(module_).value_or("");
  std::string doubt = *open_meaning_;
  if (doubt.empty() && !derived.decision.empty())
    doubt = fmt::format("{} decides between values that differ by rounding errors only", derived.decision);
  if (doubt.empty() && is_ill_conditioned(leaf, got))
    doubt = "the program is ill-conditioned here: inputs moved by one unit in the last place move the result as far";
  if (doubt.empty() && is_within_legal_spread(leaf, got))
    doubt =
        "the program is ill-conditioned: executions that round elsewhere, or whose inputs are moved by one unit in the "
        "last place, are as far from each other";
  if (doubt.empty()) return report;
  report.verdict = Verdict::Undetermined;
  report.reason = doubt;
  return report;
}

std::optional<std::string> Judge::allowing_policy(size_t leaf, const Literal& got,
                                                  const numerics::Difference& difference, Origin origin) {
  if (difference.flushed == difference.mismatches) return "subnormal results are flushed to zero";
  if (agrees_with_excess_precision(leaf, got))
    return "roundings to a narrow float type are left out (excess precision)";
  if (origin == Origin::Device && agrees_contracted(leaf, got))
    return "multiply-adds are contracted: products are not rounded";
  if (policy_.fast_min_max && difference.lost_nans == difference.mismatches && nan_meets_min_max())
    return "minima and maxima drop NaN (xla_cpu_enable_fast_min_max)";
  const int passes = policy_.bfloat16_products ? most_bfloat16_passes(module_) : 0;
  const bool in_bfloat16 = passes > 0;
  if (in_bfloat16 && agrees_within(leaf, got, {.excess_precision = true, .bfloat16_products = true}))
    return passes == 1 ? "f32 products of default precision run in one bf16 pass"
                       : "f32 products of high precision run in three bf16 passes";
  if (policy_.short_formulas &&
      agrees_within(leaf, got, {.excess_precision = true, .bfloat16_products = in_bfloat16, .short_formulas = true}))
    return "functions are computed by the emitters' short formulas";
  return std::nullopt;
}

const std::vector<Literal>& Judge::with_excess_precision() {
  if (!excess_) {
    excess_.emplace();
    if (has_narrow_floats(module_)) {
      eval::Options options = evaluation_;
      options.excess_precision = true;
      if (const auto value = eval::evaluate(module_, arguments_, options)) excess_ = hlo::leaves(*value);
      excess_tolerances_ = numerics::derive_tolerances(module_, {.excess_precision = true});
    }
  }
  return *excess_;
}

const std::vector<std::vector<Literal>>& Judge::perturbed() {
  if (!perturbed_) {
    perturbed_.emplace();
    for (uint64_t round = 0; round < 2; ++round) {
      std::vector<Literal> moved;
      for (const Literal& argument : arguments_) moved.push_back(inputs::perturbed(argument, round));
      if (const auto value = eval::evaluate(module_, moved, evaluation_)) perturbed_->push_back(hlo::leaves(*value));
    }
  }
  return *perturbed_;
}

bool Judge::nan_meets_min_max() {
  if (!nan_meets_min_max_) {
    bool met = false;
    eval::Options options = evaluation_;
    options.trace = [&](const hlo::Computation&, const hlo::Instruction& instruction, const Literal& value) {
      met = met || (takes_min_or_max(module_, instruction) && holds_nan(value));
    };
    nan_meets_min_max_ = eval::evaluate(module_, arguments_, options).has_value() && met;
  }
  return *nan_meets_min_max_;
}

bool Judge::agrees_with_excess_precision(size_t leaf, const Literal& got) {
  const std::vector<Literal>& excess = with_excess_precision();
  return leaf < excess.size() &&
         numerics::compare(got, excess[leaf], excess_tolerances_[leaf].tolerance).mismatches == 0;
}

bool Judge::agrees_within(size_t leaf, const Literal& got, numerics::Allowance allowance) {
  const auto tolerances = numerics::derive_tolerances(module_, allowance);
  const std::vector<Literal> expected = hlo::leaves(reference_);
  return numerics::compare(got, expected[leaf], tolerances[leaf].tolerance).mismatches == 0;
}

bool Judge::is_ill_conditioned(size_t leaf, const Literal& got) {
  const std::vector<Literal> expected = hlo::leaves(reference_);
  if (!hlo::is_float(got.shape().element_type())) return false;
  // How much more than one unit in the last place of the inputs a legal implementation's own roundings amount to.
  constexpr double roundings = 64;
  // Below this many units in the last place of the result, the input's movement is not amplified.
  constexpr double amplification = 16;
  const ElementType type = got.shape().element_type();
  Literal explained = got;
  for (int64_t i = 0; i < got.element_count(); ++i) {
    const double reference = expected[leaf].real_at(i);
    double moves = 0;
    for (const std::vector<Literal>& variant : perturbed())
      moves = std::max(moves, std::fabs(variant[leaf].real_at(i) - reference));
    const bool amplified = numerics::ulp_distance(type, reference, reference + moves) > amplification;
    if (amplified && std::fabs(got.real_at(i) - reference) <= roundings * moves) explained.set_real(i, reference);
  }
  return numerics::compare(explained, expected[leaf], tolerances_[leaf].tolerance).mismatches == 0;
}

bool Judge::is_within_legal_spread(size_t leaf, const Literal& got) {
  if (!tolerances_[leaf].saturated || !hlo::is_float(got.shape().element_type())) return false;
  const Literal expected = hlo::leaves(reference_)[leaf];
  double spread = 0;
  const auto widen_spread = [&](const std::vector<Literal>& execution) {
    if (leaf >= execution.size()) return;
    if (numerics::compare(execution[leaf], expected, tolerances_[leaf].tolerance).mismatches == 0) return;
    const double distance = distance_between(execution[leaf], expected);
    if (std::isfinite(distance)) spread = std::max(spread, distance);
  };
  widen_spread(with_excess_precision());
  for (const std::vector<Literal>& execution : perturbed()) widen_spread(execution);
  // Each execution is one sample of how far a legal one may be.
  constexpr double samples_fall_short = 2;
  return spread > 0 && distance_between(got, expected) <= samples_fall_short * spread;
}

bool Judge::agrees_contracted(size_t leaf, const Literal& got) {
  if (got.shape().element_type() != ElementType::F32) return false;
  if (!contracted_) {
    contracted_.emplace();
    for (const Contract which : {Contract::Left, Contract::Right}) {
      const Module contracted = contract_products(module_, which);
      if (const auto value = eval::evaluate(contracted, arguments_, evaluation_))
        contracted_->push_back(hlo::leaves(*value));
    }
  }
  // A compiler may contract here and not there: an element is fine when one of the programs explains it.
  const std::vector<Literal> expected = hlo::leaves(reference_);
  Literal explained = got;
  for (const std::vector<Literal>& variant : *contracted_) {
    for (int64_t i = 0; i < got.element_count(); ++i) {
      const double value = variant[leaf].real_at(i);
      if (numerics::ulp_distance(ElementType::F32, got.real_at(i), value) <= 1)
        explained.set_real(i, expected[leaf].real_at(i));
    }
  }
  return numerics::compare(explained, expected[leaf], tolerances_[leaf].tolerance).mismatches == 0;
}

}  // namespace sapper::check
