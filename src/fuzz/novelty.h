// What a program, or its compilation, has that none before it had: the feedback of a campaign. Programs that bring
// something new are kept, and others near them are tried.
#pragma once

#include <cstdint>
#include <unordered_set>

#include "fuzz/compiled_features.h"
#include "hlo/module.h"

namespace sapper::fuzz {

// An operation over a type that takes the result of another one over a type; an operation over a type at a place of a
// small or large, flat or high array.
class Novelty {
 public:
  // How many of the module's features are new; they are not any more.
  size_t take(const hlo::Module& module);
  size_t take(const CompiledFeatures& features);
  [[nodiscard]] size_t seen() const { return seen_.size(); }

 private:
  std::unordered_set<uint64_t> seen_;
};

}  // namespace sapper::fuzz
