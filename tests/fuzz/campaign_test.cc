// Campaigns on the real XLA:CPU: known bugs found by templates, nothing judged twice, shards that share the work.
#include "fuzz/campaign.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "eval/evaluator.h"
#include "fuzz/campaign_report.h"
#include "fuzz/dialect.h"
#include "fuzz/program_source.h"
#include "fuzz/side_by_side.h"
#include "hlo/text.h"
#include "hlo/verifier.h"

namespace sapper::fuzz {
namespace {

using Json = nlohmann::json;

TEST(SideBySide, MeansWhatThePartsMean) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    std::vector<hlo::Module> modules;
    std::vector<hlo::Literal> expected, arguments;
    for (uint64_t k = 0; k < 3; ++k) {
      modules.push_back(generate(Grammar(), Choices(3 * seed + k)).module);
      const auto sets = check::inputs_for(modules.back(), "", std::nullopt, {.seeds = 1});
      ASSERT_TRUE(sets) << sets.error().describe();
      const auto value = eval::evaluate(modules.back(), sets->front().arguments);
      ASSERT_TRUE(value) << value.error().describe();
      for (const hlo::Literal& leaf : hlo::leaves(*value)) expected.push_back(leaf);
      for (const hlo::Literal& argument : sets->front().arguments) arguments.push_back(argument);
    }
    const hlo::Module together = side_by_side(modules);
    const Status verified = hlo::verify(together);
    ASSERT_TRUE(verified) << verified.error().describe() << hlo::to_text(together);
    const auto value = eval::evaluate(together, arguments);
    ASSERT_TRUE(value) << value.error().describe();
    ASSERT_EQ(hlo::leaves(*value).size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(hlo::leaves(*value)[i], expected[i]);
  }
}

TEST(ProgramSource, InputsCanBeSampledForAll) {
  ProgramSource source(Grammar(), {}, 5);
  for (int i = 0; i < 1000; ++i) {
    const auto candidate = source.next();
    ASSERT_TRUE(candidate);
    const auto sets = check::inputs_for(candidate->module, "", std::nullopt, {.seeds = 1});
    ASSERT_TRUE(sets) << sets.error().describe() << hlo::to_text(candidate->module);
  }
}

TEST(ProgramSource, SameSeedSamePrograms) {
  ProgramSource one(Grammar(), {}, 7), other(Grammar(), {}, 7), third(Grammar(), {}, 8);
  int differ = 0;
  for (int i = 0; i < 200; ++i) {
    const auto a = one.next(), b = other.next(), c = third.next();
    ASSERT_TRUE(a && b && c);
    EXPECT_EQ(a->fingerprint, b->fingerprint);
    if (a->fingerprint != c->fingerprint) ++differ;
    EXPECT_TRUE(hlo::verify(a->module));
  }
  EXPECT_GT(differ, 150);
  EXPECT_GT(one.kept(), 20U);
}

TEST(ProgramSource, GoesOnFromWhatCompilationsDid) {
  ProgramSource source(Grammar(), {}, 7);
  const auto one = source.next(), other = source.next();
  ASSERT_TRUE(one && other);
  const size_t kept = source.kept();
  const std::vector<Recipe> both = {one->recipe, other->recipe};
  source.learn(both, {"pass algsimp", "llo vadd.f32"});
  EXPECT_EQ(source.kept(), kept + 2);
  source.learn(both, {"pass algsimp"});
  EXPECT_EQ(source.kept(), kept + 2);
}

TEST(ProgramSource, ShardsTakeTurns) {
  ProgramSource first(Grammar(), {}, 7, {0, 2}), second(Grammar(), {}, 7, {1, 2});
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(first.next()->number, 2 * i);
    EXPECT_EQ(second.next()->number, 2 * i + 1);
  }
}

class Campaign : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto cpu = target::parse_target("cpu");
    if (!target::plugin_present(*cpu)) GTEST_SKIP() << "no XLA:CPU here";
    std::filesystem::create_directories(folder);
    check::CheckOptions check;
    check.target = *cpu;
    check.sampling.seeds = 1;
    options = {.name = "test", .tool = "1", .grammar = within_dialects(Grammar(), {*cpu}), .checks = {check}};
  }
  ~Campaign() override { std::filesystem::remove_all(folder); }

  void use(const std::string& name) {
    auto skeleton = read_template(SAPPER_SOURCE_DIR "/templates/" + name);
    ASSERT_TRUE(skeleton) << skeleton.error().describe();
    options.templates.push_back(std::move(*skeleton));
  }

  CampaignResult run() {
    auto store = store::Store::open(store_path);
    EXPECT_TRUE(store) << store.error().describe();
    auto result = run_campaign(*store, pool, options, nullptr);
    EXPECT_TRUE(result) << result.error().describe();
    report = Json::parse(*report_json(*store, "test"));
    return *result;
  }

  std::string folder = testing::TempDir() + fmt::format("fuzz_campaign_test_{}", getpid());
  std::string store_path = folder + "/store.db";
  target::CompilerPool pool{{.workers = 2, .worker_program = SAPPER_BINARY}};
  CampaignOptions options;
  Json report;
};

// Whether a finding of the report is of this pass.
bool names(const Json& report, const std::string& pass) {
  for (const Json& finding : report["findings"])
    if (finding["signature"].get<std::string>().find(pass) != std::string::npos) return true;
  return false;
}

TEST_F(Campaign, FindsFourBitIntegersThatDoNotWrap) {
  use("four_bits.hlo");
  options.programs = 8;
  const CampaignResult result = run();
  EXPECT_EQ(result.programs, result.judged);
  EXPECT_TRUE(names(report, "float-normalization-s4") || names(report, "float-normalization-u4")) << report;
}

TEST_F(Campaign, GoesOnWhereItWas) {
  use("pads.hlo");
  options.programs = 6;
  const CampaignResult first = run();
  EXPECT_EQ(first.known, 0);
  EXPECT_GT(first.judged, 0);
  const CampaignResult again = run();
  EXPECT_EQ(again.judged, 0);
  EXPECT_EQ(again.known, first.judged);
  options.programs = 9;
  const CampaignResult more = run();
  EXPECT_EQ(more.known, first.judged);
  EXPECT_GT(more.judged, 0);
}

TEST_F(Campaign, ShardsShareThePrograms) {
  options.programs = 12;
  const CampaignResult all = run();
  options.name = "shards";
  store_path += ".shards";
  int64_t judged = 0;
  for (uint64_t i = 0; i < 2; ++i) {
    options.shard = {i, 2};
    auto store = store::Store::open(store_path);
    judged += run_campaign(*store, pool, options, nullptr)->judged;
  }
  EXPECT_EQ(judged, all.judged);
}

// More batches than are made before the first lessons count.
TEST_F(Campaign, MakesTheSameProgramsWhateverTheNumberOfJobsAndStops) {
  use("pads.hlo");
  options.together = 1;
  options.programs = 26;
  const auto programs = [&](int jobs, std::vector<int64_t> stops) {
    options.jobs = jobs;
    store_path = fmt::format("{}/{}.db", folder, jobs);
    for (const int64_t stop : stops) {
      options.programs = stop;
      run();
    }
    auto store = store::Store::open(store_path);
    std::set<std::string> fingerprints;
    const auto runs = store->runs("test");
    for (const store::Run& run : runs.value()) fingerprints.insert(run.key.piece);
    return fingerprints;
  };
  const std::set<std::string> at_once = programs(1, {26});
  EXPECT_GT(at_once.size(), 20U);
  EXPECT_EQ(programs(2, {20, 26}), at_once);
}

TEST_F(Campaign, ProgramsWithoutOneMeaningAreDefectsOfTheGenerator) {
  auto skeleton = parse_template(R"(HloModule open
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
let n = 2..50
ENTRY main {
  x = f32[$n] parameter(0)
  three = f32[] constant(3)
  ROOT r = f32[] reduce(x, three), dimensions={0}, to_apply=add
}
)",
                                 "open.hlo");
  ASSERT_TRUE(skeleton) << skeleton.error().describe();
  options.templates.push_back(*skeleton);
  options.programs = 5;
  const CampaignResult result = run();
  EXPECT_EQ(result.modules + result.alone, 0);
  ASSERT_EQ(result.generator_defects.size(), 1U);
  EXPECT_THAT(result.generator_defects.begin()->first, testing::HasSubstr("not neutral"));
  EXPECT_EQ(report["verdicts"]["undetermined"], result.programs);
  EXPECT_TRUE(report["findings"].empty());
}

}  // namespace
}  // namespace sapper::fuzz
