// Stepping real kernels of XLA:CPU: nothing about them changes, and everything they do is seen.
#include "target/step.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "target/x86.h"
#include "tests/target/programs.h"

namespace sapper::target {
namespace {

CompilerPool& pool() {
  static CompilerPool shared({.workers = 1});
  return shared;
}

const Shape shape = Shape::array(ElementType::F32, {67});

class Step : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { SKIP_WITHOUT_PLUGIN(target); }
  StepRequest request(std::string_view text = chain, const char* kernel = "exponential_subtract_fusion") {
    return {.module = program(text), .arguments = {filled(shape, 1), filled(shape, 2)}, .kernel = kernel};
  }
  Target target = parse_target(GetParam()).value();
};

INSTANTIATE_TEST_SUITE_P(Releases, Step, testing::Values("cpu", "cpu@0.106", "cpu@0.81"), [](const auto& test) {
  const std::string release = parse_target(test.param)->release;
  return fmt::format("v{}", release.substr(release.find('.') + 1));
});

TEST_P(Step, GivesTheSameBits) {
  const auto result = pool().step(target, request());
  ASSERT_OK(result);
  EXPECT_FALSE(result->differs);
  EXPECT_FALSE(result->end);
  EXPECT_EQ(result->trace.header().is_cut, 0U);
  EXPECT_EQ(result->trace.header().invocations, 1U);
  EXPECT_GT(result->trace.header().steps, 100U);
  const auto plain =
      pool().compile(target, {.module = program(chain), .argument_sets = {{filled(shape, 1), filled(shape, 2)}}});
  ASSERT_OK(plain);
  EXPECT_TRUE(plain->outputs[0] == result->output);
}

// What goes into the kernel and out of it, and where each step is.
TEST_P(Step, SeesBuffersAndEveryInstruction) {
  const auto result = pool().step(target, request());
  ASSERT_OK(result);
  TraceReader reader(result->trace);
  TraceEvent event;
  ASSERT_TRUE(reader.next(event));
  ASSERT_EQ(event.kind, RecordKind::Entry);
  ASSERT_EQ(event.buffers.size(), 3U);
  EXPECT_TRUE(std::ranges::equal(event.buffers[0].bytes, filled(shape, 1).bytes()));
  uint64_t steps = 0;
  uint32_t at = 0;
  uint32_t changed = 0;
  while (reader.next(event) && event.kind == RecordKind::Step) {
    EXPECT_TRUE(steps > 0 || event.offset == 0);
    ++steps;
    at = event.offset;
    changed |= steps > 1 ? event.vectors : 0;
  }
  EXPECT_EQ(event.kind, RecordKind::Exit);
  EXPECT_EQ(std::to_integer<int>(result->trace.code()[at]), 0xc3);
  EXPECT_NE(changed, 0U);
  ASSERT_EQ(event.buffers.size(), 3U);
  EXPECT_TRUE(std::ranges::equal(event.buffers[2].bytes, result->output.bytes()));
  EXPECT_EQ(steps, result->trace.header().steps);
}

// A tracing process sees the same instructions, and the same values in the registers that they write. 64 elements fill
// whole registers: else what the caller left in the others would be compared, too.
TEST_P(Step, IsTheSameFromAnotherProcess) {
  const Shape whole = Shape::array(ElementType::F32, {64});
  std::string text = chain;
  for (size_t at = 0; (at = text.find("[67]", at)) != std::string::npos;) text.replace(at, 4, "[64]");
  StepRequest from_inside = request(text);
  from_inside.arguments = {filled(whole, 1), filled(whole, 2)};
  const auto inside = pool().step(target, from_inside);
  StepRequest from_outside = from_inside;
  from_outside.is_traced = true;
  const auto outside = pool().step(target, from_outside);
  ASSERT_OK(inside);
  if (!outside && outside.error().kind == ErrorKind::Unsupported) GTEST_SKIP() << outside.error().message;
  ASSERT_OK(outside);
  EXPECT_FALSE(outside->differs);
  EXPECT_TRUE(outside->output == inside->output);
  EXPECT_EQ(inside->trace.header().by, SteppedBy::Breakpoints);
  EXPECT_EQ(outside->trace.header().by, SteppedBy::Tracer);
  EXPECT_EQ(outside->trace.header().steps, inside->trace.header().steps);
  TraceReader a(inside->trace);
  TraceReader b(outside->trace);
  TraceEvent x;
  TraceEvent y;
  bool is_first = true;  // what was in the registers before is of the caller
  while (a.next(x)) {
    ASSERT_TRUE(b.next(y));
    ASSERT_EQ(x.kind, y.kind);
    if (x.kind != RecordKind::Step) continue;
    ASSERT_EQ(x.offset, y.offset);
    const uint32_t vectors = is_first ? 0 : x.vectors | y.vectors;
    const uint32_t masks = is_first ? 0 : x.masks | y.masks;
    for (size_t r = 0; r < 32; ++r) {
      if ((vectors >> r & 1) == 0) continue;
      EXPECT_EQ(a.registers().vectors[r].bytes, b.registers().vectors[r].bytes) << x.offset << " vector " << r;
    }
    for (size_t r = 0; r < 8; ++r) {
      if ((masks >> r & 1) == 0) continue;
      EXPECT_EQ(a.registers().masks[r], b.registers().masks[r]) << x.offset << " mask " << r;
    }
    is_first = false;
  }
  EXPECT_FALSE(b.next(y));
}

// At least 100,000 instructions a second, of a kernel long enough to tell.
TEST_P(Step, CountsItsStepsAndItsTime) {
  const Shape large = Shape::array(ElementType::F32, {65536});
  StepRequest large_request = request(R"(HloModule large
    ENTRY main {
      x = f32[65536] parameter(0)
      y = f32[65536] parameter(1)
      a = f32[65536] add(x, y)
      ROOT b = f32[65536] multiply(a, x)
    })",
                                      "add_multiply_fusion");
  large_request.arguments = {filled(large, 1), filled(large, 2)};
  const auto result = pool().step(target, large_request);
  ASSERT_OK(result);
  const TraceHeader& header = result->trace.header();
  ASSERT_GT(header.steps, 10'000U);
  RecordProperty("steps_per_second", static_cast<int>(static_cast<double>(header.steps) / header.seconds));
  EXPECT_GT(header.seconds, 0);
}

TEST_P(Step, StopsAtItsLimits) {
  StepRequest few = request();
  few.step_limit = 50;
  const auto result = pool().step(target, few);
  ASSERT_OK(result);
  EXPECT_FALSE(result->differs);
  EXPECT_EQ(result->trace.header().is_cut, 1U);
  EXPECT_EQ(result->trace.header().steps, 50U);
  StepRequest small = request();
  small.trace_bytes = 4096;
  const auto cut = pool().step(target, small);
  ASSERT_OK(cut);
  EXPECT_FALSE(cut->differs);
  EXPECT_EQ(cut->trace.header().is_cut, 1U);
}

// A defect is there in both runs.
TEST_P(Step, RunsPatchedCode) {
  const auto plain = pool().step(target, request());
  ASSERT_OK(plain);
  StepRequest patched = request();
  const std::span<const std::byte> code = plain->trace.code();
  for (size_t at = 0; at < code.size();) {
    const auto instruction = decode_x86(code.subspan(at));
    ASSERT_TRUE(instruction);
    if (instruction->map == 1 && instruction->vector_bytes != 0 && instruction->opcode == 0x5e)  // divide: multiply
      patched.patches.emplace_back(static_cast<uint32_t>(at + instruction->length - 2), 0x59);
    at += instruction->length;
  }
  ASSERT_FALSE(patched.patches.empty());
  const auto result = pool().step(target, patched);
  ASSERT_OK(result);
  EXPECT_FALSE(result->differs);
  EXPECT_FALSE(result->output == plain->output);
}

// A kernel that dies leaves what it did before.
TEST_P(Step, OutlivesAKernelThatCrashes) {
  const auto plain = pool().step(target, request());
  ASSERT_OK(plain);
  StepRequest patched = request();
  patched.patches = {{0, 0x0f}, {1, 0x0b}};  // ud2
  const auto result = pool().step(target, patched);
  ASSERT_FALSE(result);  // even without stepping
  EXPECT_EQ(result.error().kind, ErrorKind::Crash);
}

TEST_P(Step, SaysWhichKernelsThereAre) {
  const auto result = pool().step(target, request(chain, "nonsense"));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::Unsupported);
  EXPECT_THAT(result.error().message, testing::HasSubstr("exponential_subtract_fusion"));
}

// Bytes that are no instruction, where the kernel never comes (of this release's code a part never runs): breakpoints
// cannot be set, so another process steps.
TEST(StepWithoutBreakpoints, FallsBackToAnotherProcess) {
  const Target target = parse_target("cpu@0.106").value();
  SKIP_WITHOUT_PLUGIN(target);
  const StepRequest request{.module = program(chain),
                            .arguments = {filled(shape, 1), filled(shape, 2)},
                            .kernel = "exponential_subtract_fusion"};
  const auto plain = pool().step(target, request);
  ASSERT_OK(plain);
  std::set<uint32_t> executed;
  TraceReader reader(plain->trace);
  for (TraceEvent event; reader.next(event);)
    if (event.kind == RecordKind::Step) executed.insert(event.offset);
  StepRequest patched = request;
  const std::span<const std::byte> code = plain->trace.code();
  for (size_t at = 0; at < code.size() && patched.patches.empty(); at += decode_x86(code.subspan(at))->length)
    if (!executed.contains(static_cast<uint32_t>(at))) patched.patches.emplace_back(static_cast<uint32_t>(at), 0x06);
  ASSERT_FALSE(patched.patches.empty());
  const auto result = pool().step(target, patched);
  if (!result && result.error().kind == ErrorKind::Unsupported) {
    EXPECT_THAT(result.error().message, testing::HasSubstr("no x86-64 instruction"));
    GTEST_SKIP() << result.error().message;
  }
  ASSERT_OK(result);
  EXPECT_FALSE(result->differs);
  EXPECT_TRUE(result->output == plain->output);
  EXPECT_EQ(result->trace.header().by, SteppedBy::Tracer);
  EXPECT_EQ(result->trace.header().steps, plain->trace.header().steps);
  RecordProperty("steps_per_second",
                 static_cast<int>(static_cast<double>(result->trace.header().steps) / result->trace.header().seconds));
}

}  // namespace
}  // namespace sapper::target
