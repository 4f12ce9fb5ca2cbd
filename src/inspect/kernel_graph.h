// The instructions of one kernel as one graph: fusions entered, calls and parameters resolved to the instructions that
// compute.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "eval/evaluator.h"
#include "hlo/module.h"

namespace sapper::inspect {

using NodeIndex = uint32_t;
constexpr NodeIndex kNoNode = UINT32_MAX;

struct Node {
  hlo::ComputationIndex computation = 0;
  hlo::InstructionIndex instruction = 0;
  const hlo::Instruction* it = nullptr;  // in the module
  std::vector<NodeIndex> operands;
  std::vector<NodeIndex> users;
  bool constant = false;  // depends on no parameter
};

// An instruction that stands for another: a fusion for its root, a parameter of a nested fusion for its operand.
struct Alias {
  hlo::ComputationIndex computation = 0;
  hlo::InstructionIndex instruction = 0;
  NodeIndex node = 0;
};

struct KernelGraph {
  std::vector<Node> nodes;  // in the order of execution
  std::vector<Alias> aliases;
  std::vector<NodeIndex> parameters;  // by number; kNoNode: not used
  std::vector<NodeIndex> roots;       // whose values are the kernel's results, in order
};

// `kernel` is a module whose entry computation is parameters (and scalar constants) and one instruction, the kernel
// (check::single_instruction_module); it must outlive the graph. Linear; nested fusions deeper than 1000 levels are an
// Unsupported error.
[[nodiscard]] Result<KernelGraph> graph_of(const hlo::Module& kernel);

// An element-by-element operation: element i of the result from the elements i of the operands.
[[nodiscard]] bool is_elementwise(const hlo::Instruction& instruction);

// By element numbers, row-major, of each node.
struct KeptElements {
  std::vector<bool> from_parameter;  // element i is made of element i of some parameter
  std::vector<bool> to_result;       // element i becomes element i of a result, in another type perhaps
};
[[nodiscard]] KeptElements kept_elements(const KernelGraph& graph);

// A float that may be kept in f32: its rounding can be left out.
[[nodiscard]] bool is_narrow_float(hlo::ElementType type);

// The values of all nodes as the reference evaluator has them, in the order of the nodes, each kept as it is computed
// while all others are dropped again. Those that would take more than `memory_bytes` together are left out (of an
// invalid shape), the results never. `beside_element`: bytes that each element takes besides its value. Errors:
// evaluate()'s.
[[nodiscard]] Result<std::vector<hlo::Literal>> expected_values(const hlo::Module& kernel, const KernelGraph& graph,
                                                                std::span<const hlo::Literal> operands,
                                                                eval::Options evaluation, int64_t memory_bytes,
                                                                int64_t beside_element = 0);

}  // namespace sapper::inspect
