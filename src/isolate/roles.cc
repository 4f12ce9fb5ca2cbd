#include "isolate/roles.h"

#include <algorithm>
#include <array>
#include <utility>

namespace sapper::isolate {
namespace {

using hlo::Instruction;
using hlo::Opcode;

constexpr std::string_view host = "exchanges data with the host or other programs";
constexpr std::string_view callback = "calls back into the program that compiled it";
constexpr std::string_view state = "keeps state between runs";

// Custom calls that are not Role::Heavy.
constexpr std::array custom_calls = {
    std::pair{std::string_view("Sharding"), Role::Collective},
    std::pair{std::string_view("SPMDFullToShardShape"), Role::Collective},
    std::pair{std::string_view("SPMDShardToFullShape"), Role::Collective},
    std::pair{std::string_view("xla.sdy.FuncResultSharding"), Role::Collective},
    std::pair{std::string_view("annotate_device_placement"), Role::Collective},
    std::pair{std::string_view("MoveToHost"), Role::Collective},
    std::pair{std::string_view("MoveToDevice"), Role::Collective},
    std::pair{std::string_view("AllocateBuffer"), Role::Nothing},
    std::pair{std::string_view("ConcatBitcast"), Role::Nothing},
    std::pair{std::string_view("AssumeGatherIndicesInBound"), Role::Nothing},
};

bool is_callback(const Instruction& instruction) {
  return instruction.attributes().custom_call_target().find("callback") != std::string::npos;
}

Role role_of_custom_call(const Instruction& instruction) {
  const std::string& target = instruction.attributes().custom_call_target();
  for (const auto& [name, role] : custom_calls)
    if (target == name) return role;
  return is_callback(instruction) ? Role::Outside : Role::Heavy;
}

Kind kind_of_custom_call(const Instruction& instruction) {
  return instruction.attributes().custom_call_target() == "TopK" ? Kind::Ordering : Kind::Custom;
}

}  // namespace

bool is_start(Opcode opcode) {
  switch (opcode) {
    case Opcode::AllGatherStart:
    case Opcode::AllReduceStart:
    case Opcode::AsyncStart:
    case Opcode::AsyncUpdate:
    case Opcode::CollectivePermuteStart:
    case Opcode::CopyStart: return true;
    default: return false;
  }
}

bool is_done(Opcode opcode) {
  switch (opcode) {
    case Opcode::AllGatherDone:
    case Opcode::AllReduceDone:
    case Opcode::AsyncDone:
    case Opcode::CollectivePermuteDone:
    case Opcode::CopyDone: return true;
    default: return false;
  }
}

bool runs_called(Opcode opcode) {
  return opcode == Opcode::While || opcode == Opcode::Conditional || opcode == Opcode::Call ||
         opcode == Opcode::AsyncStart;
}

Role role_of(const hlo::Computation& computation, const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::AddDependency:
    case Opcode::AfterAll:
    case Opcode::AsyncDone:
    case Opcode::AsyncStart:
    case Opcode::AsyncUpdate:
    case Opcode::Bitcast:
    case Opcode::Constant:
    case Opcode::CopyDone:
    case Opcode::CopyStart:
    case Opcode::Domain:
    case Opcode::GetTupleElement:
    case Opcode::OptBarrier:
    case Opcode::Parameter:
    case Opcode::Tuple: return Role::Nothing;
    case Opcode::Call:
    case Opcode::Conditional:
    case Opcode::While: return Role::Control;
    case Opcode::AllGather:
    case Opcode::AllGatherDone:
    case Opcode::AllGatherStart:
    case Opcode::AllReduce:
    case Opcode::AllReduceDone:
    case Opcode::AllReduceStart:
    case Opcode::AllToAll:
    case Opcode::CollectiveBroadcast:
    case Opcode::CollectivePermute:
    case Opcode::CollectivePermuteDone:
    case Opcode::CollectivePermuteStart:
    case Opcode::PartitionId:
    case Opcode::RaggedAllToAll:
    case Opcode::ReduceScatter:
    case Opcode::ReplicaId: return Role::Collective;
    case Opcode::Infeed:
    case Opcode::Outfeed:
    case Opcode::Recv:
    case Opcode::RecvDone:
    case Opcode::RngGetAndUpdateState:
    case Opcode::Send:
    case Opcode::SendDone: return Role::Outside;
    case Opcode::CustomCall: return role_of_custom_call(instruction);
    case Opcode::Fusion: return Role::Heavy;
    case Opcode::Copy: {
      const hlo::Shape& from = computation.instructions[instruction.operands[0]].shape;
      return same_but_for_memory_space(from, instruction.shape) ? Role::Nothing : Role::Light;
    }
    default: break;
  }
  const Kind kind = kind_of(instruction);
  return kind == Kind::Elementwise || kind == Kind::Movement ? Role::Light : Role::Heavy;
}

std::string_view outside_reason(const Instruction& instruction) {
  if (instruction.opcode == Opcode::RngGetAndUpdateState) return state;
  return instruction.opcode == Opcode::CustomCall && is_callback(instruction) ? callback : host;
}

Kind kind_of(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::Bitcast:
    case Opcode::Broadcast:
    case Opcode::Concatenate:
    case Opcode::Constant:
    case Opcode::Copy:
    case Opcode::DynamicReshape:
    case Opcode::DynamicSlice:
    case Opcode::DynamicUpdateSlice:
    case Opcode::GetDimensionSize:
    case Opcode::GetTupleElement:
    case Opcode::Iota:
    case Opcode::Pad:
    case Opcode::Parameter:
    case Opcode::Reshape:
    case Opcode::Reverse:
    case Opcode::SetDimensionSize:
    case Opcode::Slice:
    case Opcode::Transpose:
    case Opcode::Tuple: return Kind::Movement;
    case Opcode::Gather:
    case Opcode::Scatter: return Kind::Indexing;
    case Opcode::BatchNormGrad:
    case Opcode::BatchNormInference:
    case Opcode::BatchNormTraining:
    case Opcode::Reduce:
    case Opcode::ReduceWindow:
    case Opcode::Scan:
    case Opcode::SelectAndScatter: return Kind::Reduction;
    case Opcode::Sort:
    case Opcode::Topk: return Kind::Ordering;
    case Opcode::Rng:
    case Opcode::RngBitGenerator:
    case Opcode::StochasticConvert: return Kind::Random;
    case Opcode::Cholesky:
    case Opcode::Fft:
    case Opcode::TriangularSolve: return Kind::LinearAlgebra;
    case Opcode::Dot:
    case Opcode::RaggedDot:
    case Opcode::ScaledDot: return Kind::Matmul;
    case Opcode::Convolution:  // without a window it is what TPU compilers make of a dot
      return instruction.attributes().window().dimensions().empty() ? Kind::Matmul : Kind::Convolution;
    case Opcode::CustomCall: return kind_of_custom_call(instruction);
    case Opcode::Call:
    case Opcode::Conditional:
    case Opcode::While: return Kind::Control;
    case Opcode::Fusion:  // says nothing of itself: what it calls does
    default: return Kind::Elementwise;
  }
}

bool is_commutative(const hlo::Computation& computation, const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::Add:
    case Opcode::And:
    case Opcode::Maximum:
    case Opcode::Minimum:
    case Opcode::Mulhi:
    case Opcode::Multiply:
    case Opcode::Or:
    case Opcode::Xor: {
      const auto& operands = instruction.operands;
      return operands.size() == 2 && same_but_for_memory_space(computation.instructions[operands[0]].shape,
                                                               computation.instructions[operands[1]].shape);
    }
    default: return false;
  }
}

hlo::Shape in_default_memory(const hlo::Shape& shape) {
  if (shape.is_tuple()) {
    std::vector<hlo::Shape> elements;
    for (const hlo::Shape& element : shape.elements()) elements.push_back(in_default_memory(element));
    return hlo::Shape::tuple(std::move(elements));
  }
  if (!shape.is_array() || shape.layout() == nullptr || shape.layout()->memory_space == 0) return shape;
  hlo::Layout layout = *shape.layout();
  layout.memory_space = 0;
  return shape.with_layout(std::make_shared<const hlo::Layout>(std::move(layout)));
}

bool same_but_for_memory_space(const hlo::Shape& a, const hlo::Shape& b) {
  return a == b || (a.same_ignoring_layout(b) && in_default_memory(a) == in_default_memory(b));
}

}  // namespace sapper::isolate
