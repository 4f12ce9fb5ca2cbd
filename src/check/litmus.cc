#include "check/litmus.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace sapper::check {
namespace {

using hlo::Computation;
using hlo::ElementType;
using hlo::Instruction;
using hlo::Literal;
using hlo::Module;
using hlo::Opcode;

// The constant that a scalar is, looking through converts and copies; null when it is none.
const Instruction* constant_behind(const Computation& computation, const Instruction& instruction) {
  const Instruction* at = &instruction;
  while (at->opcode == Opcode::Convert || at->opcode == Opcode::Copy || at->opcode == Opcode::Reshape ||
         at->opcode == Opcode::Bitcast)
    at = &computation.instructions[at->operands[0]];
  return at->opcode == Opcode::Constant && at->literal ? at : nullptr;
}

bool is_lowest(ElementType type, const Literal& value) {
  if (hlo::is_integer(type)) {
    const bool is_signed = hlo::element_class(type) == hlo::ElementClass::Signed;
    return value.integer_at(0) == (is_signed ? -(int64_t{1} << (hlo::bit_width(type) - 1)) : 0);
  }
  const double real = value.real_at(0);
  return real == -std::numeric_limits<double>::infinity() || real <= -std::numeric_limits<float>::max();
}

bool is_highest(ElementType type, const Literal& value) {
  if (hlo::is_integer(type)) {
    const bool is_signed = hlo::element_class(type) == hlo::ElementClass::Signed;
    const int value_bits = hlo::bit_width(type) - (is_signed ? 1 : 0);
    const auto all = value_bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << value_bits) - 1;
    return static_cast<uint64_t>(value.integer_at(0)) == all;
  }
  const double real = value.real_at(0);
  return real == std::numeric_limits<double>::infinity() || real >= std::numeric_limits<float>::max();
}

// Whether combining with `value` changes nothing; true for bodies that are not one known operation.
bool is_neutral(Opcode body, const Literal& value) {
  const ElementType type = value.shape().element_type();
  switch (body) {
    case Opcode::Add:
    case Opcode::Xor: return value.complex_at(0) == std::complex<double>(0);
    case Opcode::Or: return value.integer_at(0) == 0;
    case Opcode::Multiply: return value.complex_at(0) == std::complex<double>(1);
    case Opcode::And:
      return type == ElementType::Pred ? value.integer_at(0) == 1
                                       : value.integer_at(0) == -1 || is_highest(type, value);
    case Opcode::Maximum: return type == ElementType::Pred ? value.integer_at(0) == 0 : is_lowest(type, value);
    case Opcode::Minimum: return type == ElementType::Pred ? value.integer_at(0) == 1 : is_highest(type, value);
    default: return true;
  }
}

}  // namespace

std::optional<std::string> open_meaning(const Module& module) {
  for (const Computation& computation : module.computations) {
    for (const Instruction& instruction : computation.instructions) {
      if (instruction.opcode == Opcode::CustomCall && instruction.attributes().custom_call_target() == "Eigh")
        return fmt::format("{}: the signs of eigenvectors and the order of equal eigenvalues are left open",
                           instruction.name);
      if (instruction.opcode != Opcode::Reduce && instruction.opcode != Opcode::ReduceWindow) continue;
      if (instruction.shape.is_tuple()) continue;
      const Instruction* const init = constant_behind(computation, computation.instructions[instruction.operands[1]]);
      const Computation& body = module.computations[instruction.called[0]];
      if (init == nullptr || !init->shape.is_array() || body.instructions.size() != 3) continue;
      const Opcode operation = body.root_instruction().opcode;
      if (is_neutral(operation, *init->literal)) continue;
      return fmt::format(
          "{} starts from {}, which is not neutral for {}: how often a reduction uses its initial value is left open",
          instruction.name, init->name, hlo::to_string(operation));
    }
  }
  return std::nullopt;
}

}  // namespace sapper::check
