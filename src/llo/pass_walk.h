// The backend passes of one kernel, run one after another on the same values: they must keep every bit of the result,
// so the first one that does not is the guilty one. Signs of zeros apart: passes fold 0 + x to x, as XLA's simplifier
// does in HLO, which makes a sum of nothing but -0 that starts from 0 a -0.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "llo/divergence.h"
#include "llo/dump.h"
#include "llo/kernel.h"

namespace sapper::llo {

struct PassOutcome {
  int index = 0;
  std::string pass;
  enum class Result : uint8_t {
    Same,     // as the pass before, bit for bit (NaNs are alike, and zeros)
    Changed,  // the result is another one
    NotRun,   // why: `reason`
  } result = Result::Same;
  std::string reason;
  size_t instructions = 0;
  size_t bundles = 0;  // the length of the schedule; 0: not scheduled yet
  std::vector<Finding> findings;
};

struct PassWalk {
  std::vector<PassOutcome> passes;
  std::optional<size_t> guilty;          // position in `passes` of the first that changed the result
  std::optional<size_t> before;          // position of the last one that ran before it
  std::optional<Divergence> divergence;  // between the two: the first instruction that does something else
};

// Why `pass` may change the bits of what `first`, the first stage of the kernel, computes; empty: it may not.
[[nodiscard]] std::string_view may_change_bits(std::string_view pass, const Program& first);
// Why some pass may; empty: none may.
[[nodiscard]] std::string_view may_change_bits(const Program& first);

// Dumps that are no stage of the kernel: schedules as they would be if registers were free, for the compiler's own
// statistics.
[[nodiscard]] bool is_what_if(std::string_view pass);

// Runs every stage of `dump`; stages that cannot run are passed over. `call.declarations` is not looked at: the first
// stage declares. Errors: those of the first stage; it has to run.
[[nodiscard]] Result<PassWalk> walk_passes(const KernelDump& dump, const KernelCall& call);

}  // namespace sapper::llo
