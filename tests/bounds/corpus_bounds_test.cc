// The corpus with its bounds: every bounded program is well-formed and computes the reference's values beside the
// bounds.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "bounds/bounded.h"
#include "hlo/fingerprint.h"
#include "hlo/proto.h"
#include "hlo/verifier.h"
#include "inputs/sampler.h"

namespace sapper::bounds {
namespace {

const std::string ops = SAPPER_SOURCE_DIR "/../shared/corpus/ops";

void expect_well_formed(const hlo::Module& module, const numerics::Contract& contract) {
  const auto bounded = with_bounds(module, contract);
  if (!bounded) return;  // dynamic shapes
  const Status status = hlo::verify(bounded->module);
  ASSERT_TRUE(status) << status.error().describe();
  const auto arguments = inputs::sample(module, hlo::fingerprint(module), 0);
  ASSERT_TRUE(arguments);
  const auto exact = eval::evaluate(module, *arguments);
  if (!exact) return;
  const auto value = evaluate(*bounded, *arguments);
  ASSERT_TRUE(value) << value.error().describe();
  EXPECT_TRUE(value->value == *exact);
}

TEST(CorpusBounds, AllAreWellFormedAndKeepTheReference) {
  if (!std::filesystem::exists(ops)) GTEST_SKIP();
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(ops))
    if (entry.path().extension() == ".pb") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) {
    SCOPED_TRACE(file);
    const auto module = hlo::read_module(file);
    ASSERT_TRUE(module);
    expect_well_formed(*module, {});
    expect_well_formed(*module, {.excess_precision = true,
                                 .contraction = true,
                                 .flush_subnormals = true,
                                 .bfloat16_products = true,
                                 .short_formulas = true,
                                 .unordered_ties = true});
  }
}

}  // namespace
}  // namespace sapper::bounds
