// Defects to plant: pieces, and which wrong program a compiler makes of each (planting_worker.cc).
#pragma once

#include <string>
#include <vector>

#include "isolate/piece.h"

namespace sapper::isolate {

struct Plant {
  std::string fingerprint;
  std::string kind;         // of the mutant
  std::string instruction;  // that it changes
};

// At most `most`, spread over the pieces, of mutants whose results are far from the piece's own on sampled inputs.
[[nodiscard]] std::vector<Plant> choose_plants(const std::vector<Piece>& pieces, size_t most);

// As planting_worker reads them.
[[nodiscard]] std::string plants_text(const std::vector<Plant>& plants);

}  // namespace sapper::isolate
