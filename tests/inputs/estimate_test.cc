// What the forward pass knows of values.
#include "inputs/estimate.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hlo/text.h"

namespace sapper::inputs {
namespace {

TEST(Estimate, LoopCounterStaysBelowTheConstantOfItsCondition) {
  const auto module = hlo::parse_text(R"(HloModule m

more (state: (s32[], f32[4])) -> pred[] {
  state = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  rows = s32[] constant(10)
  ROOT more = pred[] compare(i, rows), direction=LT
}

step (state: (s32[], f32[4])) -> (s32[], f32[4]) {
  state = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  x = f32[4] get-tuple-element(state), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT r = (s32[], f32[4]) tuple(next, x)
}

ENTRY e (x: f32[4]) -> (s32[], f32[4]) {
  x = f32[4] parameter(0)
  first = s32[] constant(0)
  start = (s32[], f32[4]) tuple(first, x)
  ROOT end = (s32[], f32[4]) while(start), condition=more, body=step
})");
  ASSERT_TRUE(module.has_value());
  const FlatProgram program = flatten(*module);
  const std::vector<Estimate> estimates = estimate(*module, program, std::vector<Estimate>(1), {});
  const auto entry = std::find_if(program.nodes.begin(), program.nodes.end(),
                                  [](const FlatNode& node) { return node.step == Step::LoopEntry; });
  ASSERT_NE(entry, program.nodes.end());
  const Estimate& counter = estimates[entry - program.nodes.begin()];
  EXPECT_EQ(counter.bounds.low, 0);
  EXPECT_EQ(counter.bounds.high, 9);
  EXPECT_FALSE(counter.adjustable);
}

}  // namespace
}  // namespace sapper::inputs
