// Custom calls whose meaning the evaluator knows (eval/custom_call.cc) and whose deviations are simple.
#include <algorithm>
#include <array>
#include <string_view>

#include "bounds/rules.h"
#include "hlo/identity_calls.h"

namespace sapper::bounds {
namespace {

// Integers or elements that are moved: the result deviates only where an operand does.
constexpr std::array exact = {
    std::string_view("AllocateBuffer"), std::string_view("ConcatBitcast"), std::string_view("TopKBatchMajorSmallK"),
    std::string_view("X64Combine"),     std::string_view("X64SplitHigh"),  std::string_view("X64SplitLow"),
};

}  // namespace

Deviations bound_custom_call(const Site& site) {
  const std::string& target = site.instruction.attributes().custom_call_target();
  if (hlo::is_identity_call(site.instruction) && site.operands.size() == 1 &&
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
