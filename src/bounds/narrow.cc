#include "bounds/narrow.h"

#include "bounds/rules.h"

namespace sapper::bounds {

using hlo::ElementType;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Opcode;

namespace {

bool is_narrow(ElementType type) {
  return hlo::is_float(type) && numerics::unit_roundoff(type) > numerics::unit_roundoff(ElementType::F32);
}

bool sums_products(Opcode opcode) { return opcode == Opcode::Dot || opcode == Opcode::Convolution; }

bool rounds(Opcode opcode) {
  switch (opcode) {
    case Opcode::Acos:
    case Opcode::Acosh:
    case Opcode::Add:
    case Opcode::Asin:
    case Opcode::Asinh:
    case Opcode::Atan2:
    case Opcode::Atanh:
    case Opcode::Cbrt:
    case Opcode::Cosh:
    case Opcode::Cosine:
    case Opcode::Divide:
    case Opcode::Erf:
    case Opcode::Exponential:
    case Opcode::ExponentialMinusOne:
    case Opcode::Log:
    case Opcode::LogPlusOne:
    case Opcode::Logistic:
    case Opcode::Multiply:
    case Opcode::Power:
    case Opcode::Rsqrt:
    case Opcode::Sine:
    case Opcode::Sinh:
    case Opcode::Sqrt:
    case Opcode::Subtract:
    case Opcode::Tan:
    case Opcode::Tanh: return true;
    default: return sums_products(opcode);
  }
}

Value in_f32(const Site& site, const Value& operand) {
  return {converted({&site.builder, operand.index}, ElementType::F32).index, operand.deviations};
}

}  // namespace

bool is_narrow_arithmetic(const Site& site) {
  if (!site.instruction.shape.is_array() || !is_narrow(site.type()) || !rounds(site.instruction.opcode)) return false;
  // An exponential of the short formulas rounds what it multiplies its argument by to its own type.
  return !(site.contract().short_formulas && site.instruction.opcode == Opcode::Exponential);
}

Value narrow_arithmetic(const Site& site, Deviations (*rule)(const Site& site)) {
  Instruction wide = site.instruction;
  wide.name += ".wide";
  wide.shape = wide.shape.with_element_type(ElementType::F32);
  // Its rounding to f32 is none of the program's, to be left out: as if it were an output's.
  Site computed{site.transformer, site.builder, site.computation, wide, site.operands, true, site.is_constant, 0};
  std::vector<Value> operands;
  operands.reserve(site.operands.size());
  if (!sums_products(site.instruction.opcode))
    for (size_t i = 0; i < site.operands.size(); ++i)
      computed.operands[i] = &operands.emplace_back(in_f32(site, *site.operands[i]));
  std::vector<InstructionIndex> indices;
  for (const Value* operand : computed.operands) indices.push_back(operand->index);
  computed.result = site.builder.copy(wide, std::move(indices));
  const Value unrounded{computed.result, rule(computed)};

  Instruction convert;
  convert.opcode = Opcode::Convert;
  convert.name = site.instruction.name;
  convert.shape = site.instruction.shape;
  Site rounded{site.transformer, site.builder,   site.computation, convert,
               {&unrounded},     site.is_output, site.is_constant, 0};
  // Sums of products are rounded once by the evaluator, from more than f32.
  if (sums_products(site.instruction.opcode)) {
    std::vector<InstructionIndex> originals;
    for (const Value* operand : site.operands) originals.push_back(operand->index);
    rounded.result = site.builder.copy(site.instruction, std::move(originals));
  } else {
    rounded.result = site.builder.copy(convert, {unrounded.index});
  }
  return {rounded.result, {bound_elementwise(rounded)}};
}

}  // namespace sapper::bounds
