#include "isolate/shard.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

namespace sapper::isolate {
namespace {

using Variables = std::map<std::string, std::string>;

Result<std::optional<Shard>> from(const Variables& variables, std::optional<uint64_t> count = std::nullopt) {
  const auto get = [&](const char* name) -> const char* {
    const auto at = variables.find(name);
    return at == variables.end() ? nullptr : at->second.c_str();
  };
  return shard_from_environment(get, count);
}

TEST(Shard, IsReadFromText) {
  EXPECT_EQ(parse_shard("0/1").value(), (Shard{0, 1}));
  EXPECT_EQ(parse_shard("3/4").value(), (Shard{3, 4}));
  for (const char* bad : {"", "1", "/", "4/4", "1/", "/4", "-1/4", "1/0", "1 /4", "a/b", "1/4x"})
    EXPECT_FALSE(parse_shard(bad)) << bad;
}

TEST(Shard, IsReadFromSchedulers) {
  struct Case {
    const char* what;
    Variables variables;
    std::optional<uint64_t> count;
    std::optional<Shard> expected;
  };
  const std::vector<Case> cases = {
      {"no scheduler", {}, {}, {}},
      {"no scheduler, though a count", {}, 4, {}},
      {"Slurm",
       {{"SLURM_ARRAY_TASK_ID", "2"}, {"SLURM_ARRAY_TASK_COUNT", "4"}, {"SLURM_ARRAY_TASK_MIN", "0"}},
       {},
       Shard{2, 4}},
      {"Slurm from 1",
       {{"SLURM_ARRAY_TASK_ID", "4"}, {"SLURM_ARRAY_TASK_COUNT", "4"}, {"SLURM_ARRAY_TASK_MIN", "1"}},
       {},
       Shard{3, 4}},
      {"Slurm in steps",
       {{"SLURM_ARRAY_TASK_ID", "11"},
        {"SLURM_ARRAY_TASK_COUNT", "4"},
        {"SLURM_ARRAY_TASK_MIN", "5"},
        {"SLURM_ARRAY_TASK_STEP", "3"}},
       {},
       Shard{2, 4}},
      {"Slurm, one task again",
       {{"SLURM_ARRAY_TASK_ID", "2"}, {"SLURM_ARRAY_TASK_COUNT", "1"}, {"SLURM_ARRAY_TASK_MIN", "0"}},
       4,
       Shard{2, 4}},
      {"Kubernetes", {{"JOB_COMPLETION_INDEX", "3"}}, 4, Shard{3, 4}},
      {"LSF", {{"LSB_JOBINDEX", "1"}, {"LSB_JOBINDEX_END", "4"}}, {}, Shard{0, 4}},
      {"LSF without an array", {{"LSB_JOBINDEX", "0"}}, {}, {}},
      {"Grid Engine",
       {{"SGE_TASK_ID", "5"}, {"SGE_TASK_FIRST", "1"}, {"SGE_TASK_LAST", "7"}, {"SGE_TASK_STEPSIZE", "2"}},
       {},
       Shard{2, 4}},
      {"Grid Engine without an array", {{"SGE_TASK_ID", "undefined"}}, {}, {}},
      {"PBS", {{"PBS_ARRAY_INDEX", "3"}}, 4, Shard{3, 4}},
      {"AWS Batch", {{"AWS_BATCH_JOB_ARRAY_INDEX", "0"}}, 4, Shard{0, 4}},
  };
  for (const Case& one : cases) {
    const auto shard = from(one.variables, one.count);
    ASSERT_TRUE(shard) << one.what << ": " << shard.error().describe();
    EXPECT_EQ(*shard, one.expected) << one.what;
  }
}

TEST(Shard, SchedulersThatSayTooLittleOrNonsenseAreErrors) {
  EXPECT_FALSE(from({{"JOB_COMPLETION_INDEX", "3"}}));  // how many?
  EXPECT_FALSE(from({{"JOB_COMPLETION_INDEX", "4"}}, 4));
  EXPECT_FALSE(from({{"SLURM_ARRAY_TASK_ID", "x"}}, 4));
  EXPECT_FALSE(from({{"SLURM_ARRAY_TASK_ID", "1"}, {"SLURM_ARRAY_TASK_MIN", "2"}}, 4));
  // The holes of --array=1,5,6: index 2 of a step of 2 is not whole.
  EXPECT_FALSE(from({{"SLURM_ARRAY_TASK_ID", "6"}, {"SLURM_ARRAY_TASK_MIN", "1"}, {"SLURM_ARRAY_TASK_STEP", "2"}}, 3));
}

RC_GTEST_PROP(ShardProperty, EachFingerprintBelongsToOneShard, (uint64_t high, uint64_t low)) {
  const uint64_t count = *rc::gen::inRange<uint64_t>(1, 50);
  const std::string fingerprint = fmt::format("{:016x}{:016x}", high, low);
  int holders = 0;
  for (uint64_t i = 0; i < count; ++i) holders += holds({i, count}, fingerprint) ? 1 : 0;
  RC_ASSERT(holders == 1);
}

}  // namespace
}  // namespace sapper::isolate
