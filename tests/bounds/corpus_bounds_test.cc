// The corpus with its bounds: every bounded program is well-formed and computes the reference's values beside the
// bounds.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "bounds/bounded.h"
#include "hlo/fingerprint.h"
#include "hlo/proto.h"
#include "hlo/text.h"
#include "hlo/verifier.h"
#include "inputs/sampler.h"

namespace sapper::bounds {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::vector<std::string> corpus() {
  const char* only = std::getenv("SAPPER_BOUNDS_CORPUS");
  std::vector<std::string> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(only != nullptr ? only : SAPPER_SOURCE_DIR "/../shared/corpus/ops"))
    if (entry.path().extension() == ".pb") files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

TEST(CorpusBounds, AllAreWellFormedAndKeepTheReference) {
  if (!std::filesystem::exists(SAPPER_SOURCE_DIR "/../shared/corpus/ops")) GTEST_SKIP();
  const bool show = std::getenv("SAPPER_BOUNDS_SHOW") != nullptr;
  const bool policy = std::getenv("SAPPER_BOUNDS_POLICY") != nullptr;
  numerics::Contract contract;
  if (policy)
    contract = {.excess_precision = true, .flush_subnormals = true, .bfloat16_products = true, .short_formulas = true};
  double exact_seconds = 0, bounded_seconds = 0;
  for (const std::string& file : corpus()) {
    SCOPED_TRACE(file);
    const auto module = hlo::read_module(file);
    ASSERT_TRUE(module);
    const auto bounded = with_bounds(*module, contract);
    if (!bounded) {
      if (show) fmt::print("{} {}\n", file, bounded.error().describe());
      continue;
    }
    const Status status = hlo::verify(bounded->module);
    EXPECT_TRUE(status) << status.error().describe();
    if (!status) continue;
    const auto arguments = inputs::sample(*module, hlo::fingerprint(*module), 0);
    ASSERT_TRUE(arguments);
    auto start = Clock::now();
    const auto exact = eval::evaluate(*module, *arguments);
    const double exact_time = seconds_since(start);
    if (!exact) continue;
    start = Clock::now();
    const auto value = evaluate(*bounded, *arguments);
    const double bounded_time = seconds_since(start);
    EXPECT_TRUE(value) << value.error().describe();
    if (!value) continue;
    EXPECT_TRUE(value->value == *exact);
    exact_seconds += exact_time;
    bounded_seconds += bounded_time;
    if (!show) continue;
    std::string text;
    const auto leaves = hlo::leaves(*exact);
    for (size_t i = 0; i < leaves.size(); ++i) {
      if (!value->deviations[i].shape().is_array()) {
        text += " exact";
        continue;
      }
      int64_t open = 0;
      double largest = 0, relative = 0;
      const int64_t n = leaves[i].element_count();
      for (int64_t k = 0; k < n; ++k) {
        const double e = value->deviations[i].real_at(k);
        if (!std::isfinite(e)) {
          ++open;
          continue;
        }
        largest = std::max(largest, e);
        if (hlo::is_float(leaves[i].shape().element_type())) {
          const double v = std::fabs(leaves[i].real_at(k));
          if (v > 0) relative = std::max(relative, e / v);
        }
      }
      text += fmt::format(" {}:{}/{} abs {:.2g} rel {:.2g}", hlo::to_string(leaves[i].shape().element_type()), open, n,
                          largest, relative);
    }
    for (const std::string& name : bounded->unbounded) text += " NO " + name;
    fmt::print("{} {:.1f}x{}\n", std::filesystem::path(file).stem().string(), bounded_time / exact_time, text);
  }
  if (show) fmt::print("exact {:.2f} s, bounded {:.2f} s\n", exact_seconds, bounded_seconds);
}

}  // namespace
}  // namespace sapper::bounds
