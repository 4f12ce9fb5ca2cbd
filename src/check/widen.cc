#include "check/widen.h"

namespace sapper::check {
namespace {

using hlo::ElementType;
using hlo::Instruction;
using hlo::Literal;
using hlo::Module;
using hlo::Opcode;
using hlo::Shape;

Shape widen_shape(const Shape& shape) {
  if (shape.is_tuple()) {
    std::vector<Shape> elements;
    for (const Shape& element : shape.elements()) elements.push_back(widen_shape(element));
    return Shape::tuple(std::move(elements));
  }
  if (hlo::is_float(shape.element_type())) return shape.with_element_type(ElementType::F64);
  if (hlo::is_complex(shape.element_type())) return shape.with_element_type(ElementType::C128);
  return shape;
}

bool looks_at_bits(Opcode opcode) {
  switch (opcode) {
    case Opcode::BitcastConvert:
    case Opcode::ReducePrecision:
    case Opcode::StochasticConvert:
    case Opcode::RngBitGenerator:
    case Opcode::CustomCall: return true;
    default: return false;
  }
}

}  // namespace

Literal widen(const Literal& literal) {
  if (literal.shape().is_tuple()) {
    std::vector<Literal> elements;
    for (const Literal& element : literal.elements()) elements.push_back(widen(element));
    return Literal::tuple(std::move(elements));
  }
  const Shape wide = widen_shape(literal.shape());
  if (wide == literal.shape()) return literal;
  Literal result = Literal::uninitialized(wide);
  for (int64_t i = 0; i < result.element_count(); ++i)
    hlo::is_complex(wide.element_type()) ? result.set_complex(i, literal.complex_at(i))
                                         : result.set_real(i, literal.real_at(i));
  return result;
}

Result<Module> widen(const Module& module) {
  Module wide = module;
  wide.has_entry_layout = false;
  for (hlo::Computation& computation : wide.computations) {
    for (Instruction& instruction : computation.instructions) {
      if (looks_at_bits(instruction.opcode))
        return tl::unexpected<Error>(
            error_at(ErrorKind::Unsupported, instruction,
                     fmt::format("{} depends on the width of its type", to_string(instruction.opcode))));
      instruction.shape = widen_shape(instruction.shape);
      if (instruction.literal) instruction.literal = std::make_shared<const Literal>(widen(*instruction.literal));
    }
  }
  return wide;
}

}  // namespace sapper::check
