// The main job on the 146 modules of ../shared/corpus/ops: no false alarm on XLA:CPU and XLA:TPU.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "check/batch.h"

namespace sapper::check {
namespace {

const std::string ops = std::string(SAPPER_SOURCE_DIR) + "/../shared/corpus/ops";

// (target, module) -> the verdict that is right for it, other than `agree`.
const std::map<std::pair<std::string, std::string>, std::string> not_agreeing = {
    // Convolutions of default precision: a bfloat16-propagation pass rounds their operands to bf16.
    {{"tpu:v5e", "conv"}, "policy"},
    {{"tpu:v5e", "dwconv"}, "policy"},
    // Roundings of bf16 between operations are left out.
    {{"cpu", "attn"}, "policy"},
    {{"cpu", "rms"}, "policy"},
    {{"tpu:v5e", "rms"}, "policy"},
    {{"tpu:v5e", "silu"}, "policy"},
    {{"tpu:v5e", "ub_acos"}, "policy"},
    {{"tpu:v5e", "ub_asinh"}, "policy"},
    {{"tpu:v5e", "ub_atanh"}, "policy"},
    {{"tpu:v5e", "ub_logistic"}, "policy"},
    // The loop's multiply-add is one instruction.
    {{"cpu", "while"}, "policy"},
    // The optimized program calls a Mosaic kernel of the compiler's own, which only its LLO says in full.
    {{"tpu:v5e", "attn"}, "undetermined"},
};

class Corpus : public ::testing::TestWithParam<std::string> {};

TEST_P(Corpus, EveryModuleAgrees) {
  if (!std::filesystem::exists(ops)) GTEST_SKIP() << "no corpus beside the checkout";
  CheckOptions options;
  options.target = *target::parse_target(GetParam());
  if (!target::plugin_present(options.target)) GTEST_SKIP() << "no plugin for " << GetParam();
  const auto tasks = tasks_for({ops}, options, std::nullopt);
  ASSERT_TRUE(tasks.has_value());
  EXPECT_EQ(tasks->size(), 146U);
  target::CompilerPool pool({.workers = 2, .worker_program = SAPPER_BINARY});
  check_all(
      pool, *tasks, 2,
      [](const Report& report) {
        const std::string name = std::filesystem::path(report.path).stem();
        const auto known = not_agreeing.find({GetParam(), name});
        EXPECT_EQ(to_string(report.verdict), known == not_agreeing.end() ? "agree" : known->second)
            << report.path << ": " << report.reason;
      },
      [](const BatchProgress&) {});
}

INSTANTIATE_TEST_SUITE_P(Ops, Corpus, ::testing::Values("cpu", "tpu:v5e"),
                         [](const auto& test) { return test.param == "cpu" ? "cpu" : "v5e"; });

}  // namespace
}  // namespace sapper::check
