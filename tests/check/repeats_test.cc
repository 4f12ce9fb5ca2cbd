// What a device computes wrongly is computed again: is it the same?
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "check/check.h"
#include "check/report.h"
#include "hlo/text.h"
#include "target/target.h"
#include "tests/target/environment.h"

namespace sapper::check {
namespace {

// A value that nothing may change, and a sum whose last bit is free.
const std::string program = R"(HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY main {
  x = f32[64] parameter(0)
  zero = f32[] constant(0)
  negated = f32[64] negate(x)
  sum = f32[] reduce(x, zero), dimensions={0}, to_apply=add
  ROOT both = (f32[64], f32[]) tuple(negated, sum)
}
)";

class Repeated : public testing::Test {
 protected:
  void SetUp() override {
    options.target = *target::parse_target("cpu");
    options.sampling.seeds = 1;
    if (!target::plugin_present(options.target)) GTEST_SKIP() << "no plugin for cpu";
  }

  // On a device whose runs are as the letters say (unsteady_worker.cc).
  [[nodiscard]] Report check(const std::string& letters) const {
    const target::Environment unsteady("UNSTEADY", letters);
    target::CompilerPool pool({.workers = 1, .worker_program = UNSTEADY_WORKER});
    return check_module(pool, *hlo::parse_text(program), "m.hlo", options);
  }

  CheckOptions options;
};

TEST_F(Repeated, TheSameWrongResultIsTheCompilers) {
  const Report report = check("a");
  EXPECT_EQ(report.verdict, Verdict::Mismatch) << report.reason;
  ASSERT_TRUE(report.guilty);
  EXPECT_EQ(report.guilty->pass, "codegen");
  ASSERT_TRUE(report.repeats);
  EXPECT_EQ(report.repeats->runs, 9);
  EXPECT_EQ(report.repeats->wrong, 9);
  EXPECT_EQ(report.repeats->differing, 0);
  EXPECT_EQ(to_text(signature_of(report)), "mismatch by native: codegen (another number)");
}

TEST_F(Repeated, WrongNowAndThenIsNoPassesDoing) {
  const Report report = check("a..a.b");  // the first run, then "..a.ba.."
  EXPECT_EQ(report.verdict, Verdict::Mismatch);
  EXPECT_FALSE(report.guilty);
  EXPECT_EQ(report.reason, "not the same twice: 9 runs on the same arguments, 4 wrong, 6 not as the first");
  EXPECT_EQ(to_text(signature_of(report)), "mismatch (not the same twice)");
  const auto json = nlohmann::json::parse(to_json(report));
  EXPECT_EQ(json["repeats"], nlohmann::json::parse(R"({"runs": 9, "wrong": 4, "differing": 6})"));
  EXPECT_TRUE(json["guilty"].is_null());
}

TEST_F(Repeated, WrongInAnotherWayIsNotTheSame) {
  const Report report = check("ab");
  EXPECT_EQ(report.verdict, Verdict::Mismatch);
  EXPECT_FALSE(report.is_same_twice());
  EXPECT_EQ(report.repeats->wrong, 9);
}

TEST_F(Repeated, OrderOfASumBesideWhatIsWrongIsFree) {
  const Report report = check("as");
  EXPECT_EQ(report.verdict, Verdict::Mismatch);
  EXPECT_TRUE(report.is_same_twice());
  ASSERT_TRUE(report.guilty);
  EXPECT_EQ(report.guilty->pass, "codegen");
}

TEST_F(Repeated, WhatAgreesIsNotRunAgain) {
  const Report report = check(".a");
  EXPECT_EQ(report.verdict, Verdict::Agree) << report.reason;
  EXPECT_FALSE(report.repeats);
}

}  // namespace
}  // namespace sapper::check
