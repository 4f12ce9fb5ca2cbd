// Where an occurrence of a piece comes from, for people.
#pragma once

#include <string>

#include "isolate/piece.h"

namespace sapper::isolate {

struct Provenance {
  std::string module;
  std::string computation;
  std::string instruction;
  std::string op_name;      // of the metadata, as the frontend wrote it: jit(f)/layer/dot_general
  std::string source_file;  // the user's source line; empty and 0 where the module does not say
  int source_line = 0;
};

// `module` is the one that was cut.
[[nodiscard]] Provenance provenance(const hlo::Module& module, const Occurrence& occurrence);

}  // namespace sapper::isolate
