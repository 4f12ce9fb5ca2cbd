#include "eval/mixed_precision.h"

#include <algorithm>

#include "hlo/rewriter.h"

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

bool is_mixed(const Computation& computation) {
  return std::any_of(
      computation.instructions.begin(), computation.instructions.end(),
      [&](const Instruction& instruction) { return common_type(computation, instruction) != ElementType::Invalid; });
}

Computation convert_explicitly(const Computation& computation) {
  hlo::Rewriter rewriter(computation);
  return rewriter.run([&](const Instruction& instruction) {
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
  if (std::none_of(module.computations.begin(), module.computations.end(), is_mixed)) return std::nullopt;
  Module explicit_module = module;
  for (Computation& computation : explicit_module.computations)
    if (is_mixed(computation)) computation = convert_explicitly(computation);
  return explicit_module;
}

}  // namespace sapper::eval
