// Results on their way from a unit to the instruction that pops them.
#pragma once

#include "llo/machine.h"

namespace sapper::llo {

// A vector operand with its definedness, as a queue carries it.
[[nodiscard]] Queued queued_operand(const Machine& machine, Slot vector);

// `move` applied to the value of a vector operand and to its undefined bits.
template <class Move>
Queued moved(const Machine& machine, Slot vector, Move move) {
  Queued to;
  move(machine.vector(vector), to.value);
  if (const Vreg* undefined = machine.vector_undefined(vector)) move(*undefined, to.undefined.emplace());
  return to;
}

// Appends to a queue, under the token that `step` makes.
void push_result(Machine& machine, const Step& step, QueueKind kind, uint32_t unit, Queued result);

// Takes a result into the vector register that `step` makes. In an SSA program a pop that names a token takes that
// token's result: the order of the text is not yet the order of the queue. Everywhere else the first one.
void pop_result(Machine& machine, const Step& step, QueueKind kind, uint32_t unit);

// Takes the first word of the first result into the scalar register that `step` makes.
void pop_scalar(Machine& machine, const Step& step, QueueKind kind);

}  // namespace sapper::llo
