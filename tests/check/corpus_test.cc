// The main job on the 146 modules of ../shared/corpus/ops: no false alarm on XLA:CPU and XLA:TPU.
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "check/batch.h"

namespace sapper::check {
namespace {

const std::string ops = std::string(SAPPER_SOURCE_DIR) + "/../shared/corpus/ops";

class Corpus : public ::testing::TestWithParam<std::string> {};

TEST_P(Corpus, EveryModuleAgrees) {
  if (!std::filesystem::exists(ops)) GTEST_SKIP() << "no corpus beside the checkout";
  CheckOptions options;
  options.target = *target::parse_target(GetParam());
  if (!target::plugin_present(options.target)) GTEST_SKIP() << "no plugin for " << GetParam();
  const auto files = module_files({ops});
  ASSERT_TRUE(files.has_value());
  EXPECT_EQ(files->size(), 146U);
  target::CompilerPool pool({.workers = 2, .worker_program = SAPPER_BINARY});
  check_all(
      pool, *files, options, 2,
      [](const Report& report) {
        EXPECT_EQ(to_string(report.verdict), "agree") << report.path << ": " << report.reason;
      },
      [](const BatchProgress&) {});
}

INSTANTIATE_TEST_SUITE_P(Ops, Corpus, ::testing::Values("cpu", "tpu:v5e"),
                         [](const auto& test) { return test.param == "cpu" ? "cpu" : "v5e"; });

}  // namespace
}  // namespace sapper::check
