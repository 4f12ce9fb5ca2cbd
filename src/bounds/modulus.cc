// XLA expands |x + i y| to
//   a = |x|, b = |y|, m = max(a, b) sqrt(1 + (min(a, b) / max(a, b))^2), select(m == m, m, min(a, b))
// Where both parts may be 0 its steps have no bound, as their quotient may be 0 / 0: a NaN that the select hides. As a
// whole it is sqrt(max^2 + min^2), whatever the two are, and moves by no more than both of them together.
#include "bounds/modulus.h"

#include <optional>

#include "bounds/transformer.h"

namespace sapper::bounds {

using hlo::ElementType;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Opcode;

namespace {

struct Extremes {
  InstructionIndex most = 0, least = 0;
};

class Matcher {
 public:
  explicit Matcher(const Site& site) : site_(site) {}

  [[nodiscard]] std::optional<Extremes> match() const {
    const InstructionIndex test = site_.instruction.operands[0], product = site_.instruction.operands[1];
    const InstructionIndex least = site_.instruction.operands[2];
    if (!is(test, Opcode::Compare) || operand(test, 0) != product || operand(test, 1) != product ||
        at(test).attributes().comparison_direction() != "EQ" || !is(product, Opcode::Multiply))
      return std::nullopt;
    const auto root = operand_that_is(product, Opcode::Sqrt);
    if (!root || !is(operand(*root, 0), Opcode::Add)) return std::nullopt;
    const InstructionIndex most = operand(product, operand(product, 0) == *root ? 1 : 0);
    const auto square = operand_that_is(operand(*root, 0), Opcode::Multiply);
    const auto one = operand_that_is(operand(*root, 0), Opcode::Broadcast);
    if (!square || !one || !is_one(operand(*one, 0)) || !are_of_the_same(most, least)) return std::nullopt;
    const InstructionIndex quotient = operand(*square, 0);
    if (operand(*square, 1) != quotient || !is(quotient, Opcode::Divide) || operand(quotient, 0) != least ||
        operand(quotient, 1) != most)
      return std::nullopt;
    return Extremes{most, least};
  }

 private:
  [[nodiscard]] const Instruction& at(InstructionIndex i) const { return site_.computation.instructions[i]; }
  [[nodiscard]] bool is(InstructionIndex i, Opcode opcode) const { return at(i).opcode == opcode; }
  [[nodiscard]] InstructionIndex operand(InstructionIndex i, size_t n) const { return at(i).operands[n]; }

  [[nodiscard]] std::optional<InstructionIndex> operand_that_is(InstructionIndex i, Opcode opcode) const {
    for (const InstructionIndex operand : at(i).operands)
      if (is(operand, opcode)) return operand;
    return std::nullopt;
  }

  [[nodiscard]] bool is_one(InstructionIndex i) const {
    return is(i, Opcode::Constant) && at(i).literal->element_count() == 1 && at(i).literal->real_at(0) == 1;
  }

  // A maximum and a minimum of the same two magnitudes, both where they are or seen through the same bitcast.
  [[nodiscard]] bool are_of_the_same(InstructionIndex most, InstructionIndex least) const {
    if (is(most, Opcode::Bitcast) && is(least, Opcode::Bitcast) && at(most).shape == at(least).shape) {
      most = operand(most, 0);
      least = operand(least, 0);
    }
    if (!is(most, Opcode::Maximum) || !is(least, Opcode::Minimum) || !(at(most).shape == at(least).shape)) return false;
    const InstructionIndex a = operand(most, 0), b = operand(most, 1);
    const bool same =
        (operand(least, 0) == a && operand(least, 1) == b) || (operand(least, 0) == b && operand(least, 1) == a);
    return same && is(a, Opcode::Abs) && is(b, Opcode::Abs);
  }

  const Site& site_;
};

}  // namespace

// With 0 <= min <= max the quotient is at most 1, and its square counts for half of its share of the result at most: so
// no step's relative error, of the reference or of an implementation, is more in the result. But a maximum that counts
// as zero beside a minimum that does not makes an infinite quotient.
Deviation expanded_modulus(const Site& site) {
  if (site.values == nullptr || hlo::is_complex(site.type()) || !hlo::is_float(site.type())) return std::nullopt;
  if (numerics::unit_roundoff(site.type()) > numerics::unit_roundoff(ElementType::F32)) return std::nullopt;
  const std::optional<Extremes> extremes = Matcher(site).match();
  if (!extremes) return std::nullopt;
  const Value &most = (*site.values)[extremes->most], &least = (*site.values)[extremes->least];
  const Deviation moved = sum(most.deviations[0], least.deviations[0]);
  if (!moved) return std::nullopt;
  double relative = 0;
  for (const Opcode step : {Opcode::Divide, Opcode::Multiply, Opcode::Add, Opcode::Sqrt, Opcode::Multiply}) {
    const numerics::FunctionError own = numerics::function_error(site.contract(), step, site.type());
    relative += own.relative + own.elided + 4 * site.unit_roundoff();
  }
  const Expression whole = inflated(*moved + (site.result_magnitude() + *moved) * relative + 4 * smallest(site.type()));
  const double flushed = numerics::underflow(site.contract(), site.type()).below;
  if (flushed == 0) return site.within_range(whole);
  return site.within_range(
      or_infinite(real_of({&site.builder, most.index}) > *moved + flushed, whole + site.flushed_terms(4)));
}

}  // namespace sapper::bounds
