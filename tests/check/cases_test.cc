// The known real miscompilations of ../shared/cases/zoo: on the three XLA:CPU plugins, plain violations of HLO
// semantics get exactly the verdict that was measured for each release, and a mismatch names who did it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

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

class Zoo : public ::testing::TestWithParam<std::string> {};

TEST_P(Zoo, PlainViolationsGetTheMeasuredVerdict) {
  const std::string target = GetParam();
  if (!std::filesystem::exists(zoo)) GTEST_SKIP() << "no cases beside the checkout";
  if (!target::plugin_path(*target::parse_target(target))) GTEST_SKIP() << "no plugin for " << target;
  std::ifstream file(zoo + "/zoo.json");
  const auto cases = nlohmann::json::parse(file);
  int judged = 0;
  for (const auto& one : cases) {
    const std::string kind = one["class"];
    if (kind != "A" && kind != "B") continue;
    const Report report = check_case(one["name"], target);
    EXPECT_EQ(to_string(report.verdict), one["plugins"][target].get<std::string>())
        << one["name"] << " (" << kind << ") on " << target << ": " << report.reason;
    if (report.verdict == Verdict::Mismatch) {
      EXPECT_TRUE(report.guilty.has_value()) << one["name"] << " on " << target;
    }
    ++judged;
  }
  EXPECT_EQ(judged, 33);
}

INSTANTIATE_TEST_SUITE_P(Cpu, Zoo, ::testing::Values("cpu@0.81", "cpu@0.106", "cpu@0.115"), [](const auto& test) {
  return test.param == "cpu@0.81" ? "r81" : test.param == "cpu@0.106" ? "r106" : "r115";
});

}  // namespace
}  // namespace sapper::check
