// What holds in every program that the compiler's backend makes, as far as its text alone can tell: a pass that breaks
// one of these is wrong, whatever the values.
#pragma once

#include <string>
#include <vector>

#include "llo/generation.h"
#include "llo/program.h"

namespace sapper::llo {

enum class Invariant : uint8_t {
  DefinedOnce,        // no two instructions define one value
  DefinedBeforeUse,   // a value is defined above its uses; phis may use what is below them
  BranchTarget,       // the region a branch goes to exists
  AllocationOverlap,  // allocations whose places are stated share no byte, unless they are fixed
  DmaBounds,          // a DMA of a stated size stays inside of the allocations it starts in
  SyncBalance,        // without branches, what DMAs and adds put on a flag is what waits take from it
  BundleSlots,        // a bundle has no more instructions of a unit than the generation has slots for it
  RegisterFile,       // physical registers have numbers below the size of their file
};
[[nodiscard]] const char* to_string(Invariant invariant);

struct Violation {
  Invariant invariant = Invariant::DefinedOnce;
  std::string message;
  uint32_t line = 0;  // in the dump
};

// In the order of the invariants, then of the lines.
[[nodiscard]] std::vector<Violation> check_invariants(const Program& program, const Generation& generation);

}  // namespace sapper::llo
