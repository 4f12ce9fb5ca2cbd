// The options of commands that run LLO: what its text does not settle (docs/machine.md).
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "llo/machine.h"

namespace sapper::cli {

struct MachineChoices {
  std::string eup = "exact";
  std::string subnormals = "flush";
  std::string matmul_operands = "bf16";
  std::string matmul_sums = "double";
};

void add_machine_options(CLI::App& command, MachineChoices& choices);

// `seed` is that of perturbed results.
[[nodiscard]] llo::MachineOptions machine_options(const MachineChoices& choices, uint64_t seed);

}  // namespace sapper::cli
