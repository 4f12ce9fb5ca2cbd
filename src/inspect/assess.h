// Judges what was seen inside of a kernel: each instruction is computed again from the operands that were seen, so that
// it answers only for what it does itself.
#pragma once

#include <string>
#include <vector>

#include "check/judge.h"
#include "inspect/inspection.h"
#include "inspect/kernel_graph.h"
#include "inspect/probe.h"

namespace sapper::inspect {

struct Assessment {
  Standing standing = Standing::Unknown;
  Liberty liberty = Liberty::None;
  std::string reason;
};

struct Evidence {
  const hlo::Module& kernel;
  const KernelGraph& graph;
  const std::vector<hlo::Literal>& operands;  // of the kernel
  const std::vector<hlo::Literal>& expected;  // of the nodes; invalid shapes: not kept
  const std::vector<Observation>& observed;   // of the nodes
  const std::vector<hlo::Literal>& results;   // what the kernel made, one a root
  bool results_agree = true;                  // they are what the kernel may make
  const check::Policy& policy;
  const eval::Options& evaluation;
};

// Of each node.
[[nodiscard]] std::vector<Assessment> assess(const Evidence& evidence);

}  // namespace sapper::inspect
