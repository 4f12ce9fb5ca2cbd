#include "inspect/native_guilty.h"

#include <algorithm>
#include <unordered_set>

namespace sapper::inspect {
namespace {

using hlo::ElementType;
using hlo::Literal;
using hlo::Opcode;

constexpr double enough = 0.9;
constexpr int most_trials = 5000;
constexpr double product_rounding = 1e-6;  // a product that was not rounded, taken for one that was

// Those whose result has the bits of what they take: that it equals the kernel's result says nothing against a value.
bool passes_on(Opcode opcode) {
  switch (opcode) {
    case Opcode::Bitcast:
    case Opcode::Broadcast:
    case Opcode::Concatenate:
    case Opcode::Convert:
    case Opcode::Copy:
    case Opcode::Gather:
    case Opcode::DynamicSlice:
    case Opcode::DynamicUpdateSlice:
    case Opcode::Pad:
    case Opcode::Reshape:
    case Opcode::Reverse:
    case Opcode::Slice:
    case Opcode::Transpose: return true;
    default: return false;
  }
}

// Those of whose one operand every element of the result is one.
bool only_moves(Opcode opcode) {
  return opcode == Opcode::Broadcast || opcode == Opcode::Copy || opcode == Opcode::Reshape ||
         opcode == Opcode::Reverse || opcode == Opcode::Slice || opcode == Opcode::Transpose;
}

class Trial {
 public:
  Trial(Matcher& matcher, const MatchInput& input, const std::vector<Match>& matches,
        const std::vector<Relevance>& relevance, size_t root, const std::vector<uint8_t>& wrong)
      : matcher_(matcher), in_(input), matches_(matches), relevance_(relevance), root_(root), wrong_(wrong) {
    total_ = std::ranges::count(wrong_, 1);
  }

  std::optional<Guilty> run() {
    const NodeIndex root = in_.graph.roots[root_];
    const std::vector<NodeIndex>& inside = matches_[root].inside;
    for (const NodeIndex node : inside) {
      if (node == root) break;
      if (auto guilty = accuse(node, inside)) return guilty;
    }
    return root_itself(root, inside);
  }

 private:
  [[nodiscard]] const Literal* known(NodeIndex node) const {
    const bool is_root = node == in_.graph.roots[root_];
    return !is_root && matches_[node].value.shape().is_valid() ? &matches_[node].value : nullptr;
  }

  std::optional<Guilty> accuse(NodeIndex node, const std::vector<NodeIndex>& inside) {
    const hlo::Instruction& it = *in_.graph.nodes[node].it;
    if (!it.shape.is_array() || in_.tags[node] == nullptr || !is_native_type(it.shape.element_type()) ||
        relevance_[node].empty())
      return std::nullopt;
    const auto computed = matcher_.compute(node, Way::AsWritten, [this](NodeIndex other) { return known(other); });
    if (!computed) return std::nullopt;
    find_doubtful(node);
    find_movable(node);
    Guilty guilty{.node = node, .expected = computed->value, .got = computed->value};
    guilty.wrong.assign(static_cast<size_t>(guilty.expected.element_count()), 0);
    std::vector<uint8_t> explained(wrong_.size(), 0);
    for (size_t s = 0; s < in_.sites.size() && trials_ < most_trials; ++s)
      try_site(s, inside, computed->nearness, guilty, explained);
    const auto count = std::ranges::count(explained, 1);
    if (guilty.sites.empty() || static_cast<double>(count) < enough * static_cast<double>(total_)) return std::nullopt;
    for (const NodeIndex other : inside) (other < node ? guilty.unseen : guilty.after).push_back(other);
    std::erase(guilty.after, node);
    return guilty;
  }

  // What the node can be at all, right or wrong; empty: anything.
  void find_movable(NodeIndex node) {
    movable_.clear();
    if (!only_moves(in_.graph.nodes[node].it->opcode)) return;
    const Literal* const operand = known(in_.graph.nodes[node].operands[0]);
    for (int64_t i = 0; operand != nullptr && i < operand->element_count(); ++i)
      movable_.insert(element_bits(*operand, i));
  }

  // What follows the node and was seen within an approximation's error only: if the node is wrong, it was seen by
  // chance.
  void find_doubtful(NodeIndex node) {
    std::vector<bool> follows(matches_.size(), false);
    doubtful_.assign(matches_.size(), false);
    follows[node] = true;
    for (NodeIndex other = node + 1; other < matches_.size(); ++other) {
      follows[other] = std::ranges::any_of(in_.graph.nodes[other].operands, [&](NodeIndex o) { return follows[o]; });
      doubtful_[other] = follows[other] && matches_[other].is_near && known(other) != nullptr;
    }
  }

  [[nodiscard]] bool is_passed_on(NodeIndex node, const std::vector<NodeIndex>& inside) const {
    return std::ranges::any_of(
        inside, [&](NodeIndex other) { return other > node && passes_on(in_.graph.nodes[other].it->opcode); });
  }
  // Whether a product may be rounded together with a sum after `node`.
  [[nodiscard]] bool may_fuse(NodeIndex node, const std::vector<NodeIndex>& inside) const {
    return std::ranges::any_of(inside, [&](NodeIndex other) {
      const Opcode opcode = in_.graph.nodes[other].it->opcode;
      return other > node && (opcode == Opcode::Add || opcode == Opcode::Subtract);
    });
  }

  // How many tags the relevant elements have.
  [[nodiscard]] int64_t distinct_relevant(NodeIndex node) {
    const TagIndex& by_tag = matcher_.index(node);
    const std::vector<Tag>& tags = *in_.tags[node];
    int64_t count = 0;
    for (size_t i = 0; i < tags.size(); ++i)
      count += relevance_[node][i] != 0 && by_tag.find(tags[i]) == static_cast<int64_t>(i) ? 1 : 0;
    return count;
  }

  // Whether the lanes of a site are the node's values: the rest of the kernel, computed from them, gives its result.
  void try_site(size_t s, const std::vector<NodeIndex>& inside, const Nearness& near, Guilty& guilty,
                std::vector<uint8_t>& explained) {
    const NodeIndex node = guilty.node;
    const TagIndex& by_tag = matcher_.index(node);
    const std::vector<Tag>& tags = *in_.tags[node];
    const ElementType type = guilty.expected.shape().element_type();
    Literal value = guilty.expected;
    std::vector<uint8_t> taken(tags.size(), 0);  // by the first element of each tag
    bool differs = false;
    // What holds the kernel's result everywhere went through a maximum, an absolute value, ... unchanged, as the result
    // itself does.
    bool is_result =
        guilty.expected.shape().same_ignoring_layout(in_.results[root_].shape()) && !is_passed_on(node, inside);
    for (const Lane& lane : in_.sites[s].lanes) {
      const int64_t element = by_tag.find(lane.tag);
      if (element < 0) continue;
      const auto bits = bits_in_lane(type, lane);
      is_result = is_result && bits && *bits == element_bits(in_.results[root_], element);
      if (relevance_[node][static_cast<size_t>(element)] == 0) continue;
      if (!bits || (!movable_.empty() && !movable_.contains(*bits))) return;
      differs = differs || !same_value(type, *bits, element_bits(guilty.expected, element), near, element);
      set_element_bits(value, element, *bits);
      taken[static_cast<size_t>(element)] = 1;
    }
    if (!differs || is_result) return;
    for (size_t i = 0; i < tags.size(); ++i) {
      const int64_t first = by_tag.find(tags[i]);
      if (first >= 0 && taken[static_cast<size_t>(first)] != 0)
        set_element_bits(value, static_cast<int64_t>(i), element_bits(value, first));
    }
    ++trials_;
    const bool fused = is_product(in_.sites[s].reg) || may_fuse(node, inside);
    const double rounding = fused ? product_rounding : 0;
    // A site that holds so much of what matters has to explain as much of what is wrong.
    const auto held = std::ranges::count(taken, 1);
    const auto relevant = std::max<int64_t>(1, distinct_relevant(node));
    const double expected = static_cast<double>(total_) * static_cast<double>(held) / static_cast<double>(relevant);
    if (!explains(node, value, rounding, enough * expected - 1, explained)) return;
    guilty.sites.push_back(s);
    for (size_t i = 0; i < tags.size(); ++i) {
      const int64_t first = by_tag.find(tags[i]);
      if (first < 0 || taken[static_cast<size_t>(first)] == 0) continue;
      const uint64_t bits = element_bits(value, static_cast<int64_t>(i));
      set_element_bits(guilty.got, static_cast<int64_t>(i), bits);
      guilty.wrong[i] =
          same_value(type, bits, element_bits(guilty.expected, static_cast<int64_t>(i)), near, static_cast<int64_t>(i))
              ? 0
              : 1;
    }
  }

  bool explains(NodeIndex node, const Literal& value, double rounding, double least,
                std::vector<uint8_t>& explained) const {
    const NodeIndex root = in_.graph.roots[root_];
    const Literal& got = in_.results[root_];
    const ElementType type = got.shape().element_type();
    const bool may_doubt = std::ranges::find(doubtful_, true) != doubtful_.end();
    struct Trust {
      Way way;
      bool doubts;
    };
    for (const Trust& trust : {Trust{Way::AsWritten, false}, {Way::Wide, false}, {Way::AsWritten, true}}) {
      if (trust.doubts && !may_doubt) continue;
      const Matcher::Known seen = [&](NodeIndex other) {
        if (other == node) return &value;
        return trust.doubts && doubtful_[other] ? nullptr : known(other);
      };
      const auto again = matcher_.compute(root, trust.way, seen, rounding);
      if (!again || again->value.shape().element_type() != type) continue;
      int64_t good = 0;
      std::vector<uint8_t> now(wrong_.size(), 0);
      for (size_t i = 0; i < wrong_.size(); ++i) {
        const auto at = static_cast<int64_t>(i);
        const bool same = same_value(type, element_bits(again->value, at), element_bits(got, at), again->nearness, at);
        if (wrong_[i] != 0 && same) now[i] = 1;
        good += now[i];
      }
      if (good == 0 || static_cast<double>(good) < least) continue;
      for (size_t i = 0; i < now.size(); ++i) explained[i] |= now[i];
      return true;
    }
    return false;
  }

  [[nodiscard]] std::optional<Guilty> root_itself(NodeIndex root, const std::vector<NodeIndex>& inside) const {
    const auto expected = matcher_.compute(root, Way::AsWritten, [this](NodeIndex other) { return known(other); });
    if (!expected) return std::nullopt;
    Guilty guilty{.node = root, .expected = expected->value, .got = in_.results[root_], .wrong = wrong_};
    for (const SeenAt& place : matches_[root].places) guilty.sites.push_back(place.site);
    for (const NodeIndex other : inside)
      if (other != root) guilty.unseen.push_back(other);
    return guilty;
  }

  Matcher& matcher_;
  const MatchInput& in_;
  const std::vector<Match>& matches_;
  const std::vector<Relevance>& relevance_;
  size_t root_;
  const std::vector<uint8_t>& wrong_;
  std::vector<bool> doubtful_;  // of the node that is accused
  std::unordered_set<uint64_t> movable_;
  int64_t total_ = 0;
  int trials_ = 0;
};

// Where an operand of the guilty one was seen only in what that one wrote, or an approximation only in what is another
// instruction's value, too, it was seen by chance: something else is like it. True: this was not known.
bool rule_out_operands(Matcher& matcher, const KernelGraph& graph, const std::vector<Match>& matches,
                       const Guilty& guilty) {
  if (passes_on(graph.nodes[guilty.node].it->opcode)) return false;
  const auto is_seen_at = [&](NodeIndex node, size_t site) {
    return std::ranges::find(matches[node].places, site, &SeenAt::site) != matches[node].places.end();
  };
  bool is_new = false;
  for (const NodeIndex operand : graph.nodes[guilty.node].operands) {
    const std::vector<SeenAt>& places = matches[operand].places;
    const auto is_by_chance = [&](const SeenAt& place) {
      if (std::ranges::find(guilty.sites, place.site) != guilty.sites.end()) return true;
      for (NodeIndex other = 0; matches[operand].is_near && other < matches.size(); ++other)
        if (other != operand && is_seen_at(other, place.site)) return true;
      return false;
    };
    if (!std::ranges::all_of(places, is_by_chance)) continue;
    for (const SeenAt& place : places) is_new |= matcher.rule_out(operand, place.site);
  }
  return is_new;
}

}  // namespace

std::optional<Guilty> find_guilty(Matcher& matcher, const MatchInput& input, const IndexInput& indexing,
                                  const std::vector<Match>& matches) {
  std::vector<Relevance> wrong;
  for (const NodeIndex root : input.graph.roots) wrong.push_back(matches[root].wrong);
  const std::vector<Relevance> relevance = relevant_elements(indexing, wrong);
  std::optional<Guilty> first;
  while (true) {
    // Seen right means here: in the elements that the wrong ones are made of.
    const std::vector<Match> closer = matcher.run(relevance);
    std::optional<Guilty> found;
    for (size_t k = 0; k < wrong.size(); ++k) {
      const Relevance& still_wrong = closer[input.graph.roots[k]].wrong;
      if (std::ranges::find(still_wrong, 1) == still_wrong.end()) continue;
      auto guilty = Trial(matcher, input, closer, relevance, k, wrong[k]).run();
      if (guilty && (!found || guilty->node < found->node)) found = std::move(guilty);
    }
    if (found && (!first || found->node < first->node)) first = std::move(found);
    if (!first || !rule_out_operands(matcher, input.graph, closer, *first)) return first;
  }
}

}  // namespace sapper::inspect
