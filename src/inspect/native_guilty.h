// The instruction that first leaves what its operands make it, where a kernel's result is wrong: found among those that
// are not seen right, by putting what was in a register in the place of its value and computing the rest again. Only
// what then gives the kernel's wrong result, element by element, is named.
#pragma once

#include <optional>
#include <vector>

#include "inspect/native_match.h"

namespace sapper::inspect {

struct Guilty {
  NodeIndex node = 0;
  hlo::Literal expected;          // what its operands make it
  hlo::Literal got;               // as far as seen
  std::vector<uint8_t> wrong;     // elements whose wrong values were seen
  std::vector<size_t> sites;      // where; empty: only the stored result was seen
  std::vector<NodeIndex> unseen;  // what was computed on the way, before it, and not seen
  std::vector<NodeIndex> after;   // what follows it
};

[[nodiscard]] std::optional<Guilty> find_guilty(Matcher& matcher, const MatchInput& input, const IndexInput& indexing,
                                                const std::vector<Match>& matches);

}  // namespace sapper::inspect
