// The input sets of a check: read from an .npz file (`in0`, or `set0_in0`, `set1_in0`, ...) or sampled from the seed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "hlo/module.h"

namespace sapper::check {

struct InputSet {
  std::string label;  // "set0"; empty when there is only one
  std::vector<hlo::Literal> arguments;
};

// `path` empty: one sampled set. `only` picks one set of a file.
[[nodiscard]] Result<std::vector<InputSet>> inputs_for(const hlo::Module& module, const std::string& path,
                                                       std::optional<int> only, uint64_t seed);

// The .npz file that `--inputs` means for a module file: itself, or in a folder the one named like the module.
[[nodiscard]] std::string inputs_path(const std::string& inputs, const std::string& module_path);

}  // namespace sapper::check
