#include "inspect/native_match.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "check/widen.h"
#include "inspect/cone.h"

namespace sapper::inspect {
namespace {

using hlo::ElementType;
using hlo::Literal;
using hlo::Opcode;

constexpr double enough = 0.9;        // of the lanes of a site, and of the elements of an instruction
constexpr int64_t many_lanes = 16;    // before values of one bit or byte say anything
constexpr int64_t first_lanes = 8;    // of a site: where none of them fits, it is another
constexpr double cancellation = 0.1;  // how large terms of a sum are taken for, of the largest
constexpr size_t largest_cone = 256;  // instructions computed at once

// Computed by approximations, or by sums in an order that HLO does not say.
bool is_approximate(Opcode opcode) {
  switch (opcode) {
    case Opcode::Acos:
    case Opcode::Acosh:
    case Opcode::Asin:
    case Opcode::Asinh:
    case Opcode::Atan2:
    case Opcode::Atanh:
    case Opcode::Cbrt:
    case Opcode::Convolution:
    case Opcode::Cosh:
    case Opcode::Cosine:
    case Opcode::Dot:
    case Opcode::Erf:
    case Opcode::Exponential:
    case Opcode::ExponentialMinusOne:
    case Opcode::Log:
    case Opcode::LogPlusOne:
    case Opcode::Logistic:
    case Opcode::Power:
    case Opcode::Reduce:
    case Opcode::ReduceWindow:
    case Opcode::Rsqrt:
    case Opcode::Sine:
    case Opcode::Sinh:
    case Opcode::Sqrt:
    case Opcode::Tan:
    case Opcode::Tanh: return true;
    default: return false;
  }
}

bool is_sum(Opcode opcode) {
  return opcode == Opcode::Add || opcode == Opcode::Subtract || opcode == Opcode::Reduce ||
         opcode == Opcode::ReduceWindow || opcode == Opcode::Dot || opcode == Opcode::Convolution;
}

double largest(const Literal& value) {
  double most = 0;
  for (int64_t i = 0; i < value.element_count(); ++i)
    if (const double x = std::abs(value.real_at(i)); std::isfinite(x)) most = std::max(most, x);
  return most;
}

// Counts the elements of a term of a sum; `elements` are those of the result.
void add_scale(const Literal& term, int64_t elements, Nearness& near) {
  if (!term.shape().is_array() || !hlo::is_float(term.shape().element_type())) return;
  if (term.element_count() != elements) {
    near.floor = std::max(near.floor, cancellation * largest(term));
    return;
  }
  near.scale.resize(static_cast<size_t>(elements), 0);
  for (int64_t i = 0; i < elements; ++i)
    if (const double x = std::abs(term.real_at(i)); std::isfinite(x))
      near.scale[static_cast<size_t>(i)] = std::max(near.scale[static_cast<size_t>(i)], x);
}

}  // namespace

TagIndex::TagIndex(const std::vector<Tag>& tags) {
  Tag high = 0;
  low_ = UINT32_MAX;
  for (const Tag tag : tags) {
    if (tag == no_tag) continue;
    low_ = std::min(low_, tag);
    high = std::max(high, tag);
  }
  if (high == 0) return;
  first_.assign(high - low_ + 1, -1);
  for (size_t i = tags.size(); i-- > 0;)
    if (tags[i] != no_tag) first_[tags[i] - low_] = static_cast<int32_t>(i);
}

const TagIndex& Matcher::index(NodeIndex node) {
  const std::vector<Tag>* tags = in_.tags[node].get();
  const auto known = indexes_.find(tags);
  return known != indexes_.end() ? known->second : indexes_.emplace(tags, *tags).first->second;
}

double Matcher::relative_error(const std::vector<NodeIndex>& inside, ElementType type) const {
  const bool approximate =
      std::ranges::any_of(inside, [&](NodeIndex node) { return is_approximate(in_.graph.nodes[node].it->opcode); });
  if (!approximate || !hlo::is_float(type)) return 0;
  int bits = hlo::float_format(type)->mantissa_bits;
  for (const NodeIndex node : inside) {
    const ElementType other = in_.graph.nodes[node].it->shape.element_type();
    if (hlo::is_float(other)) bits = std::min(bits, hlo::float_format(other)->mantissa_bits);
  }
  return tightness_ * (bits > 40 ? 1e-11 : bits > 20 ? 3e-5 : std::ldexp(1.01, -bits));
}

std::optional<Matcher::Computed> Matcher::compute(NodeIndex node, Way way, const Known& known, double least) const {
  const ElementType type = in_.graph.nodes[node].it->shape.element_type();
  const bool wide_result = way == Way::Wide && is_narrow_float(type);
  Cone cone = cone_of(in_.kernel, in_.graph, node, wide_result, known);
  if (cone.inside.size() > largest_cone) return std::nullopt;
  Computed computed{.inside = cone.inside};
  if (way == Way::Fused) {
    const auto wide = check::widen(cone.module);
    if (!wide) return std::nullopt;
    for (Literal& argument : cone.arguments) argument = check::widen(argument);
    const auto value = eval::evaluate(*wide, cone.arguments, in_.evaluation);
    if (!value) return std::nullopt;
    computed.value = Literal(value->shape().with_element_type(type));
    for (int64_t i = 0; i < value->element_count(); ++i) computed.value.set_real(i, value->real_at(i));
    return computed;
  }
  eval::Options evaluation = in_.evaluation;
  evaluation.excess_precision = way == Way::Wide;
  Nearness& near = computed.nearness;
  near.relative = hlo::is_float(type) ? std::max(least, relative_error(computed.inside, type)) : 0;
  // Terms of a sum cancel: its error is as large as theirs.
  std::unordered_map<std::string_view, Literal> terms;
  if (near.relative > 0)
    evaluation.trace = [&](const hlo::Computation&, const hlo::Instruction& instruction, const Literal& value) {
      terms.emplace(instruction.name, value);
    };
  auto value = eval::evaluate(cone.module, cone.arguments, evaluation);
  if (!value) return std::nullopt;
  computed.value = std::move(*value);
  const hlo::Computation& entry = cone.module.entry_computation();
  for (const hlo::Instruction& instruction : entry.instructions) {
    if (near.relative == 0 || !is_sum(instruction.opcode)) continue;
    for (const hlo::InstructionIndex operand : instruction.operands) {
      const hlo::Instruction& term = entry.instructions[operand];
      const auto traced = terms.find(term.name);
      if (term.opcode == Opcode::Parameter)
        add_scale(cone.arguments[static_cast<size_t>(term.parameter_number)], computed.value.element_count(), near);
      else if (traced != terms.end())
        add_scale(traced->second, computed.value.element_count(), near);
    }
  }
  return computed;
}

bool Matcher::may_be_wide(NodeIndex node, const std::vector<NodeIndex>& inside,
                          const std::vector<Match>& matches) const {
  const auto narrow = [&](NodeIndex n) { return is_narrow_float(in_.graph.nodes[n].it->shape.element_type()); };
  if (std::ranges::any_of(inside, narrow)) return true;
  return std::ranges::any_of(in_.graph.nodes[node].operands, [&](NodeIndex operand) {
    return narrow(operand) && matches[operand].value.shape().is_valid();
  });
}

std::vector<Matcher::Attempt> Matcher::attempts(NodeIndex node) const {
  std::vector<Attempt> attempts{{Way::AsWritten}, {Way::Wide}};
  const hlo::Instruction& it = *in_.graph.nodes[node].it;
  const bool is_sum = it.opcode == Opcode::Add || it.opcode == Opcode::Subtract;
  if (!is_sum || it.shape.element_type() != ElementType::F32) return attempts;
  for (const NodeIndex operand : in_.graph.nodes[node].operands)
    if (in_.graph.nodes[operand].it->opcode == Opcode::Multiply && !in_.graph.nodes[operand].constant)
      attempts.push_back({Way::Fused, operand});
  return attempts;
}

Matcher::Sighting Matcher::look(NodeIndex node, const Literal& value, const Nearness& near,
                                const Relevance* relevance) {
  Sighting sighting;
  const ElementType type = value.shape().element_type();
  const std::vector<Tag>& tags = *in_.tags[node];
  const TagIndex& by_tag = index(node);
  const auto matters = [&](size_t element) { return relevance == nullptr || (*relevance)[element] != 0; };
  const bool says_little = type == ElementType::Pred || hlo::bit_width(type) == 8;
  std::vector<uint8_t> seen(tags.size(), 0);  // by the first element of each tag
  sighting.got = value;
  for (size_t s = 0; s < in_.sites.size(); ++s) {
    const Site& site = in_.sites[s];
    if (elsewhere_.contains({node, s})) continue;
    int64_t compared = 0;
    int64_t equal = 0;
    int64_t foreign = 0;
    for (const Lane& lane : site.lanes) {
      const int64_t element = by_tag.find(lane.tag);
      if (element < 0) {
        ++foreign;
        if (foreign >= first_lanes && compared == 0) break;
        continue;
      }
      if (!matters(static_cast<size_t>(element))) continue;
      const uint64_t expected = element_bits(value, element);
      if (!is_finite(type, expected)) continue;
      ++compared;
      const auto bits = bits_in_lane(type, lane);
      equal += bits && same_value(type, *bits, expected, near, element) ? 1 : 0;
      if (compared >= first_lanes && equal == 0) break;
    }
    if (compared == 0 || foreign > compared || static_cast<double>(equal) < enough * static_cast<double>(compared))
      continue;
    if (says_little && compared < many_lanes) continue;
    int64_t new_elements = 0;
    for (const Lane& lane : site.lanes) {
      const int64_t element = by_tag.find(lane.tag);
      if (element < 0 || !matters(static_cast<size_t>(element))) continue;
      const auto bits = bits_in_lane(type, lane);
      if (!bits || !same_value(type, *bits, element_bits(value, element), near, element)) continue;
      new_elements += seen[static_cast<size_t>(element)] == 0 ? 1 : 0;
      seen[static_cast<size_t>(element)] = 1;
      set_element_bits(sighting.got, element, *bits);
    }
    sighting.places.push_back({s, new_elements});
  }
  if (sighting.places.empty()) return sighting;
  sighting.seen.assign(tags.size(), 0);
  for (size_t i = 0; i < tags.size(); ++i) {
    const int64_t first = by_tag.find(tags[i]);
    if (!matters(i)) continue;
    sighting.relevant += first >= 0 ? 1 : 0;
    if (first < 0 || seen[static_cast<size_t>(first)] == 0) continue;
    // Elements with the same tag are copies of one another.
    if (!same_value(type, element_bits(value, first), element_bits(value, static_cast<int64_t>(i)), near, first))
      continue;
    ++sighting.covered;
    sighting.seen[i] = 1;
    set_element_bits(sighting.got, static_cast<int64_t>(i), element_bits(sighting.got, first));
  }
  return sighting;
}

// Of the elements that wrong results are made of, all are to be seen right: what only most of them equal may be a step
// on the way to the value.
bool Matcher::is_seen(const Sighting& sighting, bool all) {
  const double share = all ? 1 : enough;
  return sighting.relevant > 0 &&
         static_cast<double>(sighting.covered) >= share * static_cast<double>(sighting.relevant);
}

void Matcher::match(NodeIndex node, std::vector<Match>& matches, std::span<const Relevance> relevance) {
  const Node& n = in_.graph.nodes[node];
  Match& mine = matches[node];
  mine.inside = {node};
  if (n.it->opcode == Opcode::Parameter || n.constant) {
    mine.way = Way::Given;
    mine.value = in_.expected[node];
    return;
  }
  const bool wanted = relevance.empty() || std::ranges::find(relevance[node], 1) != relevance[node].end();
  if (!n.it->shape.is_array() || in_.tags[node] == nullptr || !is_native_type(n.it->shape.element_type()) || !wanted)
    return;
  const Relevance* mask = relevance.empty() ? nullptr : &relevance[node];
  const Known known = [&](NodeIndex other) {
    return matches[other].value.shape().is_valid() ? &matches[other].value : nullptr;
  };
  int64_t most = 0;  // elements that are seen so far
  for (const Attempt& attempt : attempts(node)) {
    const Way way = attempt.way;
    // A value is in a register before it is rounded, whatever becomes of it: that it was not rounded shows only in
    // what uses it.
    const bool rounds = is_narrow_float(n.it->shape.element_type()) || n.it->opcode == Opcode::Convert;
    if (way == Way::Wide && (rounds || !may_be_wide(node, mine.inside, matches))) continue;
    const auto computed =
        compute(node, way, [&](NodeIndex other) { return other == attempt.product ? nullptr : known(other); });
    if (!computed) continue;
    if (way == Way::AsWritten) mine.inside = computed->inside;
    Sighting sighting = look(node, computed->value, computed->nearness, mask);
    if (!is_seen(sighting, mask != nullptr) || sighting.covered <= most) continue;
    most = sighting.covered;
    mine.way = way;
    mine.inside = computed->inside;
    mine.is_near = computed->nearness.relative > 0;
    mine.value = std::move(sighting.got);
    mine.seen = std::move(sighting.seen);
    mine.places = std::move(sighting.places);
    if (most == sighting.relevant) return;
  }
}

// What is stored is seen as a whole; the registers say where it comes from.
void Matcher::match_root(size_t root, std::vector<Match>& matches, std::span<const Relevance> relevance) {
  const NodeIndex node = in_.graph.roots[root];
  Match& mine = matches[node];
  mine.inside = {node};
  const Literal& got = in_.results[root];
  if (in_.graph.nodes[node].it->opcode == Opcode::Parameter || in_.graph.nodes[node].constant) {
    mine.way = Way::Given;
    mine.value = in_.expected[node];
    return;
  }
  const ElementType type = got.shape().element_type();
  const Known known = [&](NodeIndex other) {
    return other != node && matches[other].value.shape().is_valid() ? &matches[other].value : nullptr;
  };
  if (!got.shape().is_array()) return match_tuple(got, compute(node, Way::AsWritten, known), mine);
  int64_t fewest = got.element_count() + 1;
  for (const Attempt& attempt : attempts(node)) {
    const Way way = attempt.way;
    auto computed =
        compute(node, way, [&](NodeIndex other) { return other == attempt.product ? nullptr : known(other); });
    if (!computed) continue;
    Literal& value = computed->value;
    const Nearness& near = computed->nearness;
    if (value.shape().element_type() != type) {  // rounded once, at the end
      Literal rounded(got.shape());
      for (int64_t i = 0; i < rounded.element_count(); ++i) rounded.set_real(i, value.real_at(i));
      value = std::move(rounded);
    }
    std::vector<uint8_t> wrong(static_cast<size_t>(got.element_count()), 0);
    int64_t count = 0;
    for (int64_t i = 0; i < got.element_count(); ++i) {
      if (!relevance.empty() && (relevance[node].empty() || relevance[node][static_cast<size_t>(i)] == 0)) continue;
      const bool same = same_value(type, element_bits(got, i), element_bits(value, i), near, i);
      wrong[static_cast<size_t>(i)] = same ? 0 : 1;
      count += same ? 0 : 1;
    }
    if (count >= fewest) continue;
    fewest = count;
    mine.way = way;
    mine.wrong = std::move(wrong);
    mine.inside = computed->inside;
    mine.is_near = near.relative > 0;
    if (in_.tags[node] != nullptr && is_native_type(type)) mine.places = look(node, got, {}, nullptr).places;
    if (count == 0) break;
  }
  mine.value = got;
  mine.seen.assign(static_cast<size_t>(got.element_count()), 1);
}

void Matcher::match_tuple(const Literal& got, const std::optional<Computed>& computed, Match& mine) const {
  if (!computed) return;
  mine.way = Way::AsWritten;
  mine.inside = computed->inside;
  mine.is_near = computed->nearness.relative > 0;
  bool same = true;
  for (size_t k = 0; k < got.elements().size(); ++k) {
    const Literal& a = got.elements()[k];
    const Literal& b = computed->value.elements()[k];
    const ElementType type = a.shape().element_type();
    const Nearness near{.relative = relative_error(mine.inside, type), .floor = cancellation * largest(b)};
    for (int64_t i = 0; i < a.element_count(); ++i)
      same = same && same_value(type, element_bits(a, i), element_bits(b, i), near, i);
  }
  mine.wrong = {static_cast<uint8_t>(same ? 0 : 1)};
}

std::vector<Match> Matcher::run(std::span<const Relevance> relevance) {
  std::vector<Match> matches(in_.graph.nodes.size());
  for (NodeIndex node = 0; node < matches.size(); ++node) {
    const auto root = std::ranges::find(in_.graph.roots, node);
    if (root == in_.graph.roots.end())
      match(node, matches, relevance);
    else
      match_root(static_cast<size_t>(root - in_.graph.roots.begin()), matches, relevance);
  }
  for (NodeIndex node = 0; node < matches.size(); ++node)
    if (matches[node].way == Way::Wide)
      for (const NodeIndex inner : matches[node].inside)
        if (inner != node && matches[inner].way == Way::Unseen) look_for_unrounded(inner, matches, relevance);
  return matches;
}

// Where the value is of a node that what uses it takes unrounded.
void Matcher::look_for_unrounded(NodeIndex node, std::vector<Match>& matches, std::span<const Relevance> relevance) {
  const auto& type = in_.graph.nodes[node].it->shape;
  if (!type.is_array() || in_.tags[node] == nullptr || !hlo::is_float(type.element_type())) return;
  const auto computed = compute(node, Way::Wide, [&](NodeIndex other) {
    return matches[other].value.shape().is_valid() ? &matches[other].value : nullptr;
  });
  if (!computed || !is_native_type(computed->value.shape().element_type())) return;
  Sighting sighting = look(node, computed->value, computed->nearness, relevance.empty() ? nullptr : &relevance[node]);
  if (!is_seen(sighting, !relevance.empty())) return;
  Match& mine = matches[node];
  mine.way = Way::Wide;
  mine.value = std::move(sighting.got);
  mine.seen = std::move(sighting.seen);
  mine.places = std::move(sighting.places);
}

}  // namespace sapper::inspect
