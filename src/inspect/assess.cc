#include "inspect/assess.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "inspect/cone.h"
#include "numerics/compare.h"

namespace sapper::inspect {
namespace {

using hlo::Literal;
using hlo::Opcode;

// What was read of a node, as a value: elements that were not are the reference's.
struct Value {
  Literal got;
  std::vector<uint8_t> seen;  // empty: all were
  bool as_expected = true;

  [[nodiscard]] bool complete() const { return std::ranges::find(seen, 0) == seen.end(); }
};

class Assessor {
 public:
  explicit Assessor(const Evidence& evidence)
      : e_(evidence), values_(evidence.graph.nodes.size()), assessments_(evidence.graph.nodes.size()) {}

  std::vector<Assessment> run() {
    collect_values();
    for (NodeIndex node = 0; node < e_.graph.nodes.size(); ++node) {
      if (!values_[node]) continue;
      assessments_[node] = judge(node);
      if (!e_.results_agree || assessments_[node].standing != Standing::Diverges) continue;
      // Where the results are right something else was read: what uses it is judged without it.
      values_[node].reset();
      assessments_[node].reason = "other values stood here, without effect on the results";
    }
    confirm_divergences();
    explain_unseen();
    return std::move(assessments_);
  }

 private:
  void collect_values() {
    for (NodeIndex node = 0; node < e_.graph.nodes.size(); ++node) {
      const Observation& observation = e_.observed[node];
      if (observation.seen.empty()) continue;
      const hlo::Shape& shape = e_.graph.nodes[node].it->shape;
      Value value{e_.expected[node], observation.seen, observation.got.empty()};
      if (!value.as_expected) value.got = array_of_lanes(shape, observation.got);
      values_[node] = std::move(value);
    }
    // The kernel's results are seen as a whole: what is stored counts, not what was in registers.
    for (size_t k = 0; k < e_.graph.roots.size(); ++k) {
      const NodeIndex root = e_.graph.roots[k];
      if (!e_.expected[root].shape().is_valid()) continue;
      const bool same = numerics::same_bits(e_.results[k], e_.expected[root], numerics::Alike::FlushedSubnormals);
      if (values_[root] && values_[root]->as_expected && !same) stored_wrong_.push_back(root);
      values_[root] = Value{e_.results[k], {}, same};
    }
    for (size_t k = 0; k < e_.graph.parameters.size(); ++k) {
      const NodeIndex parameter = e_.graph.parameters[k];
      if (parameter == kNoNode || values_[parameter]) continue;
      given_.resize(e_.graph.nodes.size(), nullptr);
      given_[parameter] = &e_.operands[k];
    }
  }

  // The value of a node as far as others may be computed from it. `in_part`: also where only some elements were seen.
  const Literal* known(NodeIndex node, bool in_part) const {
    if (values_[node] && (in_part || values_[node]->complete())) return &values_[node]->got;
    if (node < given_.size() && given_[node] != nullptr) return given_[node];
    if (e_.graph.nodes[node].it->opcode == Opcode::Parameter) return &e_.expected[node];
    return nullptr;
  }

  Assessment judge(NodeIndex node) {
    const Value& value = *values_[node];
    if (value.as_expected) return {Standing::Observed, Liberty::None, ""};
    const hlo::Instruction& it = *e_.graph.nodes[node].it;
    if (it.opcode == Opcode::Parameter) return {Standing::Diverges, Liberty::None, "what is read is not the operand"};
    // Element by element, where operands were seen; else, and then, from what was seen as a whole.
    if (is_elementwise(it)) {
      if (const auto some = seen_with_operands(node);
          some && !std::ranges::all_of(*some, [](uint8_t s) { return s; })) {
        Assessment partly = judge(node, Value{value.got, *some, false}, true);
        if (partly.standing == Standing::Diverges) return partly;
        const Assessment wholly = judge(node, value, false);
        return wholly.standing == Standing::Diverges ? wholly : partly;
      }
    }
    return judge(node, value, false);
  }

  // The elements of `node` that were seen together with those of all operands; nullopt: none was.
  [[nodiscard]] std::optional<std::vector<uint8_t>> seen_with_operands(NodeIndex node) const {
    const Value& value = *values_[node];
    std::vector<uint8_t> seen = value.seen;
    if (seen.empty()) seen.assign(static_cast<size_t>(e_.graph.nodes[node].it->shape.element_count()), 1);
    for (const NodeIndex operand : e_.graph.nodes[node].operands) {
      if (!values_[operand] || values_[operand]->seen.empty()) continue;
      if (values_[operand]->seen.size() != seen.size()) return std::nullopt;
      for (size_t i = 0; i < seen.size(); ++i) seen[i] &= values_[operand]->seen[i];
    }
    if (std::ranges::find(seen, 1) == seen.end()) return std::nullopt;
    return seen;
  }

  Assessment judge(NodeIndex node, const Value& value, bool in_part) {
    const hlo::Instruction& it = *e_.graph.nodes[node].it;
    const bool wide = value.got.shape().element_type() != it.shape.element_type();
    const Cone cone =
        cone_of(e_.kernel, e_.graph, node, wide, [this, in_part](NodeIndex other) { return known(other, in_part); });
    const bool operands_right = std::ranges::all_of(
        inputs_of(cone), [this](NodeIndex input) { return !values_[input] || values_[input]->as_expected; });
    const auto equals = [&](bool excess_precision) {
      eval::Options evaluation = e_.evaluation;
      evaluation.excess_precision = excess_precision;
      const Result<Literal> again = eval::evaluate(cone.module, cone.arguments, evaluation);
      return again && same_where_seen(value, *again);
    };
    if (equals(false)) return {Standing::Downstream, Liberty::None, operands_text(cone)};
    if (!e_.policy.strict && equals(true)) return liberty_of(node, wide, cone);
    check::Judge judge(cone.module, cone.arguments, e_.evaluation, std::nullopt, e_.policy);
    if (const Status prepared = judge.prepare(); !prepared)
      return {Standing::Unknown, Liberty::None, prepared.error().describe()};
    const check::Judgement judgement = judge.judge(patched(value, judge.reference()), check::Origin::Device);
    const std::string reason =
        judgement.reason.empty() ? check::worst_of(judgement.outputs, judgement.verdict) : judgement.reason;
    const Liberty liberty = wide ? Liberty::NotRounded : Liberty::None;
    switch (judgement.verdict) {
      case check::Verdict::Agree:
      case check::Verdict::Policy:
        if (!operands_right) return {Standing::Downstream, Liberty::None, operands_text(cone)};
        return {Standing::Explained, liberty,
                judgement.verdict == check::Verdict::Agree ? "within the error that the target may make" : reason};
      case check::Verdict::Mismatch: return {Standing::Diverges, Liberty::None, divergence_text(node, cone, reason)};
      default: return {Standing::Unknown, Liberty::None, reason};
    }
  }

  [[nodiscard]] std::vector<NodeIndex> inputs_of(const Cone& cone) const {
    std::vector<NodeIndex> inputs;
    for (const NodeIndex inner : cone.inside)
      for (const NodeIndex operand : e_.graph.nodes[inner].operands)
        if (!std::ranges::binary_search(cone.inside, operand)) inputs.push_back(operand);
    return inputs;
  }

  [[nodiscard]] Assessment liberty_of(NodeIndex node, bool wide, const Cone& cone) const {
    const hlo::Instruction& it = *e_.graph.nodes[node].it;
    if (it.opcode == Opcode::Convert && !wide)
      return {Standing::Explained, Liberty::Elided, "its operand passes through"};
    if (wide || is_narrow_float(it.shape.element_type()))
      return {Standing::Explained, Liberty::NotRounded,
              fmt::format("the value stays f32: it is not rounded to {}", hlo::to_string(it.shape.element_type()))};
    return {Standing::Downstream, Liberty::None, operands_text(cone)};
  }

  // Which of its operands are not as the reference has them.
  [[nodiscard]] std::string operands_text(const Cone& cone) const {
    for (const NodeIndex input : inputs_of(cone))
      if (values_[input] && !values_[input]->as_expected)
        return fmt::format("right for what {} is", e_.graph.nodes[input].it->name);
    return "";
  }

  [[nodiscard]] std::string divergence_text(NodeIndex node, const Cone& cone, const std::string& reason) const {
    std::string text = reason;
    if (std::ranges::find(stored_wrong_, node) != stored_wrong_.end())
      text += "; in registers it was right: what is stored is not";
    std::string unseen;
    for (const NodeIndex inner : cone.inside)
      if (inner != node && !e_.graph.nodes[inner].constant)
        unseen += (unseen.empty() ? "" : ", ") + e_.graph.nodes[inner].it->name;
    if (!unseen.empty()) text += fmt::format("; on the way, and not seen: {}", unseen);
    return text;
  }

  static bool same_where_seen(const Value& value, const Literal& again) {
    return numerics::same_bits(patched(value, again), again, numerics::Alike::FlushedSubnormals);
  }

  // `reference` with what was seen.
  static Literal patched(const Value& value, const Literal& reference) {
    if (value.seen.empty()) return value.got;
    if (reference.shape().element_type() != value.got.shape().element_type()) return value.got;
    Literal patched = value.got;
    const auto width = static_cast<size_t>(hlo::host_bytes(reference.shape().element_type()));
    const auto from = reference.bytes();
    const auto to = patched.mutable_bytes();
    for (size_t i = 0; i < value.seen.size(); ++i)
      if (value.seen[i] == 0) std::copy_n(&from[i * width], width, &to[i * width]);
    return patched;
  }

  // Where what uses a value is as if it were another, something else was read.
  void confirm_divergences() {
    for (NodeIndex node = 0; node < e_.graph.nodes.size(); ++node) {
      Assessment& assessment = assessments_[node];
      if (assessment.standing != Standing::Diverges || !values_[node]) continue;
      bool used = std::ranges::find(e_.graph.roots, node) != e_.graph.roots.end();
      size_t seen_users = 0;
      for (const NodeIndex user : e_.graph.nodes[node].users) {
        if (!values_[user]) continue;
        ++seen_users;
        used = used || assessments_[user].standing != Standing::Observed;
      }
      if (used || seen_users == 0) continue;
      assessment = {Standing::Unknown, Liberty::None, "other values stood here, which nothing uses"};
    }
  }

  // From the last to the first: what nobody saw is folded where all that uses it is right.
  void explain_unseen() {
    for (NodeIndex node = static_cast<NodeIndex>(e_.graph.nodes.size()); node-- > 0;) {
      if (values_[node]) continue;
      Assessment& assessment = assessments_[node];
      const std::vector<NodeIndex>& users = e_.graph.nodes[node].users;
      const bool right = e_.graph.nodes[node].constant || std::ranges::all_of(users, [this](NodeIndex user) {
                           const Standing standing = assessments_[user].standing;
                           return standing == Standing::Observed || standing == Standing::Folded ||
                                  standing == Standing::Explained || standing == Standing::Downstream;
                         });
      assessment.standing = right ? Standing::Folded : Standing::Unknown;
      if (right) assessment.reason.clear();
    }
  }

  const Evidence& e_;
  std::vector<std::optional<Value>> values_;
  std::vector<const Literal*> given_;  // operands that were not seen
  std::vector<NodeIndex> stored_wrong_;
  std::vector<Assessment> assessments_;
};

}  // namespace

std::vector<Assessment> assess(const Evidence& evidence) { return Assessor(evidence).run(); }

}  // namespace sapper::inspect
