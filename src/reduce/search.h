// The search for the smallest program that still is interesting: edits are tried in order, one that keeps it
// interesting is taken, until none does. Several are tried at a time, but the first in order is taken, so that the
// result does not depend on how many.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reduce/program.h"

namespace sapper::reduce {

// Whether a program still fails for the same reason. Called from several threads.
using Interesting = std::function<bool(const Program&)>;

// An edit that was taken.
struct Step {
  std::string pass;
  std::string what;
  Size size;           // after it
  double seconds = 0;  // since the search began
};

struct SearchProgress {
  const char* pass = "";
  size_t tried = 0;  // programs
  size_t steps = 0;
  Size size;
};

struct SearchOptions {
  int jobs = 1;
  // How often a program is tried before it is taken for uninteresting: more than once for failures that come and go.
  int tries = 1;
  std::function<void(const Step&, const Program&)> on_step;  // null: nobody wants to know
  std::function<void(const SearchProgress&)> on_progress;    // after each program; not from two threads at once
};

struct Searched {
  Program program;
  std::vector<Step> steps;
  size_t tried = 0;
  double seconds = 0;
};

// `program` must be interesting, and normalized.
[[nodiscard]] Searched search(Program program, const Interesting& interesting, const SearchOptions& options);

}  // namespace sapper::reduce
