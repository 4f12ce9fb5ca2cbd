// All that is known of a kernel before it runs: its graph, what the reference has at each instruction, and which values
// of its LLO are which of its HLO.
#pragma once

#include <vector>

#include "base/error.h"
#include "inspect/kernel_graph.h"
#include "inspect/probe.h"
#include "inspect/sightings.h"
#include "llo/renamed.h"

namespace sapper::inspect {

struct LloKernel {
  const hlo::Module& module;  // the kernel alone (check::single_instruction_module), verified
  std::vector<hlo::Literal> operands;
  const llo::Program& original;  // the stage that the emitter wrote
  const llo::Program& stage;     // the one that is looked into; may be the same
  std::string stage_name;
};

struct KernelView {
  KernelGraph graph;
  std::vector<hlo::Literal> expected;  // of the nodes; invalid shapes: not kept
  ExpectedWords words;                 // the same in lanes
  Sightings sightings;
  llo::Renamed renamed;  // values of the stage
};

// Of each element, besides its value: what is expected in its lane, what is read there, and whether it was.
constexpr int64_t kBytesBesideElement = sizeof(uint32_t) + sizeof(uint32_t) + sizeof(uint8_t);

// `memory_bytes`: of the expected values, and of what is read beside them. Errors: the evaluator's.
[[nodiscard]] Result<KernelView> view_of(const LloKernel& kernel, const eval::Options& evaluation,
                                         int64_t memory_bytes);

// How a program of the kernel is run for a probe.
[[nodiscard]] RunKernel runner_of(const LloKernel& kernel, const llo::Program& program,
                                  const llo::MachineOptions& machine);

}  // namespace sapper::inspect
