// The reducer: from a program that a compiler gets wrong to the smallest one that it gets wrong for the same reason.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "check/case.h"
#include "reduce/search.h"
#include "target/compiler.h"

namespace sapper::reduce {

struct ReduceOptions {
  // What tells whether a program is interesting in place of a check: a shell command, which gets the name of the module
  // in a folder of its own, with inputs.npz beside it, and ends with 0 where it is. Empty: a check with the same
  // signature.
  std::string command;
  int jobs = 1;
  target::PoolOptions pool;
  std::string output;   // the folder of the reduced case; each step is in its folder `history`
  std::string made_by;  // version of sapper
};

struct Reduction {
  check::Case reduced;  // as written to `output`
  Size before, after;
  std::vector<Step> steps;
  size_t tried = 0;  // programs
  int tries = 1;     // of each: more than one for a failure that comes and goes
  double seconds = 0;
};

// Reduces the program of `one`, which is at `path`. Errors: BadInput where nothing fails, or not again; what the
// writing of the case says.
[[nodiscard]] Result<Reduction> reduce(const check::Case& one, const std::string& path, const ReduceOptions& options,
                                       const std::function<void(const SearchProgress&)>& on_progress);

// docs/json.md
[[nodiscard]] std::string to_json(const Reduction& reduction);

}  // namespace sapper::reduce
