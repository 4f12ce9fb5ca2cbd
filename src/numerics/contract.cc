#include "numerics/contract.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "numerics/compare.h"

namespace sapper::numerics {

using hlo::ElementType;
using hlo::Opcode;

namespace {

// Functions that no target rounds correctly. XLA:CPU's vectorised polynomials and libm's stay within a few units in the
// last place; 16 halves of one cover both, as measured over the corpus (docs/verdicts.md).
constexpr double approximation_roundings = 16;
// What a range reduction multiplies its argument by is rounded, and so is the product.
constexpr double reduction_roundings = 2;

// How far the formulas of XLA:TPU's emitters are from the functions that they stand for; read from the kernels
// (docs/findings/policies_of_kernels.md).
double formula_error(Opcode opcode) {
  switch (opcode) {
    case Opcode::Divide:  // x * (1 / y), the reciprocal improved by one Newton step
    case Opcode::Sqrt:    // x * rsqrt(x)
    case Opcode::Rsqrt:
    case Opcode::Cbrt: return 0x1p-21;
    case Opcode::ExponentialMinusOne: return 0x1p-14;  // x + x^2 / 2 where |x| < 0.0125 (v5p: 0.017)
    case Opcode::LogPlusOne: return 0x1p-12;           // (1 - x / 2) x where |x| < 0.00045
    default: return 0;
  }
}

FunctionError written_error(Opcode opcode, double unit) {
  const double relative = approximation_roundings * unit;
  switch (opcode) {
    case Opcode::Exponential:
    case Opcode::ExponentialMinusOne:
    case Opcode::Power:
    case Opcode::Sinh:
    case Opcode::Cosh: return {relative, reduction_roundings * unit, 0};
    case Opcode::Sine:
    case Opcode::Cosine:
    case Opcode::Tan: return {relative, reduction_roundings * unit, unit};
    case Opcode::Log: return {relative, 0, unit};
    case Opcode::Acos:
    case Opcode::Acosh:
    case Opcode::Asin:
    case Opcode::Asinh:
    case Opcode::Atan2:
    case Opcode::Atanh:
    case Opcode::Cbrt:
    case Opcode::Erf:
    case Opcode::LogPlusOne:
    case Opcode::Logistic:
    case Opcode::Rsqrt:
    case Opcode::Tanh: return {relative, 0, 0};
    default: return {};
  }
}

// Complex operations are several roundings of real numbers.
FunctionError complex_error(Opcode opcode, double unit) {
  switch (opcode) {
    case Opcode::Abs: return {4 * unit, 0, 0};
    case Opcode::Multiply: return {8 * unit, 0, 0};
    case Opcode::Divide:
    case Opcode::Sqrt: return {16 * unit, 0, 0};
    default: return written_error(opcode, 4 * unit);
  }
}

// Of operations on pairs of f32 beyond an addition's, in its errors (unit_roundoff()): u = 2^-24 rounds f32, an
// addition is off by 3 u^2, a product by 7 u^2, a quotient by 10 u^2 (docs/verdicts.md).
double pair_error(Opcode opcode) {
  switch (opcode) {
    case Opcode::Add:
    case Opcode::Convert:
    case Opcode::Subtract: return 1;
    case Opcode::Multiply: return 2;
    case Opcode::Divide:
    case Opcode::Sqrt: return 4;
    default: return 0;
  }
}

// The division of pairs improves a quotient of f32 once: of one that is off by 2^-21, its error is 2^-42.
double short_pair_error(Opcode opcode) {
  return pair_error(opcode) > 0 && opcode != Opcode::Divide && opcode != Opcode::Sqrt ? 0 : 0x1p-40;
}

}  // namespace

bool are_pairs(const Contract& contract, ElementType type) {
  return contract.float64_pairs && type == ElementType::F64;
}

double flushed_below(ElementType type) {
  switch (type) {
    case ElementType::F32:
    case ElementType::BF16:
    case ElementType::C64: return 0x1p-126;
    default: return 0;
  }
}

Underflow underflow(const Contract& contract, ElementType type) {
  // What is lost in a product or quotient of pairs are low halves of its parts, a dozen of them at most.
  if (are_pairs(contract, type)) return {.below = 0x1p-74, .most = 0x1p-122};
  const double limit = contract.flush_subnormals ? flushed_below(type) : 0;
  return {limit, limit};
}

double overflow(const Contract& contract, ElementType type) {
  // The parts that products are made of are rounded to 12 bits.
  if (are_pairs(contract, type)) return 0x1.FFEp127;
  const auto format = hlo::float_format(hlo::is_complex(type) ? hlo::component_type(type) : type);
  return format ? hlo::largest_finite(*format) : std::numeric_limits<double>::infinity();
}

double unit_roundoff(ElementType type) { return epsilon(type) / 2; }

double unit_roundoff(const Contract& contract, ElementType type) {
  return are_pairs(contract, type) ? 0x1p-46 : unit_roundoff(type);
}

FunctionError function_error(const Contract& contract, Opcode opcode, ElementType type) {
  const double unit = unit_roundoff(contract, type);
  if (unit == 0) return {};
  if (hlo::is_complex(type)) return complex_error(opcode, unit);
  if (are_pairs(contract, type)) {
    FunctionError error = written_error(opcode, unit);
    error.relative += pair_error(opcode) * unit;
    if (contract.short_formulas) error.relative += short_pair_error(opcode);
    return error;
  }
  // Narrow types are computed in f32 and rounded once.
  const double computed = std::min(unit, unit_roundoff(ElementType::F32));
  FunctionError error = written_error(opcode, computed);
  if (contract.short_formulas) error.relative += formula_error(opcode);
  // tpu7x computes exponentials of bf16 in bf16: 2^(x log2 e), the product rounded.
  if (contract.short_formulas && type == ElementType::BF16 && opcode == Opcode::Exponential) error.argument += 2 * unit;
  const bool narrow = unit > computed;
  const bool contracted = opcode == Opcode::Multiply && type == ElementType::F32;
  if ((contract.excess_precision && narrow) || (contract.contraction && contracted)) error.elided = unit;
  return error;
}

double unreduced_below(Opcode opcode) {
  // Under pi / 4: the shortest interval that arguments are reduced to.
  return opcode == Opcode::Sine || opcode == Opcode::Tan ? 0.785 : 0;
}

double sum_growth(const Contract& contract, double terms) {
  const double additions = std::max(0.0, terms - 1);
  return contract.statistical ? std::min(additions, 4 * std::sqrt(additions)) : additions;
}

int bfloat16_passes(const Contract& contract, const hlo::Computation& computation,
                    const hlo::Instruction& instruction) {
  if (!contract.bfloat16_products) return 0;
  if (instruction.opcode != Opcode::Dot && instruction.opcode != Opcode::Convolution) return 0;
  int passes = 1;
  for (const int precision : instruction.attributes().precision_config().operand_precision()) {
    if (precision == proto::PrecisionConfig::HIGH) passes = 3;
    if (precision != proto::PrecisionConfig::HIGH && precision != proto::PrecisionConfig::DEFAULT) return 0;
  }
  const auto is_f32 = [&](hlo::InstructionIndex operand) {
    return computation.instructions[operand].shape.element_type() == ElementType::F32;
  };
  return std::any_of(instruction.operands.begin(), instruction.operands.end(), is_f32) ? passes : 0;
}

}  // namespace sapper::numerics
