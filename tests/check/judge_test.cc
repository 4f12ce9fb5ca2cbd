// The judge: what agrees, what policy allows, what proves nothing, what is wrong.
#include "check/judge.h"

#include <gtest/gtest.h>

#include "hlo/text.h"
#include "hlo/verifier.h"

namespace sapper::check {
namespace {

using hlo::ElementType;
using hlo::Literal;
using hlo::Module;
using hlo::Shape;

Module parse(const std::string& text) {
  auto module = hlo::parse_text(text);
  EXPECT_TRUE(module.has_value()) << (module ? "" : module.error().describe());
  const Status verified = hlo::verify(*module);
  EXPECT_TRUE(verified.has_value()) << (verified ? "" : verified.error().describe());
  return *std::move(module);
}

Literal array(ElementType type, const std::vector<double>& values) {
  Literal literal(Shape::array(type, {static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i) literal.set_real(static_cast<int64_t>(i), values[i]);
  return literal;
}

Judgement judge(const std::string& text, const std::vector<Literal>& arguments, const Literal& got,
                bool strict = false) {
  const Module module = parse(text);
  Judge judge(module, arguments, {}, std::nullopt, {.strict = strict});
  const Status prepared = judge.prepare();
  EXPECT_TRUE(prepared.has_value()) << (prepared ? "" : prepared.error().describe());
  return judge.judge(got);
}

constexpr const char* add_text = R"(
HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  ROOT y = f32[2] add(x, x)
})";

TEST(Judge, OneRoundingMustBeExact) {
  const std::vector<Literal> x{array(ElementType::F32, {1, 3})};
  EXPECT_EQ(judge(add_text, x, array(ElementType::F32, {2, 6})).verdict, Verdict::Agree);
  const Judgement wrong = judge(add_text, x, array(ElementType::F32, {2, 6.0000005}));
  EXPECT_EQ(wrong.verdict, Verdict::Mismatch);
  ASSERT_EQ(wrong.outputs.size(), 1U);
  EXPECT_EQ(wrong.outputs[0].name, "out");
  EXPECT_EQ(wrong.outputs[0].difference.mismatches, 1);
}

TEST(Judge, FlushedSubnormalsArePolicyUnlessStrict) {
  const std::vector<Literal> x{array(ElementType::F32, {1e-40, 3})};
  const Literal got = array(ElementType::F32, {0, 6});
  EXPECT_EQ(judge(add_text, x, got).verdict, Verdict::Policy);
  EXPECT_EQ(judge(add_text, x, got, true).verdict, Verdict::Mismatch);
}

TEST(Judge, ElidedNarrowRoundingIsPolicyUnlessStrict) {
  constexpr const char* text = R"(
HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  n = bf16[2] convert(x)
  w = f32[2] convert(n)
  ROOT r = f32[2] subtract(x, w)
})";
  const std::vector<Literal> x{array(ElementType::F32, {1.001, 3.007})};
  const Literal got = array(ElementType::F32, {0, 0});
  EXPECT_EQ(judge(text, x, got).verdict, Verdict::Policy);
  EXPECT_EQ(judge(text, x, got, true).verdict, Verdict::Mismatch);
  EXPECT_EQ(judge(text, x, array(ElementType::F32, {0, 5})).verdict, Verdict::Mismatch);
}

TEST(Judge, DecisionsOverRoundedValuesAreUndetermined) {
  constexpr const char* text = R"(
HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  y = f32[2] exponential(x)
  f = f32[2] floor(y)
  ROOT r = s32[2] convert(f)
})";
  const std::vector<Literal> x{array(ElementType::F32, {0, 1})};
  EXPECT_EQ(judge(text, x, array(ElementType::S32, {1, 2})).verdict, Verdict::Agree);
  const Judgement other = judge(text, x, array(ElementType::S32, {0, 2}));
  EXPECT_EQ(other.verdict, Verdict::Undetermined);
  EXPECT_NE(other.reason.find("f decides"), std::string::npos) << other.reason;
}

TEST(Judge, ANonNeutralInitialValueProvesNothing) {
  constexpr const char* text = R"(
HloModule m
sum {
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  ROOT c = s32[] add(a, b)
}
ENTRY e {
  x = s32[4] parameter(0)
  init = s32[] constant(3)
  ROOT r = s32[] reduce(x, init), dimensions={0}, to_apply=sum
})";
  const std::vector<Literal> x{array(ElementType::S32, {1, 2, 3, 4})};
  Literal twice(Shape::scalar(ElementType::S32));
  twice.set_integer(0, 16);
  const Judgement judgement = judge(text, x, twice);
  EXPECT_EQ(judgement.verdict, Verdict::Undetermined);
  EXPECT_NE(judgement.reason.find("not neutral for add"), std::string::npos) << judgement.reason;
}

TEST(Judge, DroppedNansArePolicyWhereMaximaAreFast) {
  constexpr const char* text = R"(
HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  l = f32[2] log(x)
  ROOT r = f32[2] maximum(l, x)
})";
  const Module module = parse(text);
  const std::vector<Literal> x{array(ElementType::F32, {-1, 1})};
  const auto verdict = [&](Policy policy, const Literal& got) {
    Judge judge(module, x, {}, std::nullopt, policy);
    EXPECT_TRUE(judge.prepare().has_value());
    return judge.judge(got).verdict;
  };
  EXPECT_EQ(verdict({.fast_min_max = true}, array(ElementType::F32, {-1, 1})), Verdict::Policy);
  EXPECT_EQ(verdict({}, array(ElementType::F32, {-1, 1})), Verdict::Mismatch);
  EXPECT_EQ(verdict({.fast_min_max = true}, array(ElementType::F32, {-1, 2})), Verdict::Mismatch);
}

TEST(Judge, IllConditionedResultsAreUndetermined) {
  constexpr const char* text = R"(
HloModule m
ENTRY e {
  x = f32[1] parameter(0)
  y = f32[1] parameter(1)
  a = f32[1] multiply(x, y)
  ROOT r = f32[1] subtract(a, x)
})";
  const std::vector<Literal> near{array(ElementType::F32, {1.2345678}), array(ElementType::F32, {1.0000005})};
  EXPECT_EQ(judge(text, near, array(ElementType::F32, {7.2e-7})).verdict, Verdict::Undetermined);
  EXPECT_EQ(judge(text, near, array(ElementType::F32, {1e-3})).verdict, Verdict::Mismatch);
}

TEST(Judge, AResultOfAnotherShapeIsUndetermined) {
  const std::vector<Literal> x{array(ElementType::F32, {1, 3})};
  EXPECT_EQ(judge(add_text, x, array(ElementType::F32, {2})).verdict, Verdict::Undetermined);
  EXPECT_EQ(judge(add_text, x, array(ElementType::S32, {2, 6})).verdict, Verdict::Undetermined);
  EXPECT_EQ(judge(add_text, x, Literal::tuple({})).verdict, Verdict::Undetermined);
}

}  // namespace
}  // namespace sapper::check
