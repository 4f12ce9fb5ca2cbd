// Frames come in the order of the instructions, once for each piece of the arrays. Each is given to the next
// instruction that it fits: as many operands, constants where constants are, and values that stand for the same
// instruction wherever they stand in one piece.
#include "inspect/sightings.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace sapper::inspect {
namespace {

using llo::Frame;
using llo::FrameValue;

// The value that stands for a node, and in which piece it does.
struct Binding {
  int64_t piece = -1;
  FrameValue value;
};

class Matcher {
 public:
  Matcher(const KernelGraph& graph, const std::vector<std::optional<uint32_t>>& uniform)
      : graph_(graph), uniform_(uniform), bound_(graph.nodes.size()) {
    for (NodeIndex node = 0; node < graph.nodes.size(); ++node)
      if (is_elementwise(*graph.nodes[node].it) && graph.nodes[node].it->shape.is_array()) order_.push_back(node);
    for (NodeIndex node = 0; node < graph.nodes.size(); ++node)
      if (!graph.nodes[node].it->called.empty()) reductions_.push_back(node);
    applied_in_.resize(graph.nodes.size(), kNoNode);
    for (NodeIndex node = static_cast<NodeIndex>(graph.nodes.size()); node-- > 0;)
      for (const NodeIndex user : graph.nodes[node].users) {
        if (!graph.nodes[user].it->called.empty()) applied_in_[node] = user;
        if (moves_only(*graph.nodes[user].it) && applied_in_[user] != kNoNode) applied_in_[node] = applied_in_[user];
      }
  }

  Sightings run(const std::vector<Frame>& frames) {
    for (const Frame& frame : frames) {
      const NodeIndex reduction = reduction_of(frame);
      if (reduction != kNoNode && !continues_piece(frame)) {
        take_reduction(frame, reduction);
      } else if (const auto place = next_place(frame)) {
        take(frame, *place);
      } else if (reductions_.size() == 1) {
        take_reduction(frame, reductions_.front());
      } else {
        ++found_.unmatched;
      }
    }
    found_.groups = static_cast<uint32_t>(groups_.size());
    return std::move(found_);
  }

 private:
  static bool moves_only(const hlo::Instruction& instruction) {
    return instruction.opcode == hlo::Opcode::Bitcast || instruction.opcode == hlo::Opcode::Copy ||
           instruction.opcode == hlo::Opcode::Reshape || instruction.opcode == hlo::Opcode::Transpose;
  }

  // The computation that a reduction applies has frames too: of its operands' values, or of what was reduced so far.
  [[nodiscard]] NodeIndex reduction_of(const Frame& frame) const {
    for (const FrameValue& operand : frame.operands)
      if (operand.number)
        if (const auto reduced = reduced_.find(*operand.number); reduced != reduced_.end()) return reduced->second;
    return kNoNode;
  }

  // Whether `frame` is of an instruction that takes what was computed before in this piece.
  [[nodiscard]] bool continues_piece(const Frame& frame) const {
    const auto place = place_in(frame, next_, order_.size(), piece_, {Fit::Exact, Fit::Reloaded});
    if (!place) return false;
    return std::ranges::any_of(graph_.nodes[order_[*place]].operands, [this](NodeIndex operand) {
      return is_elementwise(*graph_.nodes[operand].it) && !uniform_[operand];
    });
  }

  // How much may be amiss where a frame is laid over an instruction.
  enum class Fit {
    Exact,     // each operand is the value that stands for it in this piece
    Reloaded,  // what has no frame of its own (parameters, broadcasts) may come in another value each time
    Loose,     // what has one may have lost it
  };

  // The position in order_ that `frame` is of: behind the last one if there is one, else of another piece.
  std::optional<size_t> next_place(const Frame& frame) {
    if (auto place = place_in(frame, next_, order_.size(), piece_, {Fit::Exact, Fit::Reloaded})) return place;
    auto place = place_in(frame, 0, next_, piece_ + 1, {Fit::Exact, Fit::Reloaded});
    if (!place) {
      if (auto loose = place_in(frame, next_, order_.size(), piece_, {Fit::Loose})) return loose;
      place = place_in(frame, 0, next_, piece_ + 1, {Fit::Loose});
    }
    if (place) ++piece_;
    return place;
  }

  [[nodiscard]] std::optional<size_t> place_in(const Frame& frame, size_t first, size_t end, int64_t piece,
                                               std::initializer_list<Fit> ways) const {
    for (const Fit fit : ways)
      for (size_t i = first; i < end; ++i)
        if (fits(frame, order_[i], piece, fit)) return i;
    return std::nullopt;
  }

  [[nodiscard]] bool fits(const Frame& frame, NodeIndex node, int64_t piece, Fit fit) const {
    const std::vector<NodeIndex>& operands = graph_.nodes[node].operands;
    if (operands.size() != frame.operands.size()) return false;
    if (contradicts(frame.operation, graph_.nodes[node].it->opcode)) return false;
    if (frame.mask && graph_.nodes[node].it->shape.element_type() != hlo::ElementType::Pred) return false;
    for (size_t k = 0; k < operands.size(); ++k) {
      if (!may_be(frame.operands[k], operands[k], piece, fit)) return false;
      for (size_t j = 0; j < k; ++j)
        if (operands[j] == operands[k] && frame.operands[j] != frame.operands[k]) return false;
    }
    return true;
  }

  // Some operations are one instruction, which other ones are not.
  static bool contradicts(llo::FrameOperation operation, hlo::Opcode opcode) {
    constexpr std::pair<hlo::Opcode, llo::FrameOperation> plain[] = {
        {hlo::Opcode::Add, llo::FrameOperation::Add},           {hlo::Opcode::Subtract, llo::FrameOperation::Subtract},
        {hlo::Opcode::Multiply, llo::FrameOperation::Multiply}, {hlo::Opcode::Maximum, llo::FrameOperation::Maximum},
        {hlo::Opcode::Minimum, llo::FrameOperation::Minimum},   {hlo::Opcode::Select, llo::FrameOperation::Select}};
    if (operation == llo::FrameOperation::Unknown) return false;
    const auto* const found = std::ranges::find(plain, opcode, &std::pair<hlo::Opcode, llo::FrameOperation>::first);
    return found != std::end(plain) && found->second != operation;
  }

  [[nodiscard]] bool may_be(const FrameValue& value, NodeIndex node, int64_t piece, Fit fit) const {
    if (uniform_[node]) return value.number.has_value() || value.bits == *uniform_[node];
    const bool computed = is_elementwise(*graph_.nodes[node].it);
    if (!computed && !value.number && !may_be_constant_in_part(*graph_.nodes[node].it)) return false;
    const Binding& bound = bound_[node];
    if (bound.piece == piece) return bound.value == value || (!computed && fit != Fit::Exact);
    if (!computed || fit == Fit::Loose) return true;
    return value.number.has_value() && bound.piece >= 0 && bound.value == value;
  }

  // Where its padding is, for instance.
  static bool may_be_constant_in_part(const hlo::Instruction& instruction) {
    return instruction.opcode != hlo::Opcode::Parameter && instruction.opcode != hlo::Opcode::Broadcast;
  }

  void take_reduction(const Frame& frame, NodeIndex reduction) {
    if (frame.result.number) reduced_[*frame.result.number] = reduction;
    found_.code.push_back({frame.first, frame.end, reduction});
  }

  void take(const Frame& frame, size_t place) {
    const NodeIndex node = order_[place];
    next_ = place + 1;
    const std::vector<NodeIndex>& operands = graph_.nodes[node].operands;
    for (size_t k = 0; k < operands.size(); ++k) {
      bound_[operands[k]] = {piece_, frame.operands[k]};
      if (graph_.nodes[operands[k]].it->shape.same_dimensions(graph_.nodes[node].it->shape))
        see(frame.operands[k].number, operands[k], false);
    }
    bound_[node] = {piece_, frame.result};
    if (applied_in_[node] != kNoNode && frame.result.number) reduced_[*frame.result.number] = applied_in_[node];
    see(frame.result.number, node, false);
    see(frame.mask, node, true);
    found_.code.push_back({frame.first, frame.end, node});
  }

  void see(std::optional<uint32_t> number, NodeIndex node, bool mask) {
    if (!number) return;
    const Sighting sighting{*number, node, group_of(node), mask};
    auto& last = latest_[{*number, node}];
    if (last && *last == sighting) return;
    last = sighting;
    found_.all.push_back(sighting);
  }

  uint32_t group_of(NodeIndex node) {
    const hlo::Shape& shape = graph_.nodes[node].it->shape;
    const std::vector<int64_t> order =
        shape.layout() == nullptr ? std::vector<int64_t>() : shape.layout()->minor_to_major;
    const auto fresh = static_cast<uint32_t>(groups_.size());
    return groups_.try_emplace({piece_, shape.dimensions(), order}, fresh).first->second;
  }

  const KernelGraph& graph_;
  const std::vector<std::optional<uint32_t>>& uniform_;
  std::vector<NodeIndex> order_;  // instructions that have frames
  std::vector<Binding> bound_;
  std::vector<NodeIndex> reductions_;  // and whatever else applies a computation
  std::vector<NodeIndex> applied_in_;  // of each node: the reduction or the like that takes its values one by one
  std::unordered_map<uint32_t, NodeIndex> reduced_;  // values that are reduced, or are in part
  std::map<std::pair<uint32_t, NodeIndex>, std::optional<Sighting>> latest_;
  std::map<std::tuple<int64_t, std::vector<int64_t>, std::vector<int64_t>>, uint32_t> groups_;
  size_t next_ = 0;
  int64_t piece_ = 0;
  Sightings found_;
};

}  // namespace

Sightings find_sightings(const KernelGraph& graph, const std::vector<Frame>& frames,
                         const std::vector<std::optional<uint32_t>>& uniform) {
  return Matcher(graph, uniform).run(frames);
}

}  // namespace sapper::inspect
