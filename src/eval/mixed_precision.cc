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

// Operations that compute in their operands' types, whatever float type the result is stated to have: the type that the
// result has then, or Invalid where that is the stated one.
ElementType computed_type(const Module& module, const Computation& computation, const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::Gather:
    case Opcode::Reduce:
    case Opcode::ReduceWindow:
    case Opcode::Scatter:
    case Opcode::SelectAndScatter:
    case Opcode::Sort: break;
    default: return ElementType::Invalid;
  }
  const ElementType stated = instruction.shape.element_type();
  if (!hlo::is_float(stated)) return ElementType::Invalid;
  const Result<hlo::Shape> inferred = hlo::infer_shape(module, computation, instruction);
  return inferred && inferred->element_type() != stated ? inferred->element_type() : ElementType::Invalid;
}

bool is_mixed(const Module& module, const Computation& computation) {
  return std::any_of(computation.instructions.begin(), computation.instructions.end(),
                     [&](const Instruction& instruction) {
                       return common_type(computation, instruction) != ElementType::Invalid ||
                              computed_type(module, computation, instruction) != ElementType::Invalid;
                     });
}

Computation convert_explicitly(const Module& module, const Computation& computation) {
  hlo::Rewriter rewriter(computation);
  return rewriter.run([&](const Instruction& instruction) {
    if (const ElementType computed = computed_type(module, computation, instruction);
        computed != ElementType::Invalid) {
      Instruction before_convert = instruction;
      before_convert.shape = instruction.shape.with_element_type(computed);
      const InstructionIndex at = rewriter.copy(std::move(before_convert), rewriter.moved_operands(instruction));
      return rewriter.add(Opcode::Convert, instruction, instruction.shape.element_type(), {at});
    }
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

std::optional<Module> with_explicit_converts(const Module& module) {
  std::optional<Module> explicit_module;
  for (hlo::ComputationIndex c = 0; c < module.computations.size(); ++c) {
    const Computation& computation = module.computations[c];
    if (!is_mixed(module, computation)) continue;
    if (!explicit_module) explicit_module = module;
    explicit_module->computations[c] = convert_explicitly(module, computation);
  }
  return explicit_module;
}

}  // namespace sapper::eval
