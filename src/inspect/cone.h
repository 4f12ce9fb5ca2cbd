// A cone: one instruction of a kernel together with those before it whose values were not seen, as a module whose
// parameters are the values that were.
#pragma once

#include <functional>
#include <vector>

#include "hlo/module.h"
#include "inspect/kernel_graph.h"

namespace sapper::inspect {

struct Cone {
  hlo::Module module;
  std::vector<hlo::Literal> arguments;
  std::vector<NodeIndex> inside;  // the nodes that it computes, `node` last
};

// `known`: the value of a node that was seen; null: it was not, and is computed. A value wider than its node's type is
// converted to it. `wide_result`: the result is converted to f32.
[[nodiscard]] Cone cone_of(const hlo::Module& kernel, const KernelGraph& graph, NodeIndex node, bool wide_result,
                           const std::function<const hlo::Literal*(NodeIndex)>& known);

}  // namespace sapper::inspect
