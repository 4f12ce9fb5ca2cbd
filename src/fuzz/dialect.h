// What compilers do not take though it is HLO: measured, one operation on one type at a time
// (tests/fuzz/accepted_programs.cc), so that none of a campaign's programs is rejected.
#pragma once

#include <vector>

#include "fuzz/grammar.h"
#include "target/target.h"

namespace sapper::fuzz {

// The grammar without what one of the targets does not take.
[[nodiscard]] Grammar within_dialects(Grammar grammar, const std::vector<target::Target>& targets);

}  // namespace sapper::fuzz
