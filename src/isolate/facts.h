// What a cut knows of every computation of a module before it begins: hashes of what instructions are, sizes, and what
// keeps a computation from going into a piece.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "hlo/hash.h"
#include "hlo/module.h"

namespace sapper::isolate {

struct ComputationFacts {
  hlo::Hash hash;            // equal: the same instructions in the same order, names and metadata aside
  int64_t instructions = 0;  // with those of all that it calls, each time that it does; saturates
  std::string_view problem;  // why it, or what it calls, can be in no piece; empty: it can
  // Of each instruction: opcode, shape, attributes and what it calls; not its operands.
  std::vector<hlo::Hash> own;
};

// One for each computation.
[[nodiscard]] std::vector<ComputationFacts> gather_facts(const hlo::Module& module);

// The operands of `instruction`: of the second half of an asynchronous operation, those of its first half and of what
// goes on with it. False: the first half is elsewhere.
[[nodiscard]] bool append_operands(const hlo::Computation& computation, const hlo::Instruction& instruction,
                                   std::vector<hlo::InstructionIndex>& operands);

// Of the second half of an asynchronous operation whose first is in `computation`.
[[nodiscard]] const hlo::Instruction& start_of(const hlo::Computation& computation, const hlo::Instruction& done);

}  // namespace sapper::isolate
