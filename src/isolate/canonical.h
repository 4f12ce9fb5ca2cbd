// The canonical form of a piece: numbers its parameters and orders its instructions by what it computes, so that it
// does not matter how the source was written down.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hlo/module.h"

namespace sapper::isolate {

struct Canonical {
  hlo::Module module;
  std::string fingerprint;                // piece_fingerprint(module)
  std::vector<uint32_t> parameters;       // new number k was parameters[k]
  std::vector<uint32_t> result_elements;  // of a tuple result: element k was result_elements[k]; empty: no tuple, or
                                          // one that an operation gives
};

// Instructions that the result does not need are left out, unused parameters too.
[[nodiscard]] Canonical canonicalize(hlo::Module module);

}  // namespace sapper::isolate
