// Which instructions of a kernel's HLO are seen in the registers of its machine code. Each is computed again from the
// values of its operands as they were seen, so that it answers only for what it does itself; the result is looked for
// in the lanes whose tags are those of its elements.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <unordered_map>
#include <vector>

#include "eval/evaluator.h"
#include "inspect/kernel_graph.h"
#include "inspect/native_index.h"
#include "inspect/native_sites.h"
#include "inspect/native_values.h"

namespace sapper::inspect {

struct MatchInput {
  const hlo::Module& kernel;
  const KernelGraph& graph;
  const std::vector<hlo::Literal>& expected;  // of the nodes: the reference
  const std::vector<ElementTags>& tags;       // of the nodes
  const std::vector<Site>& sites;
  const std::vector<hlo::Literal>& results;  // what the kernel stored, one a root, tuples as such
  const eval::Options& evaluation;
};

// How a value was found to be computed.
enum class Way : uint8_t {
  Unseen,
  Given,      // an operand of the kernel, or a constant
  AsWritten,  // as HLO says, from its operands
  Wide,       // without roundings to narrow types
  Fused,      // a product and a sum rounded once
};

struct SeenAt {
  size_t site = 0;
  int64_t elements = 0;
};

struct Match {
  Way way = Way::Unseen;
  hlo::Literal value;         // where it was seen, or given: of its shape, or of f32
  std::vector<uint8_t> seen;  // elements
  std::vector<SeenAt> places;
  std::vector<NodeIndex> inside;  // what it was computed from that was not seen, itself last
  bool is_near = false;           // equal within what approximations and sums may differ by
  // Of a root: elements of the result that are not what its operands make it; of a tuple, one mark for it all.
  std::vector<uint8_t> wrong;
};

// Elements of a node by their tags: the first that has it.
class TagIndex {
 public:
  explicit TagIndex(const std::vector<Tag>& tags);
  // -1: none has it.
  [[nodiscard]] int64_t find(Tag tag) const {
    return tag < low_ || tag - low_ >= first_.size() ? -1 : first_[tag - low_];
  }

 private:
  Tag low_ = 0;
  std::vector<int32_t> first_;
};

class Matcher {
 public:
  // `tightness`: below 1, approximations and sums may differ by so much less.
  explicit Matcher(const MatchInput& input, double tightness = 1) : in_(input), tightness_(tightness) {}

  // Of each node. With `relevance` (of each node; empty: no element) only those elements count.
  [[nodiscard]] std::vector<Match> run(std::span<const Relevance> relevance = {});

  using Known = std::function<const hlo::Literal*(NodeIndex)>;
  struct Computed {
    hlo::Literal value;
    std::vector<NodeIndex> inside;  // the nodes that were computed
    Nearness nearness;              // that a right value has
  };
  // What `node` is, computed from the values of `known`; nullopt: it cannot be. `least`: a relative error that some of
  // these have.
  [[nodiscard]] std::optional<Computed> compute(NodeIndex node, Way way, const Known& known, double least = 0) const;
  [[nodiscard]] const TagIndex& index(NodeIndex node);
  // What is at a site is not the node, whatever it equals. False: that is known.
  bool rule_out(NodeIndex node, size_t site) { return elsewhere_.emplace(node, site).second; }

 private:
  void match(NodeIndex node, std::vector<Match>& matches, std::span<const Relevance> relevance);
  void look_for_unrounded(NodeIndex node, std::vector<Match>& matches, std::span<const Relevance> relevance);
  void match_root(size_t root, std::vector<Match>& matches, std::span<const Relevance> relevance);
  void match_tuple(const hlo::Literal& got, const std::optional<Computed>& computed, Match& mine) const;
  struct Sighting {
    std::vector<SeenAt> places;
    std::vector<uint8_t> seen;
    hlo::Literal got;
    int64_t relevant = 0, covered = 0;
  };
  [[nodiscard]] Sighting look(NodeIndex node, const hlo::Literal& value, const Nearness& nearness,
                              const Relevance* relevance);
  [[nodiscard]] static bool is_seen(const Sighting& sighting, bool all);
  [[nodiscard]] double relative_error(const std::vector<NodeIndex>& inside, hlo::ElementType type) const;
  [[nodiscard]] bool may_be_wide(NodeIndex node, const std::vector<NodeIndex>& inside,
                                 const std::vector<Match>& matches) const;
  // How a node may have been computed; Fused: with which product.
  struct Attempt {
    Way way = Way::AsWritten;
    std::optional<NodeIndex> product = std::nullopt;
  };
  [[nodiscard]] std::vector<Attempt> attempts(NodeIndex node) const;

  const MatchInput& in_;
  double tightness_;
  std::unordered_map<const std::vector<Tag>*, TagIndex> indexes_;
  std::set<std::pair<NodeIndex, size_t>> elsewhere_;
};

}  // namespace sapper::inspect
