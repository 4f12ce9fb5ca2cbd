// The options that every command over a compiler shares: --on, --option, --init-flags.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "target/compiler.h"

namespace sapper::cli {

struct TargetOptions {
  std::string on;
  std::vector<std::string> options;
  std::string init_flags;
};

void add_target_options(CLI::App& command, TargetOptions& options);
[[nodiscard]] Result<target::Configuration> configuration(const TargetOptions& options);

}  // namespace sapper::cli
