// Roundings written down: the program means the same, and XLA:TPU keeps them in a kernel that stays one.
#include "inspect/fix.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file.h"
#include "eval/evaluator.h"
#include "hlo/text.h"
#include "hlo/verifier.h"
#include "target/target.h"

namespace sapper::inspect {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const char* const residual = R"(
HloModule residual
ENTRY main {
  x = f32[1024] parameter(0)
  h = f16[1024] convert(x)
  y = f32[1024] convert(h)
  ROOT r = f32[1024] subtract(x, y)
})";

const char* const product = R"(
HloModule product
ENTRY main {
  x = bf16[1024] parameter(0)
  y = bf16[1024] parameter(1)
  p = bf16[1024] multiply(x, y)
  ROOT q = f32[1024] convert(p)
})";

hlo::Module rounded(const char* text, const std::vector<std::string>& names) {
  std::vector<std::string> fixed, left;
  hlo::Module module = with_explicit_roundings(*hlo::parse_text(text), names, fixed, left);
  EXPECT_EQ(fixed, names);
  EXPECT_THAT(left, IsEmpty());
  const Status verified = hlo::verify(module);
  EXPECT_TRUE(verified) << verified.error().describe() << hlo::to_text(module);
  return module;
}

void expect_same_bits(const char* text, const std::vector<std::string>& names, double scale) {
  const hlo::Module before = *hlo::parse_text(text);
  const hlo::Module after = rounded(text, names);
  std::vector<hlo::Literal> arguments;
  for (const hlo::InstructionIndex parameter : before.entry_computation().parameters()) {
    hlo::Literal& argument = arguments.emplace_back(before.entry_computation().instructions[parameter].shape);
    for (int64_t i = 0; i < argument.element_count(); ++i)
      argument.set_real(i, scale * (static_cast<double>(i * 7919 % 1021) - 510.3));
  }
  EXPECT_EQ(*eval::evaluate(before, arguments), *eval::evaluate(after, arguments)) << scale;
}

TEST(Roundings, WrittenDownMeanTheSame) {
  // From numbers that f16 has as zeros and subnormal ones to those that it has as infinities.
  for (const double scale : {1e-12, 1e-10, 1e-7, 1e-5, 1e-3, 1.0, 300.0}) expect_same_bits(residual, {"h"}, scale);
  for (const double scale : {1e-3, 1.0, 1e15}) expect_same_bits(product, {"p"}, scale);
}

TEST(Roundings, WhatCannotBeWrittenDownIsSaid) {
  std::vector<std::string> fixed, left;
  const hlo::Module module = *hlo::parse_text(residual);
  EXPECT_EQ(hlo::to_text(with_explicit_roundings(module, {"y"}, fixed, left)), hlo::to_text(module));
  EXPECT_THAT(fixed, IsEmpty());
  EXPECT_THAT(left, ElementsAre("y: its result is no narrow float"));
}

class FixOnCpu : public ::testing::TestWithParam<const char*> {};

TEST_P(FixOnCpu, KeepsTheRoundingOfAProduct) {
  InspectOptions options;
  options.check.target = *target::parse_target(GetParam());
  if (!target::plugin_present(options.check.target)) GTEST_SKIP() << "no " << GetParam() << " here";
  options.check.sampling.seeds = 1;
  target::CompilerPool pool({.workers = 1, .worker_program = SAPPER_BINARY});
  const std::string path = SAPPER_SOURCE_DIR "/examples/bf16_product.hlo";
  const hlo::Module module = *hlo::parse_text(*read_file(path));
  const Result<Fix> fix = fix_kernel(pool, module, path, options);
  ASSERT_TRUE(fix) << fix.error().describe();
  EXPECT_THAT(fix->fixed, ElementsAre("p"));
  EXPECT_TRUE(fix->holds()) << to_text(*fix);
  EXPECT_GT(fix->before.output_differing, 900);
  EXPECT_EQ(fix->after.output_differing, 0);
}
INSTANTIATE_TEST_SUITE_P(Releases, FixOnCpu, ::testing::Values("cpu", "cpu@0.106", "cpu@0.81"));

TEST(Fix, XlaTpuKeepsWhatIsWrittenDown) {
  InspectOptions options;
  options.check.target = *target::parse_target("tpu:v5e");
  if (!target::plugin_present(options.check.target)) GTEST_SKIP() << "no XLA:TPU here";
  options.check.sampling.seeds = 1;
  target::CompilerPool pool({.workers = 1, .worker_program = SAPPER_BINARY});
  const Result<Fix> fix = fix_kernel(pool, *hlo::parse_text(residual), "residual.hlo", options);
  ASSERT_TRUE(fix) << fix.error().describe();
  EXPECT_THAT(fix->fixed, ElementsAre("h"));
  EXPECT_TRUE(fix->holds()) << to_text(*fix);
  EXPECT_EQ(fix->before.output_differing, 1024);
  EXPECT_EQ(fix->after.output_differing, 0);
  EXPECT_EQ(fix->kernels_after, 1U);

  const Result<Fix> nothing = fix_kernel(pool, fix->module, "fixed.hlo", options);
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().kind, ErrorKind::BadInput);
}

}  // namespace
}  // namespace sapper::inspect
