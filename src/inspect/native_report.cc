#include "inspect/native_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace sapper::inspect {
namespace {

using hlo::ElementType;
using hlo::Literal;
using hlo::Opcode;

// Those of the elements that are marked, as a vector.
Literal chosen(const Literal& array, const std::vector<uint8_t>& marks) {
  const auto count = static_cast<int64_t>(std::ranges::count(marks, 1));
  Literal result(hlo::Shape::array(array.shape().element_type(), {count}));
  int64_t at = 0;
  for (size_t i = 0; i < marks.size(); ++i)
    if (marks[i] != 0) set_element_bits(result, at++, element_bits(array, static_cast<int64_t>(i)));
  return result;
}

std::vector<int64_t> index_of(const hlo::Shape& shape, int64_t element) {
  std::vector<int64_t> index(shape.rank());
  for (size_t d = shape.rank(); d-- > 0;) {
    index[d] = element % shape.dimension(d);
    element /= shape.dimension(d);
  }
  return index;
}

class Reporter {
 public:
  Reporter(const NativeFindings& findings, NativeCode code, Inspection& inspection)
      : f_(findings), in_(findings.input), code_(std::move(code)), out_(inspection) {}

  void run() {
    const size_t count = in_.graph.nodes.size();
    for (NodeIndex node = 0; node < count; ++node) out_.instructions.push_back(inspected(node));
    explain_elided();
    explain_unseen();
    if (f_.guilty) {
      out_.first_divergence = f_.guilty->node;
    }
    keep_window();
    name_lines();
    count_results();
    out_.code = std::move(code_.lines);
  }

 private:
  [[nodiscard]] const hlo::Instruction& it(NodeIndex node) const { return *in_.graph.nodes[node].it; }
  [[nodiscard]] bool is_guilty(NodeIndex node) const { return f_.guilty && f_.guilty->node == node; }
  // Of the instruction: what was seen, and where it is known.
  [[nodiscard]] const Literal& got(NodeIndex node) const {
    return is_guilty(node) ? f_.guilty->got : f_.matches[node].value;
  }
  [[nodiscard]] std::vector<uint8_t> seen(NodeIndex node) const {
    if (!is_guilty(node)) return f_.matches[node].seen;
    return in_.graph.nodes[node].users.empty() ? std::vector<uint8_t>(f_.guilty->wrong.size(), 1) : f_.guilty->wrong;
  }

  InspectedInstruction inspected(NodeIndex node) {
    InspectedInstruction result{.computation = in_.graph.nodes[node].computation,
                                .instruction = in_.graph.nodes[node].instruction};
    const Match& match = f_.matches[node];
    const Literal& expected = in_.expected[node];
    result.elements = it(node).shape.is_array() ? it(node).shape.element_count() : 0;
    const bool has_value = it(node).shape.is_array() && expected.shape().is_valid();
    if (has_value) result.expected = isolate::summarize(expected);
    if (has_value && (is_guilty(node) || (match.way != Way::Unseen && match.way != Way::Given))) {
      add_places(node, result);
      compare(node, result);
    } else if (match.way == Way::Given && it(node).opcode == Opcode::Parameter) {
      result.seen = result.elements;  // in memory
      result.got = result.expected;
    }
    stand(node, result);
    return result;
  }

  void add_places(NodeIndex node, InspectedInstruction& result) {
    const auto add = [&](size_t s, int64_t elements) {
      const Site& site = in_.sites[s];
      result.probes.push_back({.line = code_.line_at[site.offset],
                               .reg = register_name(site.reg, site.vector_bytes),
                               .executions = site.executions,
                               .elements = elements});
    };
    if (is_guilty(node)) {
      for (const size_t s : f_.guilty->sites) add(s, static_cast<int64_t>(in_.sites[s].lanes.size()));
    } else {
      for (const SeenAt& place : f_.matches[node].places) add(place.site, place.elements);
    }
  }

  void compare(NodeIndex node, InspectedInstruction& result) {
    const Literal& value = got(node);
    const Literal& expected = is_guilty(node) ? f_.guilty->expected : in_.expected[node];
    const std::vector<uint8_t> marks = seen(node);
    result.seen = std::ranges::count(marks, 1);
    result.got = isolate::summarize(chosen(value, marks));
    int64_t worst = -1;
    for (size_t i = 0; i < marks.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      if (marks[i] == 0) continue;
      const double a = value.real_at(at);
      const double e = expected.real_at(at);
      if (a == e || (std::isnan(a) && std::isnan(e))) continue;
      ++result.differing;
      const double absolute = std::abs(a - e);
      const double relative = e == 0 ? std::numeric_limits<double>::infinity() : absolute / std::abs(e);
      if (worst < 0 || relative > result.max_relative) worst = at;
      result.max_relative = std::max(result.max_relative, relative);
      result.max_absolute = std::max(result.max_absolute, absolute);
      const std::vector<int64_t> index = index_of(it(node).shape, at);
      if (result.box_low.empty()) result.box_low = result.box_high = index;
      for (size_t d = 0; d < index.size(); ++d) {
        result.box_low[d] = std::min(result.box_low[d], index[d]);
        result.box_high[d] = std::max(result.box_high[d], index[d]);
      }
    }
    if (worst < 0) return;
    result.worst = DifferingElement{
        .index = index_of(it(node).shape, worst), .got = value.real_at(worst), .expected = expected.real_at(worst)};
    place(node, worst, *result.worst);
  }

  // Where in the registers the element was.
  void place(NodeIndex node, int64_t element, DifferingElement& out) {
    if (in_.tags[node] == nullptr) return;
    const Tag tag = (*in_.tags[node])[static_cast<size_t>(element)];
    std::vector<size_t> sites;
    if (is_guilty(node))
      sites = f_.guilty->sites;
    else
      for (const SeenAt& seen_at : f_.matches[node].places) sites.push_back(seen_at.site);
    for (const size_t s : sites) {
      const Site& site = in_.sites[s];
      const auto lane = std::ranges::find(site.lanes, tag, &Lane::tag);
      if (lane == site.lanes.end()) continue;
      out.line = code_.line_at[site.offset];
      out.reg = register_name(site.reg, site.vector_bytes);
      out.lane = lane->position;
      out.execution = lane->execution;
      return;
    }
  }

  void stand(NodeIndex node, InspectedInstruction& result) const {
    const Match& match = f_.matches[node];
    const auto set = [&](Standing standing, Liberty liberty, std::string reason) {
      result.standing = standing;
      result.liberty = liberty;
      result.reason = std::move(reason);
    };
    if (is_guilty(node)) return set(Standing::Diverges, Liberty::None, divergence_text(result));
    if (f_.guilty && std::ranges::find(f_.guilty->after, node) != f_.guilty->after.end())
      return set(Standing::Downstream, Liberty::None, fmt::format("computed from {}", it(f_.guilty->node).name));
    const bool is_result_other = std::ranges::find(match.wrong, 1) != match.wrong.end();
    if (is_result_other && !f_.policy.empty() && operands_as_expected(node))
      return set(Standing::Explained, Liberty::None, f_.policy);
    switch (match.way) {
      case Way::Unseen: return;
      case Way::Given:
        return set(it(node).opcode == Opcode::Parameter ? Standing::Observed : Standing::Folded, Liberty::None, "");
      case Way::Fused: return set(Standing::Explained, Liberty::Fused, "the product and the sum are rounded once");
      case Way::Wide:
        if (is_narrow_float(it(node).shape.element_type()))
          return set(Standing::Explained, Liberty::NotRounded, not_rounded_text(node));
        if (result.differing == 0) return set(Standing::Observed, Liberty::None, "");
        if (it(node).opcode == Opcode::Convert)
          return set(Standing::Explained, Liberty::Elided, "its operand passes through");
        return set(Standing::Downstream, Liberty::None, wide_text(node));
      case Way::AsWritten: break;
    }
    if (result.differing == 0) return set(Standing::Observed, Liberty::None, "");
    if (match.is_near && operands_as_expected(node))
      return set(Standing::Explained, Liberty::None, "within the error that the target may make");
    set(Standing::Downstream, Liberty::None, downstream_text(node));
  }

  [[nodiscard]] bool operands_as_expected(NodeIndex node) const {
    return std::ranges::all_of(in_.graph.nodes[node].operands,
                               [&](NodeIndex operand) { return out_.instructions[operand].differing == 0; });
  }
  [[nodiscard]] std::string downstream_text(NodeIndex node) const {
    for (const NodeIndex operand : in_.graph.nodes[node].operands)
      if (out_.instructions[operand].differing > 0) return fmt::format("right for what {} is", it(operand).name);
    return "right for what it takes";
  }
  [[nodiscard]] std::string not_rounded_text(NodeIndex node) const {
    return fmt::format("the value stays f32: it is not rounded to {}", hlo::to_string(it(node).shape.element_type()));
  }
  [[nodiscard]] std::string wide_text(NodeIndex node) const {
    for (const NodeIndex operand : in_.graph.nodes[node].operands)
      if (is_narrow_float(it(operand).shape.element_type()) && f_.matches[operand].way != Way::Given)
        return fmt::format("right for what {} is", it(operand).name);
    return "right without the roundings before it";
  }

  [[nodiscard]] std::string divergence_text(const InspectedInstruction& result) const {
    std::string text = fmt::format("what it takes is right, what it makes is not, in {} elements", result.differing);
    std::string unseen;
    for (const NodeIndex node : f_.guilty->unseen)
      if (!in_.graph.nodes[node].constant) unseen += (unseen.empty() ? "" : ", ") + it(node).name;
    if (!unseen.empty()) text += fmt::format("; on the way, and not seen: {}", unseen);
    return text;
  }

  // What was not seen, and is right only without its rounding.
  void explain_elided() {
    for (NodeIndex node = 0; node < in_.graph.nodes.size(); ++node) {
      const Match& match = f_.matches[node];
      if (match.way != Way::Wide) continue;
      for (const NodeIndex inner : match.inside) {
        InspectedInstruction& result = out_.instructions[inner];
        if (inner == node || f_.matches[inner].way != Way::Unseen || result.standing != Standing::Unknown ||
            !is_narrow_float(it(inner).shape.element_type()))
          continue;
        result.standing = Standing::Explained;
        result.liberty = Liberty::NotRounded;
        result.reason = fmt::format("not seen; {} is right without its rounding", it(node).name);
      }
    }
  }

  void explain_unseen() {
    for (NodeIndex node = static_cast<NodeIndex>(in_.graph.nodes.size()); node-- > 0;) {
      InspectedInstruction& result = out_.instructions[node];
      const std::vector<NodeIndex>& users = in_.graph.nodes[node].users;
      if (f_.matches[node].way != Way::Unseen || result.standing != Standing::Unknown) continue;
      const bool right = in_.graph.nodes[node].constant || std::ranges::all_of(users, [&](NodeIndex user) {
                           const Standing standing = out_.instructions[user].standing;
                           return standing != Standing::Unknown && standing != Standing::Diverges;
                         });
      if (right && !f_.guilty) result.standing = Standing::Folded;
      if (right && f_.guilty && std::ranges::find(f_.guilty->unseen, node) == f_.guilty->unseen.end())
        result.standing = Standing::Folded;
    }
  }

  // The values around the first divergence, else those before the result.
  void keep_window() {
    if (out_.instructions.empty()) return;
    const size_t center = out_.first_divergence.value_or(out_.instructions.size() - 1);
    const auto window = static_cast<size_t>(std::max(0, f_.window));
    int64_t room = f_.memory_bytes;
    for (size_t i = center - std::min(center, window); i < out_.instructions.size() && i <= center + window; ++i) {
      InspectedInstruction& result = out_.instructions[i];
      const Literal& expected = in_.expected[i];
      if (!expected.shape().is_valid() || !expected.shape().is_array()) continue;
      room -= 2 * expected.shape().host_byte_size();
      if (room < 0) return;
      result.expected_value = expected;
      const Literal& value = got(static_cast<NodeIndex>(i));
      if (!value.shape().is_valid()) continue;
      result.got_value = value;
      const std::vector<uint8_t> marks = seen(static_cast<NodeIndex>(i));
      result.seen_elements.assign(static_cast<size_t>(expected.element_count()), marks.empty());
      for (size_t k = 0; k < marks.size(); ++k) result.seen_elements[k] = marks[k] != 0;
    }
  }

  void name_lines() {
    for (size_t i = 0; i < out_.instructions.size(); ++i)
      for (const ProbePoint& probe : out_.instructions[i].probes) {
        std::string& name = code_.lines[probe.line].hlo_instruction;
        if (name.empty() || is_guilty(static_cast<NodeIndex>(i))) name = it(static_cast<NodeIndex>(i)).name;
      }
  }

  void count_results() {
    for (size_t k = 0; k < in_.graph.roots.size(); ++k) {
      const Literal& result = in_.results[k];
      const Literal& expected = in_.expected[in_.graph.roots[k]];
      for (const Literal& leaf : hlo::leaves(result)) out_.output_elements += leaf.element_count();
      if (!expected.shape().is_valid() || !is_native_type(result.shape().element_type())) continue;
      for (int64_t i = 0; i < result.element_count(); ++i)
        out_.output_differing += element_bits(result, i) != element_bits(expected, i) ? 1 : 0;
    }
  }

  const NativeFindings& f_;
  const MatchInput& in_;
  NativeCode code_;
  Inspection& out_;
};

}  // namespace

void report(const NativeFindings& findings, NativeCode code, Inspection& inspection) {
  Reporter(findings, std::move(code), inspection).run();
}

}  // namespace sapper::inspect
