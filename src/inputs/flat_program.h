// A module as one list of operations on arrays: calls, fusions and maps entered at each call site, tuples dissolved,
// loops and branches laid out. What walks over programs forward and backward needs no recursion on it.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "hlo/module.h"

namespace sapper::inputs {

using Node = uint32_t;  // position in FlatProgram::nodes
constexpr Node no_node = std::numeric_limits<Node>::max();

enum class Step : uint8_t {
  Operation,  // what its instruction says
  Join,       // any of its operands: the result of a conditional, the state after a loop
  LoopEntry,  // the state that a later iteration begins with: operands are the initial one, that after one iteration
              // and, where the loop runs while the state is less than a constant, that constant (of the condition,
              // it comes after the node), else no_node
  Unknown,    // depends on its operands in a way that is not looked into
};

struct FlatNode {
  const hlo::Instruction* instruction = nullptr;
  const hlo::Shape* shape = nullptr;  // of this leaf of the instruction's result
  hlo::ComputationIndex computation = 0;
  uint32_t first_operand = 0;
  uint32_t operand_count = 0;
  uint32_t leaf = 0;  // which leaf of the instruction's result
  Step step = Step::Operation;
};

struct FlatProgram {
  std::vector<FlatNode> nodes;   // operands come before their users, but for a LoopEntry's constant
  std::vector<Node> operands;    // of the nodes: leaves of the instruction's operands, one after the other
  std::vector<Node> parameters;  // leaves of the entry's parameters in their order
  [[nodiscard]] std::span<const Node> operands_of(const FlatNode& node) const {
    return std::span(operands).subspan(node.first_operand, node.operand_count);
  }
};

// A loop's body is laid out twice: the first iteration, and any later one. Called computations are entered as long as
// the whole stays within a small multiple of the module; further ones, and those nested too deep, are Unknown steps.
// `module` must outlive the result.
[[nodiscard]] FlatProgram flatten(const hlo::Module& module);

// The node whose elements a node's are, behind broadcasts, reshapes, copies and converts.
[[nodiscard]] Node behind_moves(const FlatProgram& program, Node node);

}  // namespace sapper::inputs
