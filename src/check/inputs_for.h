// The input sets of a check: read from an .npz file (`in0`, or `set0_in0`, `set1_in0`, ...) or sampled from seeds.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "hlo/module.h"
#include "inputs/draw.h"

namespace sapper::check {

// What is sampled: each kind with each of `seeds` seeds from `seed` on.
struct Sampling {
  uint64_t seed = 0;
  std::optional<int> seeds;  // nullopt: three; one where a set is larger than 16 MiB
  std::vector<inputs::Kind> kinds{inputs::Kind::Dense};
};

struct InputSet {
  std::string label;  // "set0" of a file, "edges, seed 3"; empty when there is only one
  uint64_t seed = 0;
  std::string kind;  // "dense", ...; empty when read from a file
  std::vector<hlo::Literal> arguments;
};

// `path` empty: sampled sets. `only` picks one set of a file.
[[nodiscard]] Result<std::vector<InputSet>> inputs_for(const hlo::Module& module, const std::string& path,
                                                       std::optional<int> only, const Sampling& sampling);

// The .npz file that `--inputs` means for a module file: itself, or in a folder the one named like the module.
[[nodiscard]] std::string inputs_path(const std::string& inputs, const std::string& module_path);

}  // namespace sapper::check
