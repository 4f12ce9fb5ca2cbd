// Where two stages of one kernel part: runs both on the same values and finds the first instruction of the later one
// that computes or stores something else than the instruction of the same number did in the earlier one, and whose
// correction, with that of those before it, repairs the result: what differs where nobody looks is passed over. Passes
// keep the numbers of the values they keep.
#pragma once

#include <optional>
#include <span>

#include "base/error.h"
#include "llo/kernel.h"
#include "llo/program.h"

namespace sapper::llo {

struct Divergence {
  InstructionIndex earlier = 0;  // in the earlier program
  InstructionIndex later = 0;    // in the later program
  uint64_t execution = 0;        // of how many times it ran, counted from 0
};

// What a kernel is run on; see run_kernel.
struct KernelCall {
  const Program* declarations = nullptr;
  std::span<const hlo::Literal> operands;
  std::span<const hlo::Shape> operand_shapes;
  hlo::Shape result;
  MachineOptions options;
};

// nullopt: every instruction that both have, and that runs as often in both, does the same. Where no correction repairs
// the result, the first that differs. Runs the kernel some tens of times at most. Errors as of run_kernel.
[[nodiscard]] Result<std::optional<Divergence>> first_divergence(const Program& earlier, const Program& later,
                                                                 const KernelCall& call);

}  // namespace sapper::llo
