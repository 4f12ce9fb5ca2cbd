#include "tests/inputs/unintended.h"

#include <cmath>

namespace sapper::inputs {
namespace {

using hlo::Computation;
using hlo::ElementType;
using hlo::Instruction;
using hlo::Literal;
using hlo::Opcode;

struct Kinds {
  bool infinity = false, nan = false;
};

// Of a format with infinities: exponent bits all ones.
template <class Bits>
Kinds kinds_of_ieee(const Literal& value, const hlo::FloatFormat& format) {
  const auto infinity = static_cast<Bits>(((uint64_t{1} << format.exponent_bits) - 1) << format.mantissa_bits);
  const auto magnitude = static_cast<Bits>((uint64_t{1} << (format.exponent_bits + format.mantissa_bits)) - 1);
  Kinds kinds;
  for (const Bits bits : value.data<Bits>()) {
    kinds.infinity |= (bits & magnitude) == infinity;
    kinds.nan |= (bits & magnitude) > infinity;
  }
  return kinds;
}

void look(const Literal& value, Kinds& kinds) {
  for (const Literal& element : value.elements()) look(element, kinds);
  const ElementType type = value.shape().element_type();
  const auto format = hlo::float_format(type);
  Kinds found;
  if (type == ElementType::F32) {
    found = kinds_of_ieee<uint32_t>(value, *format);
  } else if (type == ElementType::F64) {
    found = kinds_of_ieee<uint64_t>(value, *format);
  } else if (type == ElementType::F16 || type == ElementType::BF16) {
    found = kinds_of_ieee<uint16_t>(value, *format);
  } else if (format || hlo::is_complex(type)) {
    for (int64_t i = 0; i < value.element_count(); ++i) {
      const std::complex<double> element = value.complex_at(i);
      found.nan |= std::isnan(element.real()) || std::isnan(element.imag());
      found.infinity |= std::isinf(element.real()) || std::isinf(element.imag());
    }
  }
  kinds.infinity |= found.infinity;
  kinds.nan |= found.nan;
}

// What is seen of their insides, or only moved.
bool carries(Opcode opcode) {
  switch (opcode) {
    case Opcode::Call:
    case Opcode::Conditional:
    case Opcode::Constant:
    case Opcode::Fusion:
    case Opcode::Parameter:
    case Opcode::While: return true;
    default: return false;
  }
}

// Elementwise operations and moves: their operands' values are used only where their result is.
bool passes_on(const Computation& computation, const Instruction& instruction) {
  if (instruction.opcode == Opcode::Compare || instruction.opcode == Opcode::IsFinite) return true;
  switch (instruction.opcode) {
    case Opcode::Reduce:
    case Opcode::ReduceWindow:
    case Opcode::Dot:
    case Opcode::Convolution:
    case Opcode::Sort:
    case Opcode::Scatter:
    case Opcode::While:
    case Opcode::Conditional:
    case Opcode::CustomCall: return false;
    default: return &instruction != &computation.root_instruction();
  }
}

}  // namespace

UnintendedWatch::State UnintendedWatch::state_of(const Instruction& instruction) const {
  if (instruction.opcode == Opcode::Constant && instruction.literal) {
    Kinds kinds;
    look(*instruction.literal, kinds);
    return {kinds.infinity, kinds.nan, -1};
  }
  const auto known = states_.find(&instruction);
  return known == states_.end() ? State() : known->second;
}

void UnintendedWatch::use_operands(const Computation& computation, const Instruction& instruction) {
  for (const hlo::InstructionIndex operand : instruction.operands) {
    const State state = state_of(computation.instructions[operand]);
    if (state.origin >= 0) produced_[static_cast<size_t>(state.origin)].is_selected_away = false;
  }
}

void UnintendedWatch::see(const Computation& computation, const Instruction& instruction, const Literal& value) {
  Kinds kinds;
  look(value, kinds);
  const bool passes = passes_on(computation, instruction);
  if (!passes) use_operands(computation, instruction);
  if (!kinds.infinity && !kinds.nan) {
    states_.erase(&instruction);
    return;
  }
  State state{kinds.infinity, kinds.nan, -1};
  bool operand_infinity = carries(instruction.opcode);
  bool operand_nan = operand_infinity;
  for (const hlo::InstructionIndex operand : instruction.operands) {
    const State of_operand = state_of(computation.instructions[operand]);
    operand_infinity |= of_operand.non_finite();
    operand_nan |= of_operand.nan;
    state.origin = std::max(state.origin, of_operand.origin);
  }
  if ((kinds.nan && !operand_nan) || (kinds.infinity && !operand_infinity)) {
    const auto [origin, fresh] = origins_.emplace(&instruction, static_cast<int>(produced_.size()));
    if (fresh)
      produced_.push_back({computation.name, instruction.name, std::string(to_string(instruction.opcode)),
                           instruction.shape.to_text(false), kinds.nan, true});
    state.origin = origin->second;
  }
  if (!passes && state.origin >= 0) produced_[static_cast<size_t>(state.origin)].is_selected_away = false;
  states_[&instruction] = state;
}

const Unintended* UnintendedWatch::first_used() const {
  for (const Unintended& unintended : produced_)
    if (!unintended.is_selected_away) return &unintended;
  return nullptr;
}

}  // namespace sapper::inputs
