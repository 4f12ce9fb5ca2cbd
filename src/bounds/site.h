// One instruction whose deviation is to be found: what the rules see.
#pragma once

#include <optional>
#include <vector>

#include "bounds/builder.h"
#include "hlo/module.h"
#include "numerics/contract.h"

namespace sapper::bounds {

class Transformer;

// How far a value may deviate: an array a leaf (an instruction of the computation under construction); nullopt where
// every implementation gives the reference value.
using Deviation = std::optional<Expression>;
using Deviations = std::vector<Deviation>;

struct Value {
  hlo::InstructionIndex index = 0;  // in the computation under construction
  Deviations deviations;
};

// The type that deviations of an array of `type` are held in.
[[nodiscard]] hlo::ElementType deviation_type(hlo::ElementType type);

// The smallest positive number of a float type; 0 for others.
[[nodiscard]] double smallest(hlo::ElementType type);

// Where e^x is beyond the range of a float type, and stays beyond it whatever an implementation may be off by.
[[nodiscard]] double overflowing_exponent(hlo::ElementType type);

// The shapes of a value's leaves in tuple order.
[[nodiscard]] std::vector<hlo::Shape> leaf_shapes(const hlo::Shape& shape);

// How far a result may move because its operands do: by `bound`, and by `relative` of its magnitude. Neither need be 0
// where they are exact.
struct Movement {
  Expression exact;  // a pred
  Expression bound;
  Deviation relative = std::nullopt;
};

struct Site {
  Transformer& transformer;
  Builder& builder;
  const hlo::Computation& computation;  // of the original module
  const hlo::Instruction& instruction;
  std::vector<const Value*> operands;
  // The instruction's value leaves the program as it is, and no other instruction sees it: no rounding can be left out.
  bool is_output = false;
  // No parameter of the computation decides the instruction's value.
  bool is_constant = false;
  // The instruction's copy; set for rules that only add deviations, not for those that make the value too.
  hlo::InstructionIndex result = 0;
  // Of the computation's instructions before this one; null: this one is none of it.
  const std::vector<Value>* values = nullptr;

  [[nodiscard]] const numerics::Contract& contract() const;
  [[nodiscard]] hlo::ElementType type() const { return instruction.shape.element_type(); }
  // numerics::unit_roundoff() under the contract.
  [[nodiscard]] double unit_roundoff() const { return numerics::unit_roundoff(contract(), type()); }
  [[nodiscard]] hlo::ElementType operand_type(size_t i) const { return operand_shape(i).element_type(); }
  [[nodiscard]] hlo::Shape operand_shape(size_t i) const { return builder.shape(operands[i]->index); }
  // Called computation `i` of the instruction, in the original module.
  [[nodiscard]] const hlo::Computation& called(size_t i) const;

  // Array operands: as they are, as real numbers of the type that deviations have, and their magnitudes (moduli, from
  // above), at most the largest finite number.
  [[nodiscard]] Expression operand(size_t i) const { return {&builder, operands[i]->index}; }
  [[nodiscard]] Expression real(size_t i) const;
  [[nodiscard]] Expression magnitude(size_t i) const;
  [[nodiscard]] Expression result_real() const;
  [[nodiscard]] Expression result_magnitude() const;
  // The result's magnitude; of a real number, infinite where that is.
  [[nodiscard]] Expression result_size() const;

  // The deviation of an array operand as movements see it, and as arithmetic does, where subnormals may count as zero.
  [[nodiscard]] const Deviation& moved_deviation(size_t i) const { return operands[i]->deviations[0]; }
  [[nodiscard]] Deviation deviation(size_t i) const;
  [[nodiscard]] bool any_deviates() const;

  // As moved_deviation(), zeros where there is none.
  [[nodiscard]] Expression deviation_or_zero(size_t i) const;

  // The same for deviation(), and whether it is there for one of the operands.
  [[nodiscard]] Expression arithmetic_deviation_or_zero(size_t i) const;
  [[nodiscard]] bool any_deviates_in_arithmetic() const;
  // The deviation of a result that is one of the operands, where those that count as zero are as good as each other.
  [[nodiscard]] Expression any_of_zeros(Expression deviation) const;
  // How far a sum of `terms` may be off because partial sums or products count as zero.
  [[nodiscard]] double flushed_terms(double terms) const;

  // The deviation of the result when it is `propagated` from the operands' and the implementation's own error is added.
  [[nodiscard]] Deviation rounded(Deviation propagated) const;
  [[nodiscard]] Deviation rounded(const std::optional<Movement>& movement) const;
  [[nodiscard]] Deviation rounded(Deviation propagated, numerics::FunctionError own) const;
  // The same for `total`, which has the roundings that come with `propagated` already.
  [[nodiscard]] Deviation with_own_error(Deviation total, const Deviation& propagated,
                                         numerics::FunctionError own) const;

  // Infinite where a finite result may overflow, or an infinite one deviates: what comes after may be anything then.
  [[nodiscard]] Deviation within_range(Deviation total) const;
  // The same for a `total` that is not 0.
  [[nodiscard]] Expression in_range(Expression total) const;

  // `roundings` are `unit` times the sum of its terms' magnitudes: infinite where a partial sum may overflow.
  [[nodiscard]] Expression sum_within_range(Expression roundings, double unit) const;

  // `a` combined along some dimensions by one operation, from 0 on; the others stay.
  [[nodiscard]] Expression reduced_along(hlo::Opcode operation, Expression a, std::vector<int64_t> dimensions) const;
  // A scalar as an array of the result's dimensions; arrays as they are.
  [[nodiscard]] Expression everywhere(Expression a) const;
  // Elements in the instruction's window.
  [[nodiscard]] double window_elements() const;

  // Every element may be anything; says so in the module's list.
  [[nodiscard]] Deviations unbounded() const;
  // Every element of an array of `shape` may be anything; nullopt for tokens.
  [[nodiscard]] Deviation undetermined_like(const hlo::Shape& shape) const;
};

[[nodiscard]] Expression real_of(Expression value);
[[nodiscard]] Expression magnitude_of(Expression value);
// Infinite where `doubt` > 0 or NaN, else 0.
[[nodiscard]] Expression undetermined_where(Expression doubt);
// `bound` where the operand deviates at all. Rules need it whose formula is not 0 for a deviation of 0.
[[nodiscard]] Expression where_positive(Expression deviation, Expression bound);
// `bound` where the condition holds, infinite elsewhere.
[[nodiscard]] Expression or_infinite(Expression condition, Expression bound);
// A scalar or array of deviations, inflated by more than the roundings of a rule's arithmetic can have taken away.
[[nodiscard]] Expression inflated(Expression deviation);
// How far `value` is from what end(1) and end(-1) give for the upper and lower ends of all operands, of a function that
// does not fall. Rounding is monotone: the rounded ends take in all that can be represented between them.
template <class End>
[[nodiscard]] Expression hull(Expression value, End&& end) {
  return inflated(max(end(1) - value, value - end(-1)));
}
[[nodiscard]] Deviation largest(const Deviation& a, const Deviation& b);
[[nodiscard]] Deviation sum(const Deviation& a, const Deviation& b);

}  // namespace sapper::bounds
