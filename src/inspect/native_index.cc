#include "inspect/native_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>

namespace sapper::inspect {
namespace {

using hlo::ElementType;
using hlo::Instruction;
using hlo::Literal;
using hlo::Opcode;
using hlo::Shape;

// How many of the first operands an instruction moves elements of, without looking at them; the others say where from.
size_t moved_operands(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::Bitcast:
    case Opcode::Broadcast:
    case Opcode::Copy:
    case Opcode::Gather:
    case Opcode::DynamicSlice:
    case Opcode::Reshape:
    case Opcode::Reverse:
    case Opcode::Slice:
    case Opcode::Transpose: return 1;
    case Opcode::DynamicUpdateSlice:
    case Opcode::Pad: return 2;
    case Opcode::Concatenate: return instruction.operands.size();
    default: return 0;
  }
}

class Indexer {
 public:
  explicit Indexer(const IndexInput& input) : in_(input) {}

  [[nodiscard]] const Instruction& it(NodeIndex node) const { return *in_.graph.nodes[node].it; }
  [[nodiscard]] size_t elements(NodeIndex node) const { return static_cast<size_t>(it(node).shape.element_count()); }

  // What the instruction does to places: its moved operands replaced by s32 arrays. nullopt: it cannot be evaluated.
  [[nodiscard]] std::optional<Literal> move(NodeIndex node, std::span<const Literal> places) const {
    const Node& n = in_.graph.nodes[node];
    const auto of_places = [](const Shape& shape) { return shape.with_element_type(ElementType::S32); };
    hlo::Module module;
    module.name = "places";
    module.config = in_.kernel.config;
    hlo::Computation& entry = module.computations.emplace_back();
    entry.name = "entry";
    std::vector<Literal> arguments;
    Instruction root = *n.it;
    for (size_t k = 0; k < n.operands.size(); ++k) {
      Instruction parameter{
          .opcode = Opcode::Parameter, .name = fmt::format("p{}", k), .shape = it(n.operands[k]).shape};
      parameter.parameter_number = static_cast<int64_t>(k);
      if (k < places.size()) parameter.shape = of_places(parameter.shape);
      arguments.push_back(k < places.size() ? places[k] : in_.expected[n.operands[k]]);
      entry.instructions.push_back(std::move(parameter));
      root.operands[k] = static_cast<hlo::InstructionIndex>(k);
    }
    root.shape = of_places(root.shape);
    entry.instructions.push_back(std::move(root));
    entry.root = static_cast<hlo::InstructionIndex>(n.operands.size());
    auto result = eval::evaluate(module, arguments, in_.evaluation);
    if (!result) return std::nullopt;
    return std::move(*result);
  }

  // Of each element of a reduction's operand: the element of the result that it goes into.
  [[nodiscard]] std::vector<size_t> reduced_to(NodeIndex node) const {
    const Shape& from = it(in_.graph.nodes[node].operands[0]).shape;
    std::vector<int64_t> index(from.rank(), 0);
    std::vector<size_t> result;
    result.reserve(static_cast<size_t>(from.element_count()));
    const std::vector<int64_t>& reduced = it(node).dimensions;
    for (int64_t i = 0; i < from.element_count(); ++i) {
      size_t place = 0;
      for (size_t d = 0; d < from.rank(); ++d)
        if (std::ranges::find(reduced, static_cast<int64_t>(d)) == reduced.end())
          place = place * static_cast<size_t>(from.dimension(d)) + static_cast<size_t>(index[d]);
      result.push_back(place);
      for (size_t d = from.rank(); d-- > 0;) {
        if (++index[d] < from.dimension(d)) break;
        index[d] = 0;
      }
    }
    return result;
  }

  [[nodiscard]] bool is_plain_reduce(NodeIndex node) const {
    return it(node).opcode == Opcode::Reduce && it(node).operands.size() == 2;
  }
  // Element i of the result of elements i of the operands; scalars are of all.
  [[nodiscard]] bool is_lanewise(NodeIndex node) const {
    return is_elementwise(it(node)) && std::ranges::all_of(in_.graph.nodes[node].operands, [&](NodeIndex operand) {
             return it(operand).shape.is_scalar() || elements(operand) == elements(node);
           });
  }

 private:
  const IndexInput& in_;
};

class Tagger {
 public:
  Tagger(const IndexInput& input, TagTable& tags) : in_(input), index_(input), tags_(tags) {}

  std::vector<ElementTags> run() {
    for (NodeIndex node = 0; node < in_.graph.nodes.size(); ++node) all_.push_back(tag(node));
    return std::move(all_);
  }

 private:
  ElementTags tag(NodeIndex node) {
    const Node& n = in_.graph.nodes[node];
    if (!n.it->shape.is_array() || !in_.expected[node].shape().is_valid()) return nullptr;
    if (n.it->opcode == Opcode::Parameter) return parameter(node);
    if (n.constant) return share(std::vector<Tag>(index_.elements(node), no_tag));
    for (const NodeIndex operand : n.operands)
      if (all_[operand] == nullptr) return nullptr;
    if (index_.is_lanewise(node)) return n.it->opcode == Opcode::Select ? selected(node) : lanewise(node);
    if (moved_operands(*n.it) > 0) return moved(node);
    return index_.is_plain_reduce(node) ? reduced(node) : nullptr;
  }

  ElementTags share(std::vector<Tag> tags) {
    uint64_t hash = tags.size();
    for (const Tag tag : tags) hash = (hash ^ tag) * 0x9e3779b97f4a7c15;
    ElementTags& known = shared_[hash];
    if (known == nullptr || *known != tags) known = std::make_shared<const std::vector<Tag>>(std::move(tags));
    return known;
  }

  ElementTags parameter(NodeIndex node) {
    const size_t operand = in_.operand_of[static_cast<size_t>(index_.it(node).parameter_number)];
    std::vector<Tag> tags(index_.elements(node));
    for (size_t i = 0; i < tags.size(); ++i) tags[i] = tags_.element(operand, static_cast<int64_t>(i));
    return share(std::move(tags));
  }

  // Where the predicate is the same whatever the operands are, an element is of the one that is chosen alone.
  ElementTags selected(NodeIndex node) {
    const std::vector<NodeIndex>& operands = in_.graph.nodes[node].operands;
    const auto at = [](const std::vector<Tag>& tags, size_t i) { return tags.size() == 1 ? tags[0] : tags[i]; };
    const Literal& predicate = in_.expected[operands[0]];
    std::vector<Tag> tags(index_.elements(node));
    for (size_t i = 0; i < tags.size(); ++i) {
      const Tag chooses = at(*all_[operands[0]], i);
      const bool is_first = predicate.integer_at(predicate.element_count() == 1 ? 0 : static_cast<int64_t>(i)) != 0;
      const Tag first = at(*all_[operands[1]], i);
      const Tag second = at(*all_[operands[2]], i);
      tags[i] = chooses == no_tag ? (is_first ? first : second) : tags_.merge(chooses, tags_.merge(first, second));
    }
    return share(std::move(tags));
  }

  ElementTags lanewise(NodeIndex node) {
    std::vector<Tag> tags(index_.elements(node), no_tag);
    for (const NodeIndex operand : in_.graph.nodes[node].operands) {
      const std::vector<Tag>& more = *all_[operand];
      for (size_t i = 0; i < tags.size(); ++i) tags[i] = tags_.merge(tags[i], more.size() == 1 ? more[0] : more[i]);
    }
    return share(std::move(tags));
  }

  ElementTags moved(NodeIndex node) {
    const Node& n = in_.graph.nodes[node];
    std::vector<Literal> places;
    for (size_t k = 0; k < moved_operands(*n.it); ++k) {
      const Shape& shape = index_.it(n.operands[k]).shape;
      Literal place = Literal::uninitialized(Shape::array(ElementType::S32, shape.dimensions()));
      std::ranges::copy(*all_[n.operands[k]], reinterpret_cast<Tag*>(place.mutable_data<int32_t>().data()));
      places.push_back(std::move(place));
    }
    const std::optional<Literal> result = index_.move(node, places);
    if (!result) return nullptr;
    const auto data = result->data<int32_t>();
    std::vector<Tag> tags(data.size());
    std::ranges::transform(data, tags.begin(), [](int32_t tag) { return static_cast<Tag>(tag); });
    return share(std::move(tags));
  }

  ElementTags reduced(NodeIndex node) {
    const Node& n = in_.graph.nodes[node];
    const std::vector<size_t> to = index_.reduced_to(node);
    const std::vector<Tag>& from = *all_[n.operands[0]];
    std::vector<Tag> tags(index_.elements(node), (*all_[n.operands[1]])[0]);
    for (size_t i = 0; i < to.size(); ++i) tags[to[i]] = tags_.merge(tags[to[i]], from[i]);
    return share(std::move(tags));
  }

  const IndexInput& in_;
  Indexer index_;
  TagTable& tags_;
  std::vector<ElementTags> all_;
  std::map<uint64_t, ElementTags> shared_;
};

class RelevanceFinder {
 public:
  explicit RelevanceFinder(const IndexInput& input) : in_(input), index_(input), all_(input.graph.nodes.size()) {}

  std::vector<Relevance> run(std::span<const Relevance> roots) {
    for (size_t k = 0; k < roots.size(); ++k) {
      const NodeIndex root = in_.graph.roots[k];
      add(root, roots[k]);
      if (index_.it(root).shape.is_tuple() && std::ranges::find(roots[k], 1) != roots[k].end())
        for (const NodeIndex operand : in_.graph.nodes[root].operands) add_all(operand);
    }
    for (NodeIndex node = static_cast<NodeIndex>(all_.size()); node-- > 0;)
      if (!all_[node].empty()) spread(node);
    return std::move(all_);
  }

 private:
  void add(NodeIndex node, const Relevance& more) {
    if (more.empty() || !index_.it(node).shape.is_array()) return;
    Relevance& relevance = all_[node];
    relevance.resize(index_.elements(node), 0);
    for (size_t i = 0; i < relevance.size() && i < more.size(); ++i) relevance[i] |= more[i];
  }
  void add_all(NodeIndex node) {
    add(node, Relevance(index_.it(node).shape.is_array() ? index_.elements(node) : 0, 1));
  }

  void spread(NodeIndex node) {
    const Node& n = in_.graph.nodes[node];
    const Relevance& mine = all_[node];
    const bool any = std::ranges::find(mine, 1) != mine.end();
    if (!any) return;
    if (index_.is_lanewise(node)) {
      for (const NodeIndex operand : n.operands)
        add(operand, index_.elements(operand) == mine.size() ? mine : Relevance(1, 1));
    } else if (const size_t moved = moved_operands(*n.it); moved > 0) {
      spread_moved(node, moved);
    } else if (index_.is_plain_reduce(node)) {
      const std::vector<size_t> to = index_.reduced_to(node);
      Relevance from(to.size());
      for (size_t i = 0; i < to.size(); ++i) from[i] = mine[to[i]];
      add(n.operands[0], from);
      add_all(n.operands[1]);
    } else {
      for (const NodeIndex operand : n.operands) add_all(operand);
    }
  }

  void spread_moved(NodeIndex node, size_t moved) {
    const Node& n = in_.graph.nodes[node];
    for (size_t k = moved; k < n.operands.size(); ++k) add_all(n.operands[k]);
    for (size_t k = 0; k < moved; ++k) {
      std::vector<Literal> places;
      for (size_t other = 0; other < moved; ++other) {
        Literal place(Shape::array(ElementType::S32, index_.it(n.operands[other]).shape.dimensions()));
        if (other == k) {
          const auto data = place.mutable_data<int32_t>();
          for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<int32_t>(i + 1);
        }
        places.push_back(std::move(place));
      }
      const std::optional<Literal> result = index_.move(node, places);
      if (!result) {
        add_all(n.operands[k]);
        continue;
      }
      Relevance from(index_.elements(n.operands[k]), 0);
      const auto data = result->data<int32_t>();
      for (size_t i = 0; i < data.size(); ++i)
        if (all_[node][i] != 0 && data[i] > 0) from[static_cast<size_t>(data[i] - 1)] = 1;
      add(n.operands[k], from);
    }
  }

  const IndexInput& in_;
  Indexer index_;
  std::vector<Relevance> all_;
};

}  // namespace

std::vector<ElementTags> element_tags(const IndexInput& input, TagTable& tags) { return Tagger(input, tags).run(); }

std::vector<Relevance> relevant_elements(const IndexInput& input, std::span<const Relevance> roots) {
  return RelevanceFinder(input).run(roots);
}

}  // namespace sapper::inspect
