// What the README says of the examples, on inputs that nobody chose.
#include <gtest/gtest.h>

#include "check/check.h"
#include "target/target.h"

namespace sapper::check {
namespace {

Report check_example(const std::string& name, const std::string& on) {
  CheckOptions options;
  options.target = *target::parse_target(on);
  target::CompilerPool pool({.workers = 1, .worker_program = SAPPER_BINARY});
  return check_file(pool, std::string(SAPPER_SOURCE_DIR) + "/examples/" + name + ".hlo", options);
}

TEST(Examples, FourBitsThatDoNotWrapAreFound) {
  if (!target::plugin_present(*target::parse_target("cpu"))) GTEST_SKIP() << "no plugin for cpu";
  const Report report = check_example("int4_wrap", "cpu");
  EXPECT_EQ(report.verdict, Verdict::Mismatch) << report.reason;
  ASSERT_TRUE(report.guilty);
  EXPECT_EQ(report.guilty->pass, "float-normalization-s4");
}

TEST(Examples, TheyDoNotWrapDeepInsideEither) {
  if (!target::plugin_present(*target::parse_target("cpu"))) GTEST_SKIP() << "no plugin for cpu";
  EXPECT_EQ(check_example("nested_int4", "cpu").verdict, Verdict::Mismatch);
}

TEST(Examples, SoftmaxAgrees) {
  if (!target::plugin_present(*target::parse_target("cpu"))) GTEST_SKIP() << "no plugin for cpu";
  EXPECT_EQ(check_example("softmax", "cpu").verdict, Verdict::Agree);
}

}  // namespace
}  // namespace sapper::check
