// Which values of a kernel's LLO are which values of its HLO: the emitter's frames (llo/frames.h) laid over the
// kernel's graph. A value that stands for an instruction's result, or is handed to one as its operand, is a sighting.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "inspect/kernel_graph.h"
#include "llo/frames.h"

namespace sapper::inspect {

struct Sighting {
  uint32_t number = 0;  // of the LLO value
  NodeIndex node = 0;
  uint32_t group = 0;  // sightings of one group hold the same elements of arrays of the same dimensions
  bool mask = false;   // a mask register that is a pred
  bool operator==(const Sighting&) const = default;
};

// The code that was emitted for an instruction: [first, end) of the stage that the emitter wrote.
struct EmittedCode {
  llo::InstructionIndex first = 0;
  llo::InstructionIndex end = 0;
  NodeIndex node = 0;
};

struct Sightings {
  std::vector<Sighting> all;
  uint32_t groups = 0;
  std::vector<EmittedCode> code;
  size_t unmatched = 0;  // frames that fit no instruction
};

// `uniform`: of each node that is one value all over and depends on no parameter, the bits of that value in a lane.
[[nodiscard]] Sightings find_sightings(const KernelGraph& graph, const std::vector<llo::Frame>& frames,
                                       const std::vector<std::optional<uint32_t>>& uniform);

}  // namespace sapper::inspect
