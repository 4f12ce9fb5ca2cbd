// Custom calls whose meaning the evaluator knows (eval/custom_call.cc) and whose deviations are simple.
#include <algorithm>
#include <array>
#include <string_view>

#include "bounds/rules.h"

namespace sapper::bounds {
namespace {

// The result is the operand.
constexpr std::array identities = {
    std::string_view("Sharding"),
    std::string_view("SPMDFullToShardShape"),
    std::string_view("SPMDShardToFullShape"),
    std::string_view("xla.sdy.FuncResultSharding"),
    std::string_view("annotate_device_placement"),
    std::string_view("MoveToDevice"),
    std::string_view("MoveToHost"),
    std::string_view("LayoutConstraint"),
    std::string_view("AssumeGatherIndicesInBound"),
    std::string_view("GatherScatterIndicesBitpacked"),
};

// Integers or elements that are moved: the result deviates only where an operand does.
constexpr std::array exact = {
    std::string_view("AllocateBuffer"), std::string_view("ConcatBitcast"), std::string_view("TopKBatchMajorSmallK"),
    std::string_view("X64Combine"),     std::string_view("X64SplitHigh"),  std::string_view("X64SplitLow"),
};

}  // namespace

Deviations bound_custom_call(const Site& site) {
  const std::string& target = site.instruction.attributes().custom_call_target();
  if (std::ranges::find(identities, target) != identities.end() && !site.operands.empty() &&
      site.instruction.shape.same_ignoring_layout(site.operand_shape(0)))
    return bound_pass_through(site);
  if (std::ranges::find(exact, target) != exact.end()) return bound_exact(site);
  if (target == "TopK") return bound_topk(site);
  if (target == "Cholesky") return bound_lower_cholesky(site);
  if (target == "InvertDiagBlocksLowerTriangular") return bound_triangular_inverse(site, true);
  if (target == "InvertDiagBlocksUpperTriangular") return bound_triangular_inverse(site, false);
  return site.unbounded();
}

}  // namespace sapper::bounds
