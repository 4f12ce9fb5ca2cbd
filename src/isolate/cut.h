// Cutting modules into pieces: standalone, legal, each distinct one once.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "isolate/piece.h"

namespace sapper::isolate {

enum class Granularity {
  Op,           // each instruction by itself, those inside fusions too
  Fusion,       // each fusion, and each instruction outside of fusions
  Region,       // each heavy operation with the light ones around it; what is left of those
  Computation,  // each small computation of the control flow as a whole, whiles and conditionals too; else as Region
};

[[nodiscard]] std::string_view to_string(Granularity granularity);
[[nodiscard]] Result<Granularity> parse_granularity(std::string_view name);

struct CutOptions {
  Granularity granularity = Granularity::Fusion;
  int64_t largest_region = 64;        // instructions of a region
  int64_t largest_computation = 512;  // instructions of a computation that stays whole, with all that it calls
  // A constant above this many bytes becomes a parameter, unless it is a mask, an index pattern or one value all over.
  int64_t largest_constant_bytes = 4096;
};

// An instruction that should be in a piece and is in none.
struct Skipped {
  uint32_t module = 0;
  hlo::ComputationIndex computation = 0;
  hlo::InstructionIndex instruction = 0;
  std::string reason;
};

// Where the instructions of the source went; the numbers add up to `instructions`.
struct Coverage {
  int64_t instructions = 0;
  int64_t in_pieces = 0;  // each counted once, also where several pieces hold a copy
  int64_t called = 0;     // of computations that pieces call: bodies of fusions, reducers, loops that stay whole
  int64_t nothing =
      0;  // compute nothing: parameters, tuples, bitcasts, ..., calls and loops that were entered, unused constants
  int64_t unreached = 0;  // of computations that nobody calls
  std::vector<Skipped> skipped;

  [[nodiscard]] std::map<std::string, int64_t> skipped_by_reason() const;
};

struct Cut {
  std::vector<Piece> pieces;  // in the order in which they first occur
  Coverage coverage;
};

// `module` must be verified. Linear in it. Loop bodies, branches and calls are entered at any depth, each computation
// once.
[[nodiscard]] Cut cut(const hlo::Module& module, const CutOptions& options = {});

// Adds the pieces of another module to `all`: those of a fingerprint that it has already as further occurrences.
// `module` becomes Occurrence::module of what is added.
void merge(Cut& all, Cut more, uint32_t module);

}  // namespace sapper::isolate
