// The known real miscompilations of ../shared/cases/zoo: plain violations of HLO semantics get exactly the verdict that
// was measured for each release of XLA:CPU and XLA:TPU, and a mismatch names who did it. What policy may allow is a
// mismatch under --strict.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "check/check.h"
#include "target/target.h"

namespace sapper::check {
namespace {

const std::string zoo = std::string(SAPPER_SOURCE_DIR) + "/../shared/cases/zoo";

target::CompilerPool& pool() {
  static auto* const shared = new target::CompilerPool({.workers = 2, .worker_program = SAPPER_BINARY});
  return *shared;
}

Report check_case(const std::string& name, const std::string& on, bool strict = false) {
  CheckOptions options;
  options.target = *target::parse_target(on);
  options.inputs = zoo + "/" + name + ".npz";
  options.strict = strict;
  return check_file(pool(), zoo + "/" + name + ".hlo", options);
}

nlohmann::json cases_of(const std::set<std::string>& classes) {
  std::ifstream file(zoo + "/zoo.json");
  auto cases = nlohmann::json::parse(file);
  std::erase_if(cases.get_ref<nlohmann::json::array_t&>(),
                [&](const auto& one) { return !classes.contains(one["class"].template get<std::string>()); });
  return cases;
}

nlohmann::json plain_violations() { return cases_of({"A", "B"}); }

class Zoo : public ::testing::TestWithParam<std::string> {};

TEST_P(Zoo, PlainViolationsGetTheMeasuredVerdict) {
  const std::string target = GetParam();
  if (!std::filesystem::exists(zoo)) GTEST_SKIP() << "no cases beside the checkout";
  if (!target::plugin_path(*target::parse_target(target))) GTEST_SKIP() << "no plugin for " << target;
  int judged = 0;
  for (const auto& one : plain_violations()) {
    const Report report = check_case(one["name"], target);
    EXPECT_EQ(to_string(report.verdict), one["plugins"][target].get<std::string>())
        << one["name"] << " on " << target << ": " << report.reason;
    if (report.verdict == Verdict::Mismatch) {
      EXPECT_TRUE(report.guilty.has_value()) << one["name"] << " on " << target;
    }
    ++judged;
  }
  EXPECT_EQ(judged, 33);
}

// How often such a constant enters the result is left open, so nothing proves the compiler wrong, nor excuses it.
TEST_P(Zoo, ReductionsThatDoNotStartFromWhatIsNeutralAreUndetermined) {
  const std::string target = GetParam();
  if (!std::filesystem::exists(zoo)) GTEST_SKIP() << "no cases beside the checkout";
  if (!target::plugin_path(*target::parse_target(target))) GTEST_SKIP() << "no plugin for " << target;
  for (const auto& one : cases_of({"D"})) {
    if (one["plugins"][target] == "agree") continue;
    const Report report = check_case(one["name"], target);
    EXPECT_EQ(to_string(report.verdict), "undetermined") << one["name"] << " on " << target;
    EXPECT_NE(report.reason.find("not neutral"), std::string::npos) << one["name"] << ": " << report.reason;
  }
}

// Verdicts by default and under --strict.
struct Judged {
  std::string by_default, strict;
};

// Of classes C and E, where the release is wrong; docs/verdicts.md says why of those that are not as the class says.
Judged expected_of(const std::string& name, const std::string& of_class) {
  static const std::map<std::string, Judged> others = {
      // The order of factors is open, and the product of all but the 0 overflows.
      {"prod_zero_inf", {"policy", "undetermined"}},
      // Differences of equal products, and subnormal divisors: bounds allow anything, of which none is documented.
      {"fma_axbx", {"undetermined", "mismatch"}},
      {"div_const_small", {"undetermined", "mismatch"}},
      {"f64_bf16_subnormal", {"policy", "mismatch"}},
      // One component of a complex number overflows.
      {"expm1_c64", {"undetermined", "undetermined"}},
  };
  if (const auto other = others.find(name); other != others.end()) return other->second;
  return of_class == "C" ? Judged{"policy", "mismatch"} : Judged{"mismatch", "mismatch"};
}

TEST_P(Zoo, WhatPolicyMayAllowIsAMismatchUnderStrict) {
  const std::string target = GetParam();
  if (!std::filesystem::exists(zoo)) GTEST_SKIP() << "no cases beside the checkout";
  if (!target::plugin_path(*target::parse_target(target))) GTEST_SKIP() << "no plugin for " << target;
  for (const auto& one : cases_of({"C", "E"})) {
    const std::string name = one["name"];
    // Whether f64 is rounded to f16 twice depends on the instructions that the processor has.
    if (name == "f64_to_f16_double_round") continue;
    const bool is_wrong = one["plugins"][target] == "mismatch";
    const Judged expected = is_wrong ? expected_of(name, one["class"]) : Judged{"agree", "agree"};
    const Report by_default = check_case(name, target), strict = check_case(name, target, true);
    EXPECT_EQ(to_string(by_default.verdict), expected.by_default) << name << " on " << target << by_default.reason;
    EXPECT_EQ(to_string(strict.verdict), expected.strict) << name << " on " << target << strict.reason;
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, Zoo, ::testing::Values("cpu@0.81", "cpu@0.106", "cpu@0.115"), [](const auto& test) {
  return test.param == "cpu@0.81" ? "r81" : test.param == "cpu@0.106" ? "r106" : "r115";
});

class TpuZoo : public ::testing::TestWithParam<std::string> {};

// What each release's optimized HLO was seen to compute. The first cases of either kind; SAPPER_SLOW_TESTS=1: all.
TEST_P(TpuZoo, OptimizedProgramsAreAsMeasured) {
  const std::string release = GetParam();
  const std::string target = "tpu:v5e@" + release;
  if (!std::filesystem::exists(zoo)) GTEST_SKIP() << "no cases beside the checkout";
  if (!target::plugin_present(*target::parse_target(target)))
    GTEST_SKIP() << "libtpu " << release << " not in the cache";
  const bool is_slow = std::getenv("SAPPER_SLOW_TESTS") != nullptr;
  int wrong = 0;
  int right = 0;
  for (const auto& one : plain_violations()) {
    if (!one.contains("tpu")) continue;
    const auto listed = [&](const char* list) {
      const auto& releases = one["tpu"][list];
      return std::find(releases.begin(), releases.end(), release) != releases.end();
    };
    const bool is_wrong = listed("wrong");
    if (!is_wrong && !listed("ok")) continue;
    if (++(is_wrong ? wrong : right) > 2 && !is_slow) continue;
    const Report report = check_case(one["name"], target);
    // What was seen right within a tolerance may still be an identity of real algebra: policy.
    const bool is_right = report.verdict == Verdict::Agree || report.verdict == Verdict::Policy;
    EXPECT_TRUE(is_wrong ? report.verdict == Verdict::Mismatch : is_right)
        << one["name"] << " on " << target << ": " << to_string(report.verdict) << " " << report.reason;
    EXPECT_EQ(report.guilty.has_value(), is_wrong) << one["name"] << " on " << target;
  }
  EXPECT_GT(wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(Releases, TpuZoo, ::testing::Values("0.0.41", "0.0.45", "0.0.48", "0.0.52"),
                         [](const auto& test) {
                           return fmt::format("r{}", test.param.substr(test.param.rfind('.') + 1));
                         });

}  // namespace
}  // namespace sapper::check
