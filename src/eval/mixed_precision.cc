#include "eval/mixed_precision.h"

#include <algorithm>

#include "hlo/rewriter.h"
#include "hlo/verifier.h"

namespace sapper::eval {
namespace {

using hlo::Computation;
using hlo::ElementType;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Module;
using hlo::Opcode;

// Operations whose float operands and float result all have one type in plain HLO.
bool keeps_type(Opcode opcode) {
  switch (opcode) {
    case Opcode::Abs:
    case Opcode::Add:
    case Opcode::Atan2:
    case Opcode::Broadcast:
    case Opcode::Cbrt:
    case Opcode::Ceil:
    case Opcode::Clamp:
    case Opcode::Compare:
    case Opcode::Concatenate:
    case Opcode::Copy:
    case Opcode::Cosine:
    case Opcode::Divide:
    case Opcode::DynamicSlice:
    case Opcode::DynamicUpdateSlice:
    case Opcode::Erf:
    case Opcode::Exponential:
    case Opcode::ExponentialMinusOne:
    case Opcode::Floor:
    case Opcode::Log:
    case Opcode::LogPlusOne:
    case Opcode::Logistic:
    case Opcode::Maximum:
    case Opcode::Minimum:
    case Opcode::Multiply:
    case Opcode::Negate:
    case Opcode::Pad:
    case Opcode::Power:
    case Opcode::ReducePrecision:
    case Opcode::Remainder:
    case Opcode::Reshape:
    case Opcode::Reverse:
    case Opcode::RoundNearestAfz:
    case Opcode::RoundNearestEven:
    case Opcode::Rsqrt:
    case Opcode::Select:
    case Opcode::Sign:
    case Opcode::Sine:
    case Opcode::Slice:
    case Opcode::Sqrt:
    case Opcode::Subtract:
    case Opcode::Tan:
    case Opcode::Tanh:
    case Opcode::Transpose: return true;
    default: return false;
  }
}

// The type to compute in when float types are mixed; Invalid when they are not.
ElementType common_type(const Computation& computation, const Instruction& instruction) {
  if (!keeps_type(instruction.opcode)) return ElementType::Invalid;
  ElementType widest = ElementType::Invalid;
  bool mixed = false;
  const auto see = [&](ElementType type) {
    if (!hlo::is_float(type)) return;
    mixed = mixed || (widest != ElementType::Invalid && type != widest);
    if (widest == ElementType::Invalid || hlo::bit_width(type) > hlo::bit_width(widest)) widest = type;
  };
  see(instruction.shape.element_type());
  for (const InstructionIndex operand : instruction.operands)
    see(computation.instructions[operand].shape.element_type());
  if (!mixed) return ElementType::Invalid;
  // f16 with bf16, or two f8 formats: neither holds the other.
  return hlo::bit_width(widest) < 32 ? ElementType::F32 : widest;
}

// Operations that compute in their operands' types, whatever float types the result is stated to have: the shape that
// the result has then; nullopt where that is the stated one.
std::optional<hlo::Shape> computed_shape(const Module& module, const Computation& computation,
                                         const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::Gather:
    case Opcode::Reduce:
    case Opcode::ReduceWindow:
    case Opcode::Scatter:
    case Opcode::SelectAndScatter:
    case Opcode::Sort: break;
    default: return std::nullopt;
  }
  const Result<hlo::Shape> inferred = hlo::infer_shape(module, computation, instruction);
  if (!inferred || inferred->same_ignoring_layout(instruction.shape.without_layout())) return std::nullopt;
  return *inferred;
}

bool is_covered(const Substitute& substitute, const Computation& computation, const Instruction& instruction) {
  return substitute.covers && substitute.covers(computation, instruction);
}

bool is_mixed(const Module& module, const Computation& computation, const Substitute& substitute) {
  return std::any_of(computation.instructions.begin(), computation.instructions.end(),
                     [&](const Instruction& instruction) {
                       if (is_covered(substitute, computation, instruction)) return false;
                       return common_type(computation, instruction) != ElementType::Invalid ||
                              computed_shape(module, computation, instruction).has_value();
                     });
}

// `instruction` with a result of shape `computed`, and that converted to the shape that it states.
InstructionIndex add_converted(hlo::Rewriter& rewriter, const Instruction& instruction, const hlo::Shape& computed) {
  Instruction before = instruction;
  before.shape = computed;
  const InstructionIndex result = rewriter.copy(std::move(before), rewriter.moved_operands(instruction));
  const auto convert = [&](const hlo::Shape& from, const hlo::Shape& to, InstructionIndex at) {
    if (from.element_type() == to.element_type()) return at;
    Instruction made;
    made.opcode = Opcode::Convert;
    made.name = instruction.name;
    made.shape = to;
    return rewriter.copy(std::move(made), {at});
  };
  if (!computed.is_tuple()) return convert(computed, instruction.shape, result);
  std::vector<InstructionIndex> elements;
  for (size_t k = 0; k < computed.elements().size(); ++k) {
    Instruction element;
    element.opcode = Opcode::GetTupleElement;
    element.name = instruction.name;
    element.shape = computed.elements()[k];
    element.tuple_index = static_cast<int64_t>(k);
    const InstructionIndex at = rewriter.copy(std::move(element), {result});
    elements.push_back(convert(computed.elements()[k], instruction.shape.elements()[k], at));
  }
  Instruction tuple;
  tuple.opcode = Opcode::Tuple;
  tuple.name = instruction.name;
  tuple.shape = instruction.shape;
  return rewriter.copy(std::move(tuple), std::move(elements));
}

Computation convert_explicitly(const Module& module, const Computation& computation, const Substitute& substitute) {
  hlo::Rewriter rewriter(computation);
  return rewriter.run([&](const Instruction& instruction) {
    if (is_covered(substitute, computation, instruction))
      return rewriter.copy(instruction, rewriter.moved_operands(instruction));
    if (const auto computed = computed_shape(module, computation, instruction))
      return add_converted(rewriter, instruction, *computed);
    const ElementType type = common_type(computation, instruction);
    if (type == ElementType::Invalid) return rewriter.copy(instruction, rewriter.moved_operands(instruction));
    const auto needs_convert = [&](ElementType other) { return hlo::is_float(other) && other != type; };
    std::vector<InstructionIndex> operands;
    for (const InstructionIndex operand : instruction.operands) {
      const Instruction& source = computation.instructions[operand];
      const InstructionIndex at = rewriter.moved(operand);
      operands.push_back(needs_convert(source.shape.element_type()) ? rewriter.add(Opcode::Convert, source, type, {at})
                                                                    : at);
    }
    if (!needs_convert(instruction.shape.element_type())) return rewriter.copy(instruction, std::move(operands));
    Instruction wide = instruction;
    wide.shape = instruction.shape.with_element_type(type);
    const InstructionIndex computed = rewriter.copy(std::move(wide), std::move(operands));
    return rewriter.add(Opcode::Convert, instruction, instruction.shape.element_type(), {computed});
  });
}

}  // namespace

std::optional<Module> with_explicit_converts(const Module& module, const Substitute& substitute) {
  std::optional<Module> explicit_module;
  for (hlo::ComputationIndex c = 0; c < module.computations.size(); ++c) {
    const Computation& computation = module.computations[c];
    if (!is_mixed(module, computation, substitute)) continue;
    if (!explicit_module) explicit_module = module;
    explicit_module->computations[c] = convert_explicitly(module, computation, substitute);
  }
  return explicit_module;
}

}  // namespace sapper::eval
