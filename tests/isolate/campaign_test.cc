// Campaigns on the real XLA:CPU: what they find and what they leave out.
#include "isolate/campaign.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "check/batch.h"
#include "check/case.h"
#include "hlo/proto.h"
#include "hlo/verifier.h"
#include "isolate/campaign_report.h"
#include "store/connection.h"
#include "target/target.h"
#include "tests/isolate/plants.h"
#include "tests/target/environment.h"

namespace sapper::isolate {
namespace {

using Json = nlohmann::json;

const std::string examples = SAPPER_SOURCE_DIR "/examples";

class Campaign : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!target::plugin_present(*target::parse_target("cpu"))) GTEST_SKIP() << "no XLA:CPU here";
    std::filesystem::create_directories(folder);
    options.name = "test";
    options.tool = "1";
    options.check.target = *target::parse_target("cpu");
    options.check.sampling.seeds = 1;
  }
  ~Campaign() override { std::filesystem::remove_all(folder); }

  CampaignResult run(const std::vector<std::string>& paths) {
    const auto files = check::module_files(paths);
    EXPECT_TRUE(files);
    auto store = store::Store::open(store_path);
    EXPECT_TRUE(store) << store.error().describe();
    const auto result = run_campaign(*store, pool, *files, options, nullptr);
    EXPECT_TRUE(result) << result.error().describe();
    return *result;
  }

  int exit_code() const {
    auto store = store::Store::open(store_path, store::Access::Read);
    return report_exit_code(*store, options.name).value();
  }

  Json report() const {
    auto store = store::Store::open(store_path, store::Access::Read);
    EXPECT_TRUE(store) << store.error().describe();
    return Json::parse(*report_json(*store, options.name));
  }

  std::string folder = testing::TempDir() + fmt::format("campaign_test_{}", getpid());
  std::string store_path = folder + "/store.db";
  target::CompilerPool pool{{.workers = 2, .worker_program = SAPPER_BINARY}};
  CampaignOptions options;
};

TEST_F(Campaign, ReachesABugInALoopInACall) {
  const CampaignResult result = run({examples + "/nested_int4.hlo"});
  EXPECT_EQ(result.judged, result.selected);
  EXPECT_EQ(result.coverage.skipped.size(), 0U);
  const Json found = report();
  ASSERT_GE(found["findings"].size(), 1U) << found;
  const Json& finding = found["findings"][0];
  EXPECT_EQ(finding["verdict"], "mismatch");
  EXPECT_NE(finding["stage"].get<std::string>().find("float-normalization-s4"), std::string::npos) << finding;

  auto store = store::Store::open(store_path);
  const std::string text = *finding_text(*store, options.name, finding["id"]);
  EXPECT_NE(text.find("in step of"), std::string::npos) << text;
  EXPECT_NE(text.find("confirmed"), std::string::npos) << text;
  EXPECT_NE(text.find("without optimizations"), std::string::npos) << text;

  const auto command = export_case(*store, options.name, finding["id"], folder + "/case");
  ASSERT_TRUE(command) << command.error().describe();
  EXPECT_EQ(*command, "sapper check " + folder + "/case");
  const auto exported = check::read_case(folder + "/case");
  ASSERT_TRUE(exported) << exported.error().describe();
  EXPECT_EQ(exported->options.target.to_string(), "cpu");
  EXPECT_EQ(exported->options.sampling.seeds, 1);
  EXPECT_EQ(exported->expected.pass, "float-normalization-s4");
}

TEST_F(Campaign, ResultsThatAreNotTheSameTwiceAreNoPassesDoing) {
  const std::string path = folder + "/negate.hlo";
  ASSERT_TRUE(
      write_file(path, "HloModule m\nENTRY main {\n  x = f32[8] parameter(0)\n  ROOT y = f32[8] negate(x)\n}\n"));
  const target::Environment unsteady("UNSTEADY", "a.");
  target::CompilerPool unsteady_pool({.workers = 1, .worker_program = UNSTEADY_WORKER});
  auto store = store::Store::open(store_path);
  ASSERT_TRUE(run_campaign(*store, unsteady_pool, {path}, options, nullptr));
  const Json found = report();
  ASSERT_EQ(found["findings"].size(), 1U) << found;
  EXPECT_EQ(found["findings"][0]["signature"], "mismatch of elementwise not the same twice");
  EXPECT_EQ(found["findings"][0]["stage"], "");
  const std::string text = *finding_text(*store, options.name, found["findings"][0]["id"]);
  EXPECT_NE(text.find("flaky"), std::string::npos) << text;
}

TEST_F(Campaign, WhatIsKnownIsNotRunAgain) {
  const CampaignResult first = run({examples + "/softmax.hlo"});
  EXPECT_EQ(first.known, 0U);
  EXPECT_EQ(first.judged, first.selected);
  const CampaignResult second = run({examples + "/softmax.hlo"});
  EXPECT_EQ(second.known, first.selected);
  EXPECT_EQ(second.judged, 0U);
  options.tool = "2";
  EXPECT_EQ(run({examples + "/softmax.hlo"}).judged, first.selected);
}

TEST_F(Campaign, TakesWhatIsAskedFor) {
  options.only = {"tanh"};
  const CampaignResult one = run({examples + "/nested_int4.hlo"});
  EXPECT_EQ(one.selected, 1U);
  options.only = {"step"};  // a computation
  EXPECT_GT(run({examples + "/nested_int4.hlo"}).selected, 1U);
  options.only = {};
  options.skip = {"nested_int4"};
  EXPECT_EQ(run({examples + "/nested_int4.hlo"}).selected, 0U);
}

TEST_F(Campaign, ShardsAreTheWhole) {
  options.name = "whole";
  run({examples});
  const Json whole = report();
  options.name = "shards";
  options.tool = "2";
  size_t selected = 0;
  for (uint64_t i = 0; i < 3; ++i) {
    options.shard = {i, 3};
    selected += run({examples}).selected;
  }
  const Json shards = report();
  EXPECT_EQ(static_cast<int64_t>(selected), whole["pieces"].get<int64_t>());
  for (const char* const what : {"pieces", "occurrences", "judged", "verdicts", "undetermined"})
    EXPECT_EQ(whole[what], shards[what]) << what;
}

TEST_F(Campaign, BeginsNothingAfterItsBudget) {
  options.budget_seconds = 1e-9;
  const CampaignResult result = run({examples + "/softmax.hlo"});
  EXPECT_EQ(result.judged, 0U);
  EXPECT_EQ(result.left, result.selected);
  EXPECT_GT(result.left, 0U);
  EXPECT_EQ(exit_code(), 3) << "nothing is known of what is left";
  options.budget_seconds = 0;
  run({examples + "/softmax.hlo"});
  EXPECT_EQ(exit_code(), 0);
}

TEST_F(Campaign, JudgesPiecesOnWhatTheyReallySee) {
  options.inputs = InputsFrom::Captured;
  const CampaignResult result = run({examples + "/nested_int4.hlo"});
  EXPECT_EQ(result.judged, result.selected);
  EXPECT_EQ(result.not_captured, 0U);
}

TEST_F(Campaign, ResultsThatTheStoreForgetsAreMissed) {
  const auto forget = [&](const CampaignProgress& at) {
    if (at.doing != "judge" || at.done != 1) return;
    const auto connection = store::connect(store_path, store::Access::Write);
    for (const char* const table : {"campaign_runs", "run_artifacts", "findings", "runs"})
      ASSERT_TRUE((*connection)->run(fmt::format("DELETE FROM {}", table)));
  };
  auto store = store::Store::open(store_path);
  const auto result = run_campaign(*store, pool, {examples + "/softmax.hlo"}, options, forget);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::Resource);
  EXPECT_NE(result.error().message.find("run the same command again"), std::string::npos) << result.error().message;
  EXPECT_GT(run({examples + "/softmax.hlo"}).judged, 0U);
  EXPECT_EQ(report()["judged"], report()["pieces"]);
}

// Compilers that are killed, each as soon as it is there: nothing is said of pieces, and all is judged the next time.
TEST_F(Campaign, WhatIsKilledFromOutsideIsNoResult) {
  const std::string killed = folder + "/killed.sh";
  ASSERT_TRUE(write_file(killed, "#!/bin/sh\nkill -KILL $$\n"));
  std::filesystem::permissions(killed, std::filesystem::perms::owner_all);
  target::CompilerPool kills({.workers = 2, .worker_program = killed});
  auto store = store::Store::open(store_path);
  const auto result = run_campaign(*store, kills, {examples + "/softmax.hlo"}, options, nullptr);
  ASSERT_TRUE(result) << result.error().describe();
  EXPECT_EQ(result->judged, 0U);
  EXPECT_EQ(result->left, 0U);
  ASSERT_EQ(result->without_result.size(), 1U);
  EXPECT_EQ(result->without_result.begin()->second, result->selected);
  EXPECT_NE(result->without_result.begin()->first.find("SIGKILL"), std::string::npos);
  EXPECT_EQ(report()["judged"], 0);
  EXPECT_EQ(run({examples + "/softmax.hlo"}).judged, result->selected);
}

TEST_F(Campaign, OptionsThatTheCompilerDoesNotKnowEndIt) {
  options.check.configuration.options["xla_no_such_option"] = true;
  auto store = store::Store::open(store_path);
  const auto result = run_campaign(*store, pool, {examples + "/softmax.hlo"}, options, nullptr);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::BadInput);
  EXPECT_EQ(report()["judged"], 0);
}

TEST_F(Campaign, ModulesThatCannotBeReadAreTold) {
  ASSERT_TRUE(write_file(folder + "/bad.hlo", "HloModule bad\n"));
  const CampaignResult result = run({folder + "/bad.hlo", examples + "/softmax.hlo"});
  EXPECT_EQ(result.unread.size(), 1U);
  EXPECT_GT(result.judged, 0U);
  auto store = store::Store::open(store_path);
  EXPECT_FALSE(run_campaign(*store, pool, {folder + "/bad.hlo"}, options, nullptr));
}

// Wrong programs for two pieces of attention: those are found, first, and nothing else.
TEST_F(Campaign, FindsWhatACompilerGetsWrong) {
  auto module = hlo::read_module(examples + "/attention.hlo");
  ASSERT_TRUE(module && hlo::verify(*module));
  options.cut_by_form = false;
  options.cut.granularity = Granularity::Region;
  const std::vector<Plant> plants = choose_plants(cut(*module, options.cut).pieces, 2);
  ASSERT_FALSE(plants.empty());
  setenv("PLANTS", plants_text(plants).c_str(), 1);
  target::CompilerPool wrong({.workers = 2, .worker_program = PLANTING_WORKER});
  auto store = store::Store::open(store_path);
  ASSERT_TRUE(run_campaign(*store, wrong, {examples + "/attention.hlo"}, options, nullptr));
  std::set<std::string> expected;
  for (const Plant& plant : plants) expected.insert(plant.fingerprint);
  std::set<std::string> found;
  const auto findings = store->findings(options.name);
  ASSERT_TRUE(findings);
  for (const store::RankedFinding& finding : *findings) found.insert(finding.run.piece);
  EXPECT_EQ(found, expected);
}

}  // namespace
}  // namespace sapper::isolate
