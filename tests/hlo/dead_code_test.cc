// What is left of a program that returns less.
#include "hlo/dead_code.h"

#include <gtest/gtest.h>

#include "hlo/text.h"
#include "hlo/verifier.h"

namespace sapper::hlo {
namespace {

Module parse(const std::string& text) {
  auto module = parse_text(text);
  EXPECT_TRUE(module.has_value()) << (module ? "" : module.error().describe());
  return *std::move(module);
}

const char* const text = R"(
HloModule m
twice { t = f32[] parameter(0) ROOT tt = f32[] add(t, t) }
ENTRY e {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  c = f32[] call(x), to_apply=twice
  n = f32[] negate(y)
  inner = (f32[], f32[]) tuple(c, n)
  taken = f32[] get-tuple-element(inner), index=1
  ROOT r = (f32[], (f32[], f32[])) tuple(taken, inner)
})";

TEST(DeadCode, ReturnsOnlyTheLeavesWanted) {
  Module module = parse(text);
  ASSERT_TRUE(return_only(module, {1}));
  EXPECT_TRUE(verify(module).has_value());
  EXPECT_EQ(module.entry_computation().root_instruction().shape.to_text(false), "(f32[])");
  EXPECT_EQ(module.instruction_count(), 6);  // x, y, the call and what it calls, the tuple
  EXPECT_EQ(module.computations.size(), 2);

  Module other = parse(text);
  ASSERT_TRUE(return_only(other, {2, 0}));
  EXPECT_TRUE(verify(other).has_value());
  EXPECT_EQ(other.computations.size(), 1);
  EXPECT_EQ(other.instruction_count(), 4);  // x, y, negate, the tuple
}

TEST(DeadCode, ATupleFromElsewhereIsLeftAlone) {
  Module module = parse(R"(
HloModule m
pair { p = f32[] parameter(0) ROOT pp = (f32[], f32[]) tuple(p, p) }
ENTRY e {
  x = f32[] parameter(0)
  ROOT r = (f32[], f32[]) call(x), to_apply=pair
})");
  EXPECT_FALSE(return_only(module, {0}));
  EXPECT_EQ(module.instruction_count(), 4);
}

}  // namespace
}  // namespace sapper::hlo
