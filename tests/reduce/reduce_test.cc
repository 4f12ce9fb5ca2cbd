// The reducer with a real compiler: what is left fails for the same reason, is a case, and has a history.
#include "reduce/reduce.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "check/batch.h"
#include "hlo/proto.h"
#include "hlo/text.h"
#include "target/target.h"

namespace sapper::reduce {
namespace {

using ::testing::HasSubstr;

class Reduce : public ::testing::Test {
 protected:
  std::string folder = testing::TempDir() + fmt::format("reduce_test_{}", getpid());
  ~Reduce() override { std::filesystem::remove_all(folder); }
  void SetUp() override {
    if (!target::plugin_present(*target::parse_target("cpu"))) GTEST_SKIP() << "no plugin for cpu";
  }

  static check::Case example(const std::string& name) {
    check::Case one;
    one.module = *hlo::read_module(std::string(SAPPER_SOURCE_DIR) + "/examples/" + name + ".hlo");
    one.options.target = *target::parse_target("cpu");
    return one;
  }
  [[nodiscard]] Result<Reduction> reduce_it(const check::Case& one, const std::string& command = "") const {
    ReduceOptions options;
    options.command = command;
    options.jobs = 2;
    options.pool = {.workers = 2, .worker_program = SAPPER_BINARY};
    options.output = folder;
    return reduce(one, "example.hlo", options, nullptr);
  }
};

TEST_F(Reduce, FourBitsDeepInsideBecomeASum) {
  const auto reduction = reduce_it(example("nested_int4"));
  ASSERT_TRUE(reduction) << reduction.error().describe();
  EXPECT_LE(reduction->after.instructions, 4) << hlo::to_text(reduction->reduced.module);
  EXPECT_EQ(reduction->reduced.expected.pass, "float-normalization-s4");
  EXPECT_EQ(reduction->after.flags, 0);

  const auto tasks = check::tasks_for({folder}, std::nullopt, std::nullopt);  // the case, not its history
  ASSERT_TRUE(tasks) << tasks.error().describe();
  ASSERT_EQ(tasks->size(), 1U);
  target::CompilerPool pool({.workers = 1, .worker_program = SAPPER_BINARY});
  const check::Report again = check_file(pool, tasks->front().path, tasks->front().options);
  EXPECT_TRUE(same_reason(check::signature_of(again), *tasks->front().expected)) << again.reason;

  size_t kept = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder + "/history"))
    kept += check::is_case(entry.path()) ? 1 : 0;
  EXPECT_EQ(kept, reduction->steps.size());
  EXPECT_EQ(nlohmann::json::parse(to_json(*reduction))["steps"].size(), kept);
}

TEST_F(Reduce, WhatIsRightIsNotReduced) {
  const auto reduction = reduce_it(example("softmax"));
  ASSERT_FALSE(reduction);
  EXPECT_EQ(reduction.error().kind, ErrorKind::BadInput);
  EXPECT_THAT(reduction.error().message, HasSubstr("nothing to reduce: agree"));
}

TEST_F(Reduce, ByAPersonsOwnCommand) {
  const auto reduction = reduce_it(example("softmax"), "test -f inputs.npz && grep -q divide");
  ASSERT_TRUE(reduction) << reduction.error().describe();
  EXPECT_LE(reduction->after.instructions, 2) << hlo::to_text(reduction->reduced.module);
  EXPECT_EQ(reduction->reduced.expected.verdict, check::Verdict::Agree);
  const auto never = reduce_it(example("softmax"), "false");
  ASSERT_FALSE(never);
  EXPECT_THAT(never.error().message, HasSubstr("does not fail in the same way again"));
}

}  // namespace
}  // namespace sapper::reduce
