// Rewrites a computation instruction by instruction into a new one, so that new instructions can come in between.
#pragma once

#include <vector>

#include "hlo/module.h"

namespace sapper::hlo {

class Rewriter {
 public:
  explicit Rewriter(const Computation& from) : from_(from), to_(from) { to_.instructions.clear(); }

  // Where an operand (its index in the old computation) is now.
  [[nodiscard]] InstructionIndex moved(InstructionIndex old) const { return moved_[old]; }

  // A new instruction named after `like`, of its dimensions and the given type.
  InstructionIndex add(Opcode opcode, const Instruction& like, ElementType type,
                       std::vector<InstructionIndex> operands);

  // A copy of `instruction` over operands of the new computation.
  InstructionIndex copy(Instruction instruction, std::vector<InstructionIndex> operands);

  // Calls visit(instruction) for each old instruction in order; it adds or copies what is to stand in its place and
  // returns the index of the result.
  template <class Visit>
  Computation run(Visit&& visit) {
    for (const Instruction& instruction : from_.instructions) moved_.push_back(visit(instruction));
    to_.root = moved_[from_.root];
    to_.listed_order.clear();
    return std::move(to_);
  }

  // The operands of an old instruction, moved.
  [[nodiscard]] std::vector<InstructionIndex> moved_operands(const Instruction& instruction) const;

 private:
  const Computation& from_;
  Computation to_;
  std::vector<InstructionIndex> moved_;
};

}  // namespace sapper::hlo
