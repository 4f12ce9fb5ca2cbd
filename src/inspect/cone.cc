#include "inspect/cone.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace sapper::inspect {
namespace {

using hlo::Computation;
using hlo::ComputationIndex;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Module;
using hlo::Opcode;

class ConeBuilder {
 public:
  ConeBuilder(const Module& kernel, const KernelGraph& graph,
              const std::function<const hlo::Literal*(NodeIndex)>& known)
      : kernel_(kernel), graph_(graph), known_(known) {
    cone_.module.name = "cone";
    cone_.module.config = kernel.config;
    entry_.name = "entry";
  }

  Cone build(NodeIndex node, bool wide_result) {
    cone_.inside = inside_of(node);
    for (const NodeIndex inner : cone_.inside)
      for (const NodeIndex operand : graph_.nodes[inner].operands)
        if (!std::ranges::binary_search(cone_.inside, operand)) add_parameter(operand);
    for (const NodeIndex inner : cone_.inside) add_copy(inner);
    entry_.root = place_.at(node);
    if (wide_result) entry_.root = add_convert(entry_.root, hlo::ElementType::F32);
    cone_.module.computations.push_back(std::move(entry_));
    cone_.module.entry = static_cast<ComputationIndex>(cone_.module.computations.size() - 1);
    return std::move(cone_);
  }

 private:
  // Sorted, which is the order of execution.
  [[nodiscard]] std::vector<NodeIndex> inside_of(NodeIndex node) const {
    std::vector<NodeIndex> inside{node};
    std::vector<NodeIndex> open{node};
    while (!open.empty()) {
      const NodeIndex next = open.back();
      open.pop_back();
      for (const NodeIndex operand : graph_.nodes[next].operands) {
        if (known_(operand) != nullptr || std::ranges::find(inside, operand) != inside.end()) continue;
        inside.push_back(operand);
        open.push_back(operand);
      }
    }
    std::ranges::sort(inside);
    return inside;
  }

  InstructionIndex append(Instruction instruction) {
    instruction.name = fmt::format("{}.{}", instruction.name, entry_.instructions.size());
    entry_.instructions.push_back(std::move(instruction));
    return static_cast<InstructionIndex>(entry_.instructions.size() - 1);
  }

  InstructionIndex add_convert(InstructionIndex from, hlo::ElementType type) {
    const hlo::Shape& shape = entry_.instructions[from].shape;
    Instruction convert{.opcode = Opcode::Convert, .name = "convert", .shape = shape.with_element_type(type)};
    convert.operands = {from};
    return append(std::move(convert));
  }

  void add_parameter(NodeIndex node) {
    if (place_.contains(node)) return;
    const hlo::Literal& value = *known_(node);
    const hlo::Shape& shape = graph_.nodes[node].it->shape;
    const bool widened = shape.is_array() && value.shape().element_type() != shape.element_type();
    Instruction parameter{.opcode = Opcode::Parameter, .name = "value"};
    parameter.shape = widened ? shape.with_element_type(value.shape().element_type()) : shape;
    parameter.parameter_number = static_cast<int64_t>(cone_.arguments.size());
    cone_.arguments.push_back(value);
    const InstructionIndex at = append(std::move(parameter));
    place_[node] = widened ? add_convert(at, shape.element_type()) : at;
  }

  void add_copy(NodeIndex node) {
    Instruction copy = *graph_.nodes[node].it;
    copy.operands.clear();
    for (const NodeIndex operand : graph_.nodes[node].operands) copy.operands.push_back(place_.at(operand));
    for (ComputationIndex& called : copy.called) called = computation(called);
    copy.id = -1;
    if (copy.attributes().control_predecessor_ids_size() > 0) copy.edit_attributes().clear_control_predecessor_ids();
    place_[node] = append(std::move(copy));
  }

  // The computation and those it calls, copied once.
  ComputationIndex computation(ComputationIndex index) {
    if (const auto done = moved_.find(index); done != moved_.end()) return done->second;
    Computation copy = kernel_.computations[index];
    for (Instruction& instruction : copy.instructions)
      for (ComputationIndex& called : instruction.called) called = computation(called);
    cone_.module.computations.push_back(std::move(copy));
    const auto place = static_cast<ComputationIndex>(cone_.module.computations.size() - 1);
    moved_[index] = place;
    return place;
  }

  const Module& kernel_;
  const KernelGraph& graph_;
  const std::function<const hlo::Literal*(NodeIndex)>& known_;
  Computation entry_;
  Cone cone_;
  std::unordered_map<NodeIndex, InstructionIndex> place_;
  std::unordered_map<ComputationIndex, ComputationIndex> moved_;
};

}  // namespace

Cone cone_of(const Module& kernel, const KernelGraph& graph, NodeIndex node, bool wide_result,
             const std::function<const hlo::Literal*(NodeIndex)>& known) {
  return ConeBuilder(kernel, graph, known).build(node, wide_result);
}

}  // namespace sapper::inspect
