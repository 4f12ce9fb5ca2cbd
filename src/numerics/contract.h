// What a legal implementation may do to values beyond computing every operation as written and rounding it once: the
// contract that a bound (bounds/) is derived under. Each entry says where it is from (docs/verdicts.md).
#pragma once

#include "hlo/element_type.h"
#include "hlo/module.h"

namespace sapper::numerics {

// How a function of one or two arguments is computed: its result r is within
//   (relative + elided + argument * |scaled argument|) * |r| + absolute
// of the exact one. `scaled argument` is what the implementation multiplies before it reduces: x of exp, y log x of
// pow.
struct FunctionError {
  double relative = 0;
  double argument = 0;
  double absolute = 0;
  double elided = 0;  // relative error of a rounding that may be left out
};

struct Contract {
  // Roundings to float types narrower than f32 may be left out (xla_allow_excess_precision).
  bool excess_precision = false;
  // Products of f32 that are added may keep their exact value (fused multiply-add).
  bool contraction = false;
  // Subnormal operands and results may count as zero.
  bool flush_subnormals = false;
  // f32 dots and convolutions of default precision run in one bf16 pass, of high precision in three (XLA:TPU's
  // PrecisionConfig).
  bool bfloat16_products = false;
  // Functions are computed by the formulas of XLA:TPU's emitters.
  bool short_formulas = false;
  // f64 is emulated by pairs of f32, the number and what it is rounded by (XLA:TPU): it has the range of f32, and 48
  // bits.
  bool float64_pairs = false;
  // Where a sort is not stable, or top-k does not say, elements that compare equal come in any order; of those that tie
  // in a window, a select-and-scatter may choose any.
  bool unordered_ties = false;
  // Errors of the terms of a sum, and its roundings, add up as independent ones do (the root of the sum of squares),
  // not as they can at worst: no bound, but a measure of what to expect within the bound.
  bool statistical = false;

  bool operator==(const Contract&) const = default;
};

// How far an implementation of `opcode` on elements of `type` may be from the correctly rounded result, with exact
// operands. All zero: it must be correctly rounded.
[[nodiscard]] FunctionError function_error(const Contract& contract, hlo::Opcode opcode, hlo::ElementType type);

// Arguments of smaller magnitude than this are not reduced: functions of angles are odd polynomials of them, and the
// `absolute` part of their error, which is the reduction's, is none. 0: it is for all arguments.
[[nodiscard]] double unreduced_below(hlo::Opcode opcode);

// Whether numbers of `type` are held as pairs of f32.
[[nodiscard]] bool are_pairs(const Contract& contract, hlo::ElementType type);

// Below which numbers of a type may count as zero where subnormals are flushed: the smallest normal f32 for all types
// that have its exponents, 0 for others.
[[nodiscard]] double flushed_below(hlo::ElementType type);

// What an operand or result smaller than `below` may lose because subnormals count as zero: all of it, but at most
// `most`. Zeros: nothing is lost.
struct Underflow {
  double below = 0;
  double most = 0;
};
[[nodiscard]] Underflow underflow(const Contract& contract, hlo::ElementType type);

// From which on numbers of a float type have no finite place; of the components for complex types. Infinity for others.
[[nodiscard]] double overflow(const Contract& contract, hlo::ElementType type);

// Half a unit in the last place of 1: the largest relative error of a rounding to `type`. 0 for types that are not
// floating point; of the components for complex types. Under a contract: of an addition in `type`.
[[nodiscard]] double unit_roundoff(hlo::ElementType type);
[[nodiscard]] double unit_roundoff(const Contract& contract, hlo::ElementType type);

// The relative error of a sum of n terms rounded to f32 or wider after each addition, in any order, per unit of
// roundoff: n - 1 (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2).
[[nodiscard]] double sum_growth(const Contract& contract, double terms);

// In how many products of bf16 numbers the contract lets a dot or convolution be computed; 0: it must keep its
// operands' precision.
[[nodiscard]] int bfloat16_passes(const Contract& contract, const hlo::Computation& computation,
                                  const hlo::Instruction& instruction);

}  // namespace sapper::numerics
