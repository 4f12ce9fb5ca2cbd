// The walk: the guilty pass among fabricated stages.
#include "check/walk.h"

#include <gtest/gtest.h>

#include <cmath>

#include "hlo/text.h"

namespace sapper::check {
namespace {

using hlo::ElementType;
using hlo::Literal;
using hlo::Shape;

std::string module_of(const std::string& body) { return "HloModule m\nENTRY e {\n" + body + "\n}\n"; }

const std::string exp_div = module_of(R"(
  a = f32[3] parameter(0)
  b = f32[3] parameter(1)
  ea = f32[3] exponential(a)
  eb = f32[3] exponential(b)
  ROOT r = f32[3] divide(ea, eb))");
const std::string exp_sub = module_of(R"(
  a = f32[3] parameter(0)
  b = f32[3] parameter(1)
  s = f32[3] subtract(a, b)
  ROOT r = f32[3] exponential(s))");
const std::string exp_add = module_of(R"(
  a = f32[3] parameter(0)
  b = f32[3] parameter(1)
  s = f32[3] add(a, b)
  ROOT r = f32[3] exponential(s))");

// (a + b) - b, in real numbers a.
const std::string there_and_back = module_of(R"(
  a = f32[3] parameter(0)
  b = f32[3] parameter(1)
  s = f32[3] add(a, b)
  ROOT r = f32[3] subtract(s, b))");
const std::string nowhere = module_of(R"(
  a = f32[3] parameter(0)
  b = f32[3] parameter(1)
  ROOT r = f32[3] copy(a))");
const std::string there = module_of(R"(
  a = f32[3] parameter(0)
  b = f32[3] parameter(1)
  ROOT r = f32[3] add(a, b))");

target::HloStage stage(int index, const std::string& pass, const std::string& text) { return {index, "p", pass, text}; }

Literal values(std::vector<double> elements) {
  Literal literal(Shape::array(ElementType::F32, {static_cast<int64_t>(elements.size())}));
  for (size_t i = 0; i < elements.size(); ++i) literal.set_real(static_cast<int64_t>(i), elements[i]);
  return literal;
}

Walk walk(const std::vector<target::HloStage>& stages, const std::vector<Literal>& arguments, bool strict = false) {
  const auto module = hlo::parse_text(stages[0].module);
  EXPECT_TRUE(module.has_value()) << (module ? "" : module.error().describe());
  Judge judge(*module, arguments, {}, std::nullopt, {.strict = strict});
  EXPECT_TRUE(judge.prepare().has_value());
  return walk_stages(judge, stages, strict, true);
}

TEST(Walk, NamesTheFirstStageThatMeansSomethingElse) {
  const Walk result = walk(
      {stage(0, "input", exp_div), stage(1, "dce", exp_div), stage(2, "broken", exp_add), stage(3, "cse", exp_add)},
      {values({1, 2, 3}), values({1, 1, 1})});
  ASSERT_TRUE(result.guilty.has_value());
  EXPECT_EQ(result.guilty->pass, "broken");
  EXPECT_EQ(result.guilty->after, "");
  EXPECT_EQ(result.verdict, Verdict::Mismatch);
  EXPECT_FALSE(result.stages[1].changed);
  EXPECT_EQ(result.stages[3].verdict, Verdict::Mismatch);
}

TEST(Walk, RealAlgebraIsPolicyAndTheWalkGoesOnFromIt) {
  const std::vector<Literal> arguments{values({1, 2, 3}), values({1e8, 1, 1})};  // 1 + 1e8 is 1e8 in f32
  const std::vector<target::HloStage> stages{stage(0, "input", there_and_back), stage(1, "algsimp", nowhere),
                                             stage(2, "cse", nowhere)};
  const Walk allowed = walk(stages, arguments);
  EXPECT_EQ(allowed.verdict, Verdict::Policy);
  EXPECT_FALSE(allowed.guilty.has_value());
  EXPECT_EQ(allowed.stages[1].verdict, Verdict::Policy);
  EXPECT_EQ(allowed.stages[2].verdict, Verdict::Agree);
  const Walk strictly = walk(stages, arguments, true);
  ASSERT_TRUE(strictly.guilty.has_value());
  EXPECT_EQ(strictly.guilty->pass, "algsimp");

  const Walk hidden = walk({stages[0], stages[1], stage(2, "broken", there)}, arguments);
  ASSERT_TRUE(hidden.guilty.has_value());
  EXPECT_EQ(hidden.guilty->pass, "broken");
}

TEST(Walk, RealAlgebraExcusesWhatIsDecidedOnItsValues) {
  // In f32 (0.3 * 2.5) * 2.5 is 1.875, 0.3 * (2.5 * 2.5) the number above it.
  const auto decided = [](const std::string& product) {
    return module_of("x = f32[1] parameter(0)\ny = f32[1] parameter(1)\n" + product + R"(
      limit = f32[1] constant({1.875})
      above = pred[1] compare(z, limit), direction=GT
      ROOT r = f32[1] select(above, x, y))");
  };
  const std::string left = decided("xy = f32[1] multiply(x, y)\nz = f32[1] multiply(xy, y)");
  const std::string right = decided("yy = f32[1] multiply(y, y)\nz = f32[1] multiply(x, yy)");
  const std::vector<Literal> arguments{values({0.3F}), values({2.5})};
  const auto verdict_after = [&](const std::string& pass) {
    return walk({stage(0, "input", left), stage(1, pass, right)}, arguments).verdict;
  };
  EXPECT_EQ(verdict_after("algsimp"), Verdict::Policy);
  EXPECT_EQ(verdict_after("fusion"), Verdict::Mismatch);
}

// A program's other results may look at bits, as all f64 on XLA:TPU do.
TEST(Walk, RealAlgebraExcusesTheResultsThatItIsTheReasonOf) {
  const auto both = [](const std::string& first, const std::string& more) {
    return module_of(R"(
      a = f32[3] parameter(0)
      b = f32[3] parameter(1)
      s = f32[3] add(a, b)
      d = f32[3] subtract(s, b)
      bits = s32[3] bitcast-convert(b)
      one = s32[3] constant({1, 1, 1})
      odd = s32[3] and(bits, one)
      both = (f32[3], s32[3]) tuple()" +
                     first + R"(, odd)
      first = f32[3] get-tuple-element(both), index=0
      )" + more + R"(
      ROOT r = (f32[3], s32[3]) tuple(first, second))");
  };
  const std::string second = "second = s32[3] get-tuple-element(both), index=1";
  const std::string broken = "second = s32[3] not(odd)";
  const std::vector<Literal> arguments{values({1, 2, 3}), values({1e8, 1, 1})};
  const auto verdict_of = [&](const std::string& after) {
    return walk({stage(0, "input", both("d", second)), stage(1, "algsimp", after)}, arguments).verdict;
  };
  EXPECT_EQ(verdict_of(both("a", second)), Verdict::Policy);
  EXPECT_EQ(verdict_of(both("a", broken)), Verdict::Mismatch);
  EXPECT_EQ(verdict_of(both("b", second)), Verdict::Mismatch);
}

TEST(Walk, TokensAmongTheResultsHideNothing) {
  const auto with_token = [](const std::string& result) {
    return module_of(R"(
      a = f32[3] parameter(0)
      b = f32[3] parameter(1)
      t = token[] after-all()
      same = f32[3] negate(a)
      ROOT r = (token[], f32[3], f32[3]) tuple(t, same, )" +
                     result + ")");
  };
  const std::vector<Literal> arguments{values({1, 2, 3}), values({4, 5, 6})};
  EXPECT_EQ(walk({stage(0, "input", with_token("a")), stage(1, "algsimp", with_token("b"))}, arguments).verdict,
            Verdict::Mismatch);
}

TEST(Walk, OnlyPassesThatMayRewriteFloatsAreExcused) {
  const std::vector<Literal> arguments{values({1, 2, 3}), values({1e8, 1, 1})};
  const Walk result = walk({stage(0, "input", there_and_back), stage(1, "layout-assignment", nowhere)}, arguments);
  ASSERT_TRUE(result.guilty.has_value());
  EXPECT_EQ(result.guilty->pass, "layout-assignment");
}

TEST(Walk, ALastStageThatCannotBeJudgedIsNotAgreement) {
  const std::string odd = "HloModule m\nENTRY e { ROOT r = f32[3] frobnicate() }";
  const std::vector<Literal> arguments{values({1, 2, 3}), values({1, 1, 1})};
  EXPECT_EQ(walk({stage(0, "input", exp_div), stage(1, "odd", odd)}, arguments).verdict, Verdict::Undetermined);
  EXPECT_EQ(walk({stage(0, "input", exp_div), stage(1, "odd", odd), stage(2, "cse", exp_sub)}, arguments).verdict,
            Verdict::Agree);
}

TEST(Walk, StagesThatCannotBeJudgedLeaveDoubtAboutThePass) {
  const Walk result =
      walk({stage(0, "input", exp_div), stage(1, "odd", "HloModule m\nENTRY e { ROOT r = f32[3] frobnicate() }"),
            stage(2, "broken", exp_add)},
           {values({1, 2, 3}), values({1, 1, 1})});
  EXPECT_EQ(result.stages[1].verdict, Verdict::Undetermined);
  ASSERT_TRUE(result.guilty.has_value());
  EXPECT_EQ(result.guilty->pass, "broken");
  EXPECT_EQ(result.guilty->after, "input");
}

}  // namespace
}  // namespace sapper::check
