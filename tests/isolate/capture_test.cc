#include "isolate/capture.h"

#include <gtest/gtest.h>

#include <limits>

#include "hlo/text.h"

namespace sapper::isolate {
namespace {

hlo::Module module_of(const std::string& text) {
  auto module = hlo::parse_text(text);
  EXPECT_TRUE(module) << module.error().describe();
  return std::move(*module);
}

hlo::Literal floats(const std::vector<float>& values) {
  hlo::Literal literal(hlo::Shape::array(hlo::ElementType::F32, {std::ssize(values)}));
  for (size_t i = 0; i < values.size(); ++i) literal.set_real(static_cast<int64_t>(i), values[i]);
  return literal;
}

const char* const text = R"(HloModule m
ENTRY e {
  x = f32[3] parameter(0)
  y = f32[3] add(x, x)
  z = f32[3] negate(y)
  t = (f32[3], f32[3]) tuple(x, z)
  w = f32[3] get-tuple-element(t), index=1
  ROOT r = f32[3] add(w, x)
}
)";

// An occurrence whose parameters are the named instructions.
Occurrence taking(const hlo::Module& module, const std::vector<std::string>& names) {
  Occurrence occurrence;
  occurrence.computation = module.entry;
  const auto& instructions = module.entry_computation().instructions;
  for (const std::string& name : names)
    for (hlo::InstructionIndex i = 0; i < instructions.size(); ++i)
      if (instructions[i].name == name) occurrence.inputs.push_back({i, 0});
  return occurrence;
}

TEST(Capture, GivesWhatTheInstructionsWere) {
  const hlo::Module module = module_of(text);
  const std::vector<hlo::Literal> arguments{floats({1, 2, 3})};
  const Occurrence occurrence = taking(module, {"x", "z", "w"});
  const Occurrence* const occurrences[] = {&occurrence};
  const auto captured = capture(module, arguments, occurrences, {});
  ASSERT_TRUE(captured) << captured.error().describe();
  ASSERT_TRUE((*captured)[0]);
  EXPECT_EQ(*(*captured)[0], (std::vector<hlo::Literal>{arguments[0], floats({-2, -4, -6}), floats({-2, -4, -6})}));
}

TEST(Capture, KeepsNoMoreThanItMay) {
  const hlo::Module module = module_of(text);
  const std::vector<hlo::Literal> arguments{floats({1, 2, 3})};
  const Occurrence first = taking(module, {"x"});
  const Occurrence second = taking(module, {"x", "y"});
  const Occurrence* const occurrences[] = {&first, &second};
  const auto captured = capture(module, arguments, occurrences, {.evaluation = {}, .memory_bytes = 12});
  ASSERT_TRUE(captured);
  EXPECT_TRUE((*captured)[0]);
  EXPECT_FALSE((*captured)[1]);
}

TEST(Capture, SummariesAreOfFiniteElements) {
  const TensorSummary summary = summarize(floats({1, 3, std::numeric_limits<float>::infinity()}));
  EXPECT_EQ(summary.min, 1);
  EXPECT_EQ(summary.max, 3);
  EXPECT_EQ(summary.mean, 2);
  EXPECT_EQ(summary.stddev, 1);
  EXPECT_EQ(summarize(floats({})).max, 0);
}

}  // namespace
}  // namespace sapper::isolate
