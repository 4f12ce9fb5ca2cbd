// Which mismatch to look at first, and how much of a result could be judged at all.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/check.h"

namespace sapper::check {

// How bad a mismatch is: by how much an element exceeds its bound (infinite where the bound is 0), then by its largest
// relative error. Of the module's outputs and of its kernels'.
struct RankedMismatch {
  std::string path;
  std::string where;  // the guilty pass, as far as it is known
  double excess = 0;
  double relative = 0;
};

// nullopt: no mismatch.
[[nodiscard]] std::optional<RankedMismatch> ranked_mismatch(const Report& report);

// The worst first, a line each; empty for fewer than two.
[[nodiscard]] std::string ranking(std::vector<RankedMismatch> mismatches);

// The share of elements of outputs and kernels' outputs that were decided; nullopt: nothing was compared.
[[nodiscard]] std::optional<double> decided_share(const Report& report);

}  // namespace sapper::check
