#include "inspect/kernel_graph.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/assert.h"

namespace sapper::inspect {
namespace {

using hlo::Computation;
using hlo::ComputationIndex;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Literal;
using hlo::Module;
using hlo::Opcode;

constexpr int kDeepest = 1000;

class GraphBuilder {
 public:
  explicit GraphBuilder(const Module& module) : module_(module) {}

  Result<KernelGraph> build() {
    const Computation& entry = module_.entry_computation();
    const Instruction& root = entry.root_instruction();
    graph_.parameters.assign(root.operands.size(), kNoNode);
    std::vector<NodeIndex> of(entry.instructions.size(), kNoNode);
    if (root.opcode == Opcode::Fusion) {
      SAPPER_TRY(const NodeIndex node, enter(root.called[0], nullptr, 0));
      graph_.aliases.push_back({module_.entry, entry.root, node});
    } else {
      for (InstructionIndex i = 0; i < entry.instructions.size(); ++i) {
        const Instruction& instruction = entry.instructions[i];
        of[i] = add(module_.entry, i, operands_of(instruction, of));
        if (instruction.opcode == Opcode::Parameter)
          graph_.parameters[static_cast<size_t>(instruction.parameter_number)] = of[i];
      }
    }
    collect_roots(static_cast<NodeIndex>(root.opcode == Opcode::Fusion ? graph_.aliases.back().node : of[entry.root]));
    for (NodeIndex node = 0; node < graph_.nodes.size(); ++node)
      for (const NodeIndex operand : graph_.nodes[node].operands) graph_.nodes[operand].users.push_back(node);
    return std::move(graph_);
  }

 private:
  static std::vector<NodeIndex> operands_of(const Instruction& instruction, const std::vector<NodeIndex>& of) {
    std::vector<NodeIndex> operands;
    for (const InstructionIndex operand : instruction.operands) operands.push_back(of[operand]);
    return operands;
  }

  NodeIndex add(ComputationIndex computation, InstructionIndex instruction, std::vector<NodeIndex> operands) {
    const Instruction& it = module_.computations[computation].instructions[instruction];
    bool constant = it.opcode != Opcode::Parameter;
    for (const NodeIndex operand : operands) constant = constant && graph_.nodes[operand].constant;
    graph_.nodes.push_back({computation, instruction, &it, std::move(operands), {}, constant});
    return static_cast<NodeIndex>(graph_.nodes.size() - 1);
  }

  // The body of a fusion; `arguments` null: of the kernel itself. Its root.
  Result<NodeIndex> enter(ComputationIndex index, const std::vector<NodeIndex>* arguments, int depth) {
    if (depth > kDeepest) return fail(ErrorKind::Unsupported, "fusions are nested more than {} levels deep", kDeepest);
    const Computation& computation = module_.computations[index];
    std::vector<NodeIndex> of(computation.instructions.size(), kNoNode);
    for (InstructionIndex i = 0; i < computation.instructions.size(); ++i) {
      const Instruction& instruction = computation.instructions[i];
      const auto number = static_cast<size_t>(instruction.parameter_number);
      if (instruction.opcode == Opcode::Parameter && arguments != nullptr) {
        of[i] = (*arguments)[number];
        graph_.aliases.push_back({index, i, of[i]});
      } else if (instruction.opcode == Opcode::Parameter) {
        of[i] = graph_.parameters[number] = add(index, i, {});
      } else if (instruction.opcode == Opcode::Fusion) {
        const std::vector<NodeIndex> operands = operands_of(instruction, of);
        SAPPER_TRY(of[i], enter(instruction.called[0], &operands, depth + 1));
        graph_.aliases.push_back({index, i, of[i]});
      } else if (instruction.opcode == Opcode::GetTupleElement &&
                 graph_.nodes[of[instruction.operands[0]]].it->opcode == Opcode::Tuple) {
        of[i] = graph_.nodes[of[instruction.operands[0]]].operands[static_cast<size_t>(instruction.tuple_index)];
        graph_.aliases.push_back({index, i, of[i]});
      } else {
        of[i] = add(index, i, operands_of(instruction, of));
      }
    }
    return of[computation.root];
  }

  void collect_roots(NodeIndex root) {
    std::vector<NodeIndex> open{root};
    while (!open.empty()) {
      const NodeIndex node = open.back();
      open.pop_back();
      if (graph_.nodes[node].it->opcode != Opcode::Tuple) {
        graph_.roots.push_back(node);
        continue;
      }
      const std::vector<NodeIndex>& elements = graph_.nodes[node].operands;
      open.insert(open.end(), elements.rbegin(), elements.rend());
    }
  }

  const Module& module_;
  KernelGraph graph_;
};

}  // namespace

Result<KernelGraph> graph_of(const Module& kernel) { return GraphBuilder(kernel).build(); }

bool is_narrow_float(hlo::ElementType type) { return hlo::is_float(type) && hlo::bit_width(type) < 32; }

bool is_elementwise(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::Abs:
    case Opcode::Acos:
    case Opcode::Acosh:
    case Opcode::Add:
    case Opcode::And:
    case Opcode::Asin:
    case Opcode::Asinh:
    case Opcode::Atan2:
    case Opcode::Atanh:
    case Opcode::BitcastConvert:  // of one width: others change the rank, which nobody takes for a lane
    case Opcode::Cbrt:
    case Opcode::Ceil:
    case Opcode::Clamp:
    case Opcode::Compare:
    case Opcode::Convert:
    case Opcode::Cosh:
    case Opcode::Cosine:
    case Opcode::CountLeadingZeros:
    case Opcode::Divide:
    case Opcode::Erf:
    case Opcode::Exponential:
    case Opcode::ExponentialMinusOne:
    case Opcode::Floor:
    case Opcode::IsFinite:
    case Opcode::Log:
    case Opcode::LogPlusOne:
    case Opcode::Logistic:
    case Opcode::Maximum:
    case Opcode::Minimum:
    case Opcode::Mulhi:
    case Opcode::Multiply:
    case Opcode::Negate:
    case Opcode::Not:
    case Opcode::Or:
    case Opcode::Popcnt:
    case Opcode::Power:
    case Opcode::ReducePrecision:
    case Opcode::Remainder:
    case Opcode::RoundNearestAfz:
    case Opcode::RoundNearestEven:
    case Opcode::Rsqrt:
    case Opcode::Select:
    case Opcode::ShiftLeft:
    case Opcode::ShiftRightArithmetic:
    case Opcode::ShiftRightLogical:
    case Opcode::Sign:
    case Opcode::Sine:
    case Opcode::Sinh:
    case Opcode::Sqrt:
    case Opcode::Subtract:
    case Opcode::Tan:
    case Opcode::Tanh:
    case Opcode::Xor: return true;
    default: return false;
  }
}

namespace {

bool is_row_major(const hlo::Shape& shape) {
  return shape.layout() == nullptr ||
         shape.layout()->minor_to_major == hlo::Layout::descending(shape.rank()).minor_to_major;
}

// Whether element i of `node` is element i of `operand`, or is made of it.
enum class Kept { No, Itself, Made };
Kept kept_in(const Instruction& node, const Instruction& operand) {
  if (!node.shape.is_array() || !operand.shape.is_array()) return Kept::No;
  if (node.shape.element_count() != operand.shape.element_count()) return Kept::No;
  switch (node.opcode) {
    case Opcode::Bitcast: return is_row_major(node.shape) && is_row_major(operand.shape) ? Kept::Itself : Kept::No;
    case Opcode::Convert:
    case Opcode::Copy:
    case Opcode::Reshape: return Kept::Itself;
    default: return is_elementwise(node) ? Kept::Made : Kept::No;
  }
}

}  // namespace

KeptElements kept_elements(const KernelGraph& graph) {
  const size_t count = graph.nodes.size();
  KeptElements kept{std::vector<bool>(count), std::vector<bool>(count)};
  for (const NodeIndex parameter : graph.parameters)
    if (parameter != kNoNode) kept.from_parameter[parameter] = true;
  for (const NodeIndex root : graph.roots) kept.to_result[root] = true;
  for (NodeIndex node = 0; node < count; ++node)
    for (const NodeIndex operand : graph.nodes[node].operands)
      if (kept.from_parameter[operand] && kept_in(*graph.nodes[node].it, *graph.nodes[operand].it) != Kept::No)
        kept.from_parameter[node] = true;
  for (auto node = static_cast<NodeIndex>(count); node-- > 0;)
    for (const NodeIndex operand : graph.nodes[node].operands)
      if (kept.to_result[node] && kept_in(*graph.nodes[node].it, *graph.nodes[operand].it) == Kept::Itself)
        kept.to_result[operand] = true;
  return kept;
}

Result<std::vector<Literal>> expected_values(const Module& kernel, const KernelGraph& graph,
                                             std::span<const Literal> operands, eval::Options evaluation,
                                             int64_t memory_bytes, int64_t beside_element) {
  std::map<std::pair<std::string_view, std::string_view>, NodeIndex> node_of;
  for (NodeIndex i = 0; i < graph.nodes.size(); ++i)
    node_of[{kernel.computations[graph.nodes[i].computation].name, graph.nodes[i].it->name}] = i;
  std::vector<Literal> values(graph.nodes.size());
  int64_t room = memory_bytes;
  const auto keep = [&](NodeIndex node, const Literal& value) {
    if (!value.shape().same_ignoring_layout(graph.nodes[node].it->shape)) return;  // before a convert of mixed types
    if (!values[node].shape().is_valid() && std::ranges::find(graph.roots, node) == graph.roots.end()) {
      const int64_t elements = value.shape().is_array() ? value.shape().element_count() : 0;
      const int64_t bytes = value.shape().host_byte_size() + elements * beside_element;
      if (bytes > room) return;
      room -= bytes;
    }
    values[node] = value;
  };
  for (size_t k = 0; k < operands.size() && k < graph.parameters.size(); ++k)
    if (graph.parameters[k] != kNoNode) keep(graph.parameters[k], operands[k]);
  evaluation.trace = [&](const Computation& computation, const Instruction& instruction, const Literal& value) {
    const auto place = node_of.find({computation.name, instruction.name});
    if (place != node_of.end()) keep(place->second, value);
  };
  SAPPER_TRY(const Literal result, eval::evaluate(kernel, operands, evaluation));
  if (graph.roots.size() == 1) keep(graph.roots[0], result);  // also one that converts, which is traced in two steps
  return values;
}

}  // namespace sapper::inspect
