// From a program as its dump states it to code that runs.
#pragma once

#include "base/error.h"
#include "llo/generation.h"
#include "llo/step.h"

namespace sapper::llo {

// `program` must outlive the code. Errors: Unsupported, with file and line: an opcode that the table lacks, operands
// that its row does not take; BadInput: a value used before it is defined, a branch to nowhere.
[[nodiscard]] Result<Code> decode(const Program& program, const Generation& generation = {});

}  // namespace sapper::llo
