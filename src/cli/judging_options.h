// The options of commands that judge modules: on what target, on what inputs, how strictly, and what the TPU machine
// does where LLO's text does not settle it (docs/machine.md).
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "check/batch.h"
#include "check/check.h"
#include "cli/target_options.h"

namespace sapper::cli {

struct JudgingOptions {
  TargetOptions target;
  std::string inputs;
  int input_set = -1;  // all
  uint64_t seed = 0;
  std::optional<int> seeds;
  std::string inputs_kind = "dense";  // or "all"
  bool strict = false;
  double time_limit = 300;
  std::string eup = "exact";
  std::string subnormals = "flush";
  std::string matmul_operands = "bf16";
  std::string matmul_sums = "double";
};

void add_judging_options(CLI::App& command, JudgingOptions& options);
// --level; `text` says what for.
void add_level_option(CLI::App& command, check::Level& level, const std::string& text);

// Errors: BadInput.
[[nodiscard]] Result<check::CheckOptions> check_options(const JudgingOptions& options);
// The one module that `path` names with these options, or the one case as it is recorded, on the target of the options
// if they name one.
[[nodiscard]] Result<check::Task> single_task(const std::string& path, const JudgingOptions& options);

// 2 for bad input; of a case 0 where what it expects holds, else 1; else that of the verdict.
[[nodiscard]] int exit_code_of(const check::Report& report);

}  // namespace sapper::cli
