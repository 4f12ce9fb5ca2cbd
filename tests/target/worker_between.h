// A worker that stands between sapper and a real one, and changes what passes through: a compiler that is wrong.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "hlo/literal.h"

namespace sapper::target {

struct Changes {
  std::function<std::string(std::string)> module;        // that is compiled; not set: as it is
  std::function<void(std::span<hlo::Literal>)> outputs;  // of one run; not set: as they are
};

// The body of `PROGRAM worker FD`, with SAPPER_BINARY behind it. Returns the exit code.
int run_worker_between(int socket, const Changes& changes);

}  // namespace sapper::target
