// What makes a program interesting: a check that ends for the same reason, or a person's own command.
#pragma once

#include <string>

#include "check/check.h"
#include "check/signature.h"
#include "reduce/search.h"

namespace sapper::reduce {

// The options of a check of `program` alone: its configuration, no inputs but its arguments.
[[nodiscard]] check::CheckOptions options_for(const Program& program, check::CheckOptions options);
[[nodiscard]] std::vector<check::InputSet> inputs_of(const Program& program);

// `pool` must outlive what is returned.
[[nodiscard]] Interesting fails_alike(target::CompilerPool& pool, const check::CheckOptions& options,
                                      const check::Signature& signature);

// `command` with a module's name as its last argument ends with 0 within `time_limit` seconds, run by the shell in a
// folder that is new each time.
[[nodiscard]] Interesting satisfies(const std::string& command, double time_limit);

}  // namespace sapper::reduce
