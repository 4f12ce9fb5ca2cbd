// Wrong compilers, made by hand: a module with one instruction changed as a real defect of a pass would change it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "hlo/module.h"

namespace sapper::check {

struct HloMutant {
  std::string_view kind;    // "swapped operands"
  std::string instruction;  // the changed one
  hlo::Module module;       // of the same signature
};

// The kinds, in the order in which mutants_of gives them.
[[nodiscard]] std::vector<std::string_view> hlo_mutant_kinds();

// At most `most` of each kind, spread evenly over the places where the module has something of the kind to change. The
// module must be verified; so are the mutants.
[[nodiscard]] std::vector<HloMutant> mutants_of(const hlo::Module& module, size_t most);

}  // namespace sapper::check
