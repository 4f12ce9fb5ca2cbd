#include "check/judge.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "bounds/bounded.h"
#include "bounds/intent.h"
#include "check/litmus.h"
#include "check/policy.h"
#include "check/tie_order.h"

namespace sapper::check {
namespace {

using hlo::Literal;
using hlo::Module;
using hlo::Shape;

void leaf_names(const Shape& shape, const std::string& path, std::vector<std::string>& names) {
  if (!shape.is_tuple()) return names.push_back(path.empty() ? "out" : fmt::format("out{{{}}}", path));
  for (size_t i = 0; i < shape.elements().size(); ++i)
    leaf_names(shape.elements()[i], path.empty() ? std::to_string(i) : fmt::format("{},{}", path, i), names);
}

bool takes_min_or_max(const hlo::Instruction& instruction) {
  return instruction.opcode == hlo::Opcode::Maximum || instruction.opcode == hlo::Opcode::Minimum ||
         instruction.opcode == hlo::Opcode::Clamp;
}

// Of its elements, or by the computation that it applies to them, or of a complex number's parts for its magnitude.
bool takes_min_or_max(const Module& module, const hlo::Computation& computation, const hlo::Instruction& instruction) {
  switch (instruction.opcode) {
    case hlo::Opcode::Abs:
      return hlo::is_complex(computation.instructions[instruction.operands[0]].shape.element_type());
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

// Whether `is_so` of an element, or of a part of one, of an array of real or complex numbers.
bool holds(const Literal& array, bool (*is_so)(double)) {
  if (!array.shape().is_array()) return false;
  const hlo::ElementType type = array.shape().element_type();
  for (int64_t i = 0; i < array.element_count(); ++i) {
    if (hlo::is_float(type) && is_so(array.real_at(i))) return true;
    if (hlo::is_complex(type) && (is_so(array.complex_at(i).real()) || is_so(array.complex_at(i).imag()))) return true;
  }
  return false;
}

bool holds_nan(const Literal& value) {
  return std::ranges::any_of(hlo::leaves(value), [](const Literal& leaf) {
    return holds(leaf, [](double element) { return std::isnan(element); });
  });
}

bool holds_infinity_or_nan(const Literal& array) {
  return holds(array, [](double element) { return !std::isfinite(element); });
}

bool has_float64(const Module& module) {
  return std::ranges::any_of(module.computations, [](const hlo::Computation& computation) {
    return std::ranges::any_of(computation.instructions, [](const hlo::Instruction& instruction) {
      return instruction.shape.is_array() && instruction.shape.element_type() == hlo::ElementType::F64;
    });
  });
}

// Deviations, infinite where `marks` is above 0; `deviation` of an invalid shape is zeros.
Literal infinite_where(const Literal& marks, const Literal& deviation) {
  Literal open = deviation.shape().is_array() ? deviation : Literal(marks.shape());
  for (int64_t i = 0; i < open.element_count(); ++i)
    if (marks.real_at(i) > 0) open.set_real(i, std::numeric_limits<double>::infinity());
  return open;
}

// Of `marks`, leaf by leaf, those where `others` are above 0, too.
void keep_where(const std::vector<Literal>& others, std::vector<Literal>& marks) {
  for (size_t leaf = 0; leaf < marks.size(); ++leaf) {
    if (!marks[leaf].shape().is_array()) continue;
    if (!others[leaf].shape().is_array()) {
      marks[leaf] = {};
      continue;
    }
    for (int64_t i = 0; i < marks[leaf].element_count(); ++i)
      if (!(others[leaf].real_at(i) > 0)) marks[leaf].set_real(i, 0);
  }
}

// Of a number that is too large the arithmetic of pairs makes NaN as well as infinity: `got` with infinities in the
// place of NaNs where the expected number has come out as infinite.
Literal with_overflow_as(const Literal& expected, const Literal& got, const Literal& deviation) {
  Literal same = got;
  if (!hlo::is_float(expected.shape().element_type())) return same;
  for (int64_t i = 0; i < same.element_count(); ++i)
    if (std::isnan(got.real_at(i)) && std::isinf(expected.real_at(i)) && std::isinf(deviation.real_at(i)))
      same.set_real(i, expected.real_at(i));
  return same;
}

std::vector<Literal> without_subnormals(std::vector<Literal> values) {
  for (Literal& value : values) {
    if (!value.shape().is_array()) continue;
    const hlo::ElementType type = value.shape().element_type();
    const double least = hlo::is_float(type) ? numerics::flushed_below(type) : 0;
    for (int64_t i = 0; least > 0 && i < value.element_count(); ++i)
      if (std::fabs(value.real_at(i)) < least) value.set_real(i, 0);
  }
  return values;
}

bool holds_subnormals(const std::vector<Literal>& values) {
  return !std::ranges::equal(values, without_subnormals(values),
                             [](const Literal& a, const Literal& b) { return !numerics::first_different_bits(a, b); });
}

// What differs proves nothing, as something that would tell could not be computed.
void cannot_tell(std::string_view what, const Error& error, OutputReport& report) {
  report.verdict = Verdict::Undetermined;
  report.reason = fmt::format("results differ, and {}: {}", what, error.describe());
  report.difference.undetermined = report.difference.mismatches;
}

bool is_in_question(Verdict verdict) { return verdict == Verdict::Mismatch || verdict == Verdict::Undetermined; }

// An output is judged by its decided elements as long as nearly all are.
bool enough_decided(const numerics::Difference& difference) {
  constexpr double most_undetermined = 0.01;
  return static_cast<double>(difference.undetermined) <= most_undetermined * static_cast<double>(difference.elements);
}

// A way in which policy lets a target differ from the program as written.
struct Permission {
  numerics::Contract contract;
  const char* reason;
};

// From narrow to wide, so that the first that explains a difference says the least.
std::vector<Permission> permissions(const Policy& policy, Origin origin, bool unordered_ties) {
  const bool device = origin == Origin::Device;
  std::vector<Permission> all = {
      {{.flush_subnormals = true}, "subnormals are flushed to zero"},
      {{.excess_precision = true}, "roundings to a narrow float type are left out (excess precision)"},
  };
  if (device) all.push_back({{.contraction = true}, "multiply-adds are contracted: products are not rounded"});
  if (unordered_ties) all.push_back({{.unordered_ties = true}, "elements that compare equal come in another order"});
  numerics::Contract together{
      .excess_precision = true, .contraction = device, .flush_subnormals = true, .unordered_ties = unordered_ties};
  all.push_back({together, "roundings are left out, subnormals flushed and ties ordered otherwise"});
  if (policy.float64_pairs) {
    all.push_back({{.float64_pairs = true}, "f64 is emulated by pairs of f32"});
    together.float64_pairs = true;
    all.push_back({together, "f64 is emulated by pairs of f32, roundings are left out and subnormals flushed"});
  }
  if (policy.bfloat16_products) {
    together.bfloat16_products = true;
    all.push_back({together, "f32 products of default precision run in bf16 passes"});
  }
  if (policy.short_formulas) {
    together.short_formulas = true;
    all.push_back({together, "functions are computed by the emitters' short formulas"});
  }
  return all;
}

}  // namespace

numerics::Contract widest_contract(const Module& module, const Policy& policy) {
  if (policy.strict) return {};
  return permissions(policy, Origin::Device, !is_unstable_sort(module)).back().contract;
}

std::vector<size_t> leaves_in_question(const Judgement& judgement) {
  std::vector<size_t> leaves;
  for (const OutputReport& output : judgement.outputs)
    if (is_in_question(output.verdict)) leaves.push_back(output.leaf);
  return leaves;
}

void excuse(Judgement& judgement, std::string reason) {
  judgement.verdict = Verdict::Policy;
  judgement.reason = std::move(reason);
  for (OutputReport& output : judgement.outputs) {
    if (!is_in_question(output.verdict)) continue;
    output.verdict = judgement.verdict;
    output.reason = judgement.reason;
  }
}

std::string worst_of(const std::vector<OutputReport>& outputs, Verdict verdict) {
  const auto output = std::ranges::find(outputs, verdict, &OutputReport::verdict);
  if (verdict == Verdict::Agree || output == outputs.end()) return "";
  const numerics::Difference& difference = output->difference;
  return fmt::format("{}: {} of {} elements differ, the worst at [{}]: {}, where the program means {} ({:.4g} ulps)",
                     output->name, difference.mismatches, difference.elements, fmt::join(difference.worst_index, ","),
                     difference.got, difference.expected, difference.worst_ulps);
}

bool same_failure(const std::vector<OutputReport>& a, const std::vector<OutputReport>& b) {
  return std::ranges::equal(a, b, [](const OutputReport& left, const OutputReport& right) {
    const bool is_wrong = left.verdict == Verdict::Mismatch;
    if (is_wrong != (right.verdict == Verdict::Mismatch)) return false;
    const numerics::Difference &mine = left.difference, &theirs = right.difference;
    return !is_wrong || (mine.mismatches == theirs.mismatches && mine.worst == theirs.worst && mine.got == theirs.got);
  });
}

Judge::Judge(const Module& module, const std::vector<Literal>& arguments, eval::Options evaluation,
             std::optional<numerics::Tolerance> tolerance, Policy policy)
    : module_(module),
      arguments_(arguments),
      evaluation_(std::move(evaluation)),
      tolerance_(tolerance),
      policy_(policy) {
  policy_.float64_pairs = policy_.float64_pairs && has_float64(module);
}

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
    OutputReport output = judge_leaf({leaf, actual[leaf], expected[leaf], origin});
    output.leaf = leaf;
    output.name = names[leaf];
    output.shape = expected[leaf].shape().to_text();
    if (severity(output.verdict) > severity(judgement.verdict)) {
      judgement.verdict = output.verdict;
      judgement.reason = output.reason;
    }
    judgement.outputs.push_back(std::move(output));
  }
  if (is_in_question(judgement.verdict))
    if (const char* const reason = reason_of_the_whole(got)) excuse(judgement, reason);
  return judgement;
}

bool Judge::is_contracted(const Literal& got) {
  const std::vector<Literal> expected = hlo::leaves(reference_);
  const std::vector<Literal> actual = hlo::leaves(got);
  const Bounds& bounds = bounds_under({.contraction = true});
  if (bounds.error || actual.size() != expected.size()) return false;
  for (size_t leaf = 0; leaf < expected.size(); ++leaf) {
    if (!expected[leaf].shape().is_array()) continue;
    if (!actual[leaf].shape().same_ignoring_layout(expected[leaf].shape())) return false;
    const numerics::Difference difference = within(bounds, {leaf, actual[leaf], expected[leaf], Origin::Device});
    if (difference.mismatches + difference.undetermined > 0) return false;
  }
  return true;
}

const char* Judge::reason_of_the_whole(const Literal& got) {
  if (orders_ties_otherwise(module_, arguments_, got, evaluation_))
    return "an unstable sort leaves elements that compare equal in another order";
  if (policy_.strict || !got.shape().same_ignoring_layout(reference_.shape())) return nullptr;
  if (const auto without = eval::evaluate(module_, without_subnormals(arguments_), evaluation_))
    if (numerics::same_bits(got, *without, numerics::Alike::FlushedSubnormals)) return "subnormals are flushed to zero";
  return nullptr;
}

OutputReport Judge::judge_leaf(Leaf leaf) {
  const Literal &got = leaf.got, &expected = leaf.expected;
  OutputReport report;
  if (!got.shape().same_dimensions(expected.shape()) || got.shape().element_type() != expected.shape().element_type()) {
    report.verdict = Verdict::Undetermined;
    report.reason =
        fmt::format("the result is {} where the program says {}", got.shape().to_text(), expected.shape().to_text());
    return report;
  }
  if (tolerance_) {
    report.difference = numerics::compare(got, expected, *tolerance_);
    if (report.difference.mismatches > 0) report.verdict = Verdict::Mismatch;
    return report;
  }
  report.difference = numerics::compare(got, expected, numerics::Tolerance{});
  if (report.difference.mismatches == 0) return report;  // nothing differs: no bound is needed to say so
  if (const Bounds& strict = bounds_under({}); strict.error) {
    cannot_tell("cannot be bounded", *strict.error, report);
    return report;
  }
  report = judge_by_bounds(leaf);
  if (report.verdict != Verdict::Mismatch) return report;
  leaf.open = produced_infinities(leaf);
  if (produced_error_ && holds_infinity_or_nan(leaf.expected)) {
    cannot_tell("where infinities and NaNs come from was not found out", *produced_error_, report);
    return report;
  }
  if (leaf.open != nullptr) {
    report = judge_by_bounds(leaf);
    if (report.verdict != Verdict::Mismatch) {
      report.verdict = Verdict::Undetermined;
      report.reason = "differs only where the program's own arithmetic makes an infinity or NaN that nobody put there";
      return report;
    }
  }
  if (why_open().empty()) return report;
  report.verdict = Verdict::Undetermined;
  report.reason = why_open();
  report.difference.undetermined = report.difference.mismatches;
  return report;
}

const std::string& Judge::why_open() {
  if (!open_meaning_) {
    auto open = open_meaning(module_);
    if (!open) open = open_meaning_on(module_, arguments_, evaluation_);
    open_meaning_ = open ? open->why : "";
  }
  return *open_meaning_;
}

OutputReport Judge::judge_by_bounds(const Leaf& leaf) {
  OutputReport report;
  report.difference = within(bounds_under({}), leaf);
  if (report.difference.mismatches > 0) {
    report.verdict = Verdict::Mismatch;
    if (!policy_.strict) judge_by_policy(leaf, report);
  } else {
    judge_within({}, leaf, Verdict::Agree, report);
  }
  return report;
}

const Literal* Judge::produced_infinities(const Leaf& leaf) {
  if (!holds_infinity_or_nan(leaf.expected)) return nullptr;
  if (!produced_) {
    auto produced = bounds::produced_infinities(module_, arguments_, evaluation_);
    if (produced && policy_.strict) {
      const auto free = bounds::free_infinities(module_, arguments_, evaluation_);
      if (free)
        keep_where(*free, *produced);
      else
        produced = tl::unexpected<Error>(free.error());
    }
    if (!produced) produced_error_ = produced.error();
    produced_ = produced ? std::move(*produced) : std::vector<Literal>(leaf.index + 1);
  }
  if (leaf.index >= produced_->size() || !(*produced_)[leaf.index].shape().is_array()) return nullptr;
  return &(*produced_)[leaf.index];
}

// The first permission that explains all that differs decides. Where none does, what the widest leaves over is the
// mismatch; where the widest could not be evaluated, nothing is proven.
void Judge::judge_by_policy(const Leaf& leaf, OutputReport& report) {
  if (policy_.fast_min_max && report.difference.lost_nans == report.difference.mismatches) {
    const Result<bool> met = nan_meets_min_max();
    if (!met) return cannot_tell("whether a NaN meets a minimum was not found out", met.error(), report);
    if (*met) {
      report.verdict = Verdict::Policy;
      report.reason = "minima and maxima drop NaN (xla_cpu_enable_fast_min_max)";
      return;
    }
  }
  std::optional<Error> unknown;
  for (const Permission& permission : permissions(policy_, leaf.origin, !is_unstable_sort(module_))) {
    const Bounds& bounds = bounds_under(permission.contract);
    unknown = bounds.error;
    if (unknown) continue;
    numerics::Difference difference = within(bounds, leaf);
    if (difference.mismatches == 0) {
      report.reason = permission.reason;
      report.difference.undetermined = difference.undetermined;
      judge_within(permission.contract, leaf, Verdict::Policy, report);
      return;
    }
    difference.undetermined = std::max(difference.undetermined, report.difference.undetermined);
    report.difference = std::move(difference);
  }
  if (unknown) cannot_tell("what policy allows cannot be bounded", *unknown, report);
}

Result<bool> Judge::nan_meets_min_max() {
  if (!nan_meets_min_max_) {
    bool met = false;
    eval::Options options = evaluation_;
    options.trace = [&](const hlo::Computation& computation, const hlo::Instruction& instruction,
                        const Literal& value) {
      met = met || (takes_min_or_max(module_, computation, instruction) && holds_nan(value));
    };
    const auto traced = eval::evaluate(module_, arguments_, options);
    if (!traced && !met) return tl::unexpected<Error>(traced.error());
    nan_meets_min_max_ = met;
  }
  return *nan_meets_min_max_;
}

// Nothing leaves the bounds under `contract`; `verdict` is what that makes it, if the bounds say enough. Where they do
// not, a value that is as near as independent roundings leave it agrees as well: that is within the bounds, too.
void Judge::judge_within(numerics::Contract contract, const Leaf& leaf, Verdict verdict, OutputReport& report) {
  constexpr double expected_at_most = 4;
  report.verdict = verdict;
  const bool decided = enough_decided(report.difference);
  contract.statistical = true;
  const Bounds& estimate = bounds_under(contract);
  if (!estimate.error) {
    const numerics::Difference difference = within(estimate, leaf);
    report.suspicion = difference.max_excess;
    if (decided || (enough_decided(difference) && difference.max_excess <= expected_at_most)) return;
  }
  if (decided) return;
  contract.statistical = false;
  report.verdict = Verdict::Undetermined;
  report.reason = doubt_about(bounds_under(contract), report.difference);
}

const Judge::Bounds& Judge::bounds_under(const numerics::Contract& contract) {
  for (const Bounds& bounds : bounds_)
    if (bounds.contract == contract) return bounds;
  Bounds made{.contract = contract};
  const auto fill = [&]() -> Status {
    SAPPER_TRY(const bounds::BoundedModule bounded, bounds::with_bounds(module_, contract));
    SAPPER_TRY(bounds::Bounded value, bounds::evaluate(bounded, arguments_, evaluation_));
    made.reference.deviations = std::move(value.deviations);
    if (contract.float64_pairs) made.reference.values = hlo::leaves(value.value);
    made.unbounded = std::move(value.unbounded);
    if (!contract.flush_subnormals || !holds_subnormals(arguments_)) return {};
    SAPPER_TRY(value, bounds::evaluate(bounded, without_subnormals(arguments_), evaluation_));
    made.flushed = {hlo::leaves(value.value), std::move(value.deviations)};
    return {};
  };
  if (const Status filled = fill(); !filled) made.error = filled.error();
  return bounds_.emplace_back(std::move(made));
}

numerics::Difference Judge::within(const Bounds& bounds, const Leaf& leaf) {
  const Literal& kept = bounds.reference.values.empty() ? leaf.expected : bounds.reference.values[leaf.index];
  numerics::Difference difference = within(bounds.contract, bounds.reference.deviations[leaf.index], kept, leaf);
  if (!bounds.flushed || difference.mismatches + difference.undetermined == 0) return difference;
  // Not element by element: what one makes of a subnormal may be wrong beside what another makes of it as zero.
  numerics::Difference flushed =
      within(bounds.contract, bounds.flushed->deviations[leaf.index], bounds.flushed->values[leaf.index], leaf);
  const bool explains =
      flushed.mismatches == 0 && (difference.mismatches > 0 || flushed.undetermined < difference.undetermined);
  return explains ? flushed : difference;
}

numerics::Difference Judge::within(const numerics::Contract& contract, const Literal& deviation,
                                   const Literal& expected, const Leaf& leaf) {
  if (leaf.open != nullptr) return numerics::compare_within(leaf.got, expected, infinite_where(*leaf.open, deviation));
  if (deviation.shape().is_array()) {
    if (contract.float64_pairs)
      return numerics::compare_within(with_overflow_as(expected, leaf.got, deviation), expected, deviation);
    return numerics::compare_within(leaf.got, expected, deviation);
  }
  numerics::Difference difference = numerics::compare(leaf.got, expected, numerics::Tolerance{});
  if (difference.mismatches > 0) difference.max_excess = std::numeric_limits<double>::infinity();
  return difference;
}

std::string Judge::doubt_about(const Bounds& bounds, const numerics::Difference& difference) const {
  std::string text = fmt::format(
      "{} of {} elements differ where rounding errors decide: a legal implementation may give anything there",
      difference.undetermined, difference.elements);
  if (!bounds.unbounded.empty())
    text = fmt::format("{} of {} elements differ that depend on what has no bound: {}", difference.undetermined,
                       difference.elements, fmt::join(bounds.unbounded, ", "));
  return text;
}

}  // namespace sapper::check
