// Machine code of XLA:CPU judged by the program that it was made from, when that is not the one that was written.
#include <gtest/gtest.h>

#include "check/check.h"
#include "hlo/text.h"
#include "target/target.h"

namespace sapper::check {
namespace {

// algsimp multiplies by the reciprocal, and the machine code does not round that product before it subtracts.
const std::string division = R"(HloModule m
ENTRY main {
  x = f32[32,32] parameter(0)
  scale = f32[] constant(2.0951)
  scales = f32[32,32] broadcast(scale), dimensions={}
  quotient = f32[32,32] divide(x, scales)
  shift = f32[] constant(1.8)
  shifts = f32[32,32] broadcast(shift), dimensions={}
  ROOT y = f32[32,32] subtract(quotient, shifts)
}
)";

TEST(Native, ProductsThatPassesMadeAreContracted) {
  CheckOptions options;
  options.target = *target::parse_target("cpu");
  if (!target::plugin_present(options.target)) GTEST_SKIP() << "no plugin for cpu";
  target::CompilerPool pool({.workers = 1, .worker_program = SAPPER_BINARY});
  const Report report = check_module(pool, *hlo::parse_text(division), "m.hlo", options);
  EXPECT_EQ(report.verdict, Verdict::Policy) << report.reason;
  options.strict = true;
  EXPECT_EQ(check_module(pool, *hlo::parse_text(division), "m.hlo", options).verdict, Verdict::Mismatch);
}

}  // namespace
}  // namespace sapper::check
