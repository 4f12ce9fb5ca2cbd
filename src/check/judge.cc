#include "check/judge.h"

#include <algorithm>

#include "check/litmus.h"

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

// Whether some rounding to a float type narrower than f32 could be elided.
bool has_narrow_floats(const Module& module) {
  bool found = false;
  for_each_instruction(module, [&](const hlo::Computation&, const hlo::Instruction& instruction) {
    const ElementType type = instruction.shape.element_type();
    found = found || (hlo::is_float(type) && hlo::bit_width(type) < 32);
  });
  return found;
}

// How bad a verdict is for the whole: one mismatch decides, then doubt, then policy.
int severity(Verdict verdict) {
  switch (verdict) {
    case Verdict::Mismatch: return 3;
    case Verdict::Undetermined: return 2;
    case Verdict::Policy: return 1;
    default: return 0;
  }
}

}  // namespace

Judge::Judge(const Module& module, const std::vector<Literal>& arguments, eval::Options evaluation,
             std::optional<numerics::Tolerance> tolerance, bool strict)
    : module_(module),
      arguments_(arguments),
      evaluation_(std::move(evaluation)),
      tolerance_(tolerance),
      strict_(strict),
      tolerances_(numerics::derive_tolerances(module, false)) {}

Status Judge::prepare() {
  SAPPER_TRY(reference_, eval::evaluate(module_, arguments_, evaluation_));
  return {};
}

Judgement Judge::judge(const Literal& got) {
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
    OutputReport output = judge_leaf(leaf, actual[leaf], expected[leaf]);
    output.name = names[leaf];
    output.shape = expected[leaf].shape().to_text();
    if (severity(output.verdict) > severity(judgement.verdict)) {
      judgement.verdict = output.verdict;
      judgement.reason = output.reason;
    }
    judgement.outputs.push_back(std::move(output));
  }
  return judgement;
}

OutputReport Judge::judge_leaf(size_t leaf, const Literal& got, const Literal& expected) {
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

  if (!strict_) {
    if (report.difference.flushed == report.difference.mismatches) {
      report.verdict = Verdict::Policy;
      report.reason = "subnormal results are flushed to zero";
      return report;
    }
    if (const Literal* const excess = excess_leaf(leaf);
        excess != nullptr && numerics::compare(got, *excess, excess_tolerances_[leaf].tolerance).mismatches == 0) {
      report.verdict = Verdict::Policy;
      report.reason = "roundings to a narrow float type are left out (excess precision)";
      return report;
    }
  }
  if (!open_meaning_) open_meaning_ = open_meaning(module_).value_or("");
  const std::string doubt =
      derived.decision.empty()
          ? *open_meaning_
          : fmt::format("{} decides between values that differ by rounding errors only", derived.decision);
  if (doubt.empty()) return report;
  report.verdict = Verdict::Undetermined;
  report.reason = doubt;
  return report;
}

const Literal* Judge::excess_leaf(size_t leaf) {
  if (!excess_) {
    excess_.emplace();
    if (has_narrow_floats(module_)) {
      eval::Options options = evaluation_;
      options.excess_precision = true;
      if (const auto value = eval::evaluate(module_, arguments_, options)) excess_ = hlo::leaves(*value);
      excess_tolerances_ = numerics::derive_tolerances(module_, true);
    }
  }
  return leaf < excess_->size() ? &(*excess_)[leaf] : nullptr;
}

}  // namespace sapper::check
