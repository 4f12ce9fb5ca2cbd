// The judge: what agrees, what policy allows, what proves nothing, what is wrong.
#include "check/judge.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <tuple>

#include "hlo/text.h"
#include "hlo/verifier.h"

namespace sapper::check {
namespace {

using hlo::ElementType;
using hlo::Literal;
using hlo::Module;
using hlo::Shape;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Module parse(const std::string& text) {
  auto module = hlo::parse_text(text);
  EXPECT_TRUE(module.has_value()) << (module ? "" : module.error().describe());
  const Status verified = hlo::verify(*module);
  EXPECT_TRUE(verified.has_value()) << (verified ? "" : verified.error().describe());
  return *std::move(module);
}

Literal array(ElementType type, const std::vector<double>& values) {
  Literal literal(Shape::array(type, {static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    hlo::is_float(type) ? literal.set_real(at, values[i]) : literal.set_integer(at, static_cast<int64_t>(values[i]));
  }
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

// log is -103 of a subnormal and -inf of zero: nothing between the two is anywhere near either.
TEST(Judge, WhatFlushedArgumentsMeanIsJudgedByItself) {
  constexpr const char* text = R"(
HloModule m
ENTRY e {
  x = f32[4] parameter(0)
  ROOT y = f32[4] log(x)
})";
  const std::vector<Literal> x{array(ElementType::F32, {0x1p-149, 0x1p-130, 1e-30, 3})};
  const auto got = [&](double first, double second) {
    return array(ElementType::F32, {first, second, -69.07755, 1.0986124});
  };
  EXPECT_EQ(judge(text, x, got(-infinity, -infinity)).verdict, Verdict::Policy);
  EXPECT_EQ(judge(text, x, got(-103.27893, -infinity)).verdict, Verdict::Undetermined);
  EXPECT_EQ(judge(text, x, got(-infinity, -infinity), true).verdict, Verdict::Mismatch);
  EXPECT_EQ(judge(text, x, got(-infinity, 50)).verdict, Verdict::Undetermined);
}

// What policy allows takes more memory to bound than the program to run: where that is not to be had nothing is proven.
TEST(Judge, LimitsNeverMakeAMismatch) {
  constexpr int64_t elements = 4096;
  const Module module = parse(R"(
HloModule m
ENTRY e {
  x = f32[4096] parameter(0)
  n = bf16[4096] convert(x)
  w = f32[4096] convert(n)
  ROOT y = f32[4096] add(w, w)
})");
  const std::vector<Literal> x{array(ElementType::F32, std::vector<double>(elements, 1 + 0x1p-10))};
  const Literal unrounded = array(ElementType::F32, std::vector<double>(elements, 2 + 0x1p-9));
  std::set<Verdict> seen;
  for (int64_t arrays = 1; arrays <= 16; ++arrays) {
    Judge judge(module, x, {.memory_limit_bytes = arrays * elements * 4}, std::nullopt, {});
    if (judge.prepare()) seen.insert(judge.judge(unrounded).verdict);
  }
  EXPECT_EQ(seen, (std::set{Verdict::Policy, Verdict::Undetermined}));
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

// XLA:TPU has no f64: a number is the sum of two of f32.
TEST(Judge, PairsOfFloatsAreAPolicyForDoublesAndNoLessIs) {
  const Module module = parse("HloModule m\nENTRY e {\n x = f64[4] parameter(0)\n ROOT y = f64[4] multiply(x, x)\n}\n");
  const std::vector<Literal> x{array(ElementType::F64, {1.1, 1.3, 1e30, 1e-30})};
  const auto judged = [&](std::vector<double> got, Policy policy) {
    Judge judge(module, x, {}, std::nullopt, policy);
    EXPECT_TRUE(judge.prepare());
    return judge.judge(array(ElementType::F64, got)).verdict;
  };
  const Policy pairs{.float64_pairs = true}, strict{.strict = true, .float64_pairs = true};
  const std::vector<double> right = {1.1 * 1.1, 1.3 * 1.3, 1e30 * 1e30, 1e-30 * 1e-30};
  EXPECT_EQ(judged(right, pairs), Verdict::Agree);
  // 48 bits, the range of f32: what is too large becomes infinite or NaN, what is too small 0.
  const std::vector<double> rounded = {right[0] * (1 + 0x1p-47), right[1] * (1 - 0x1p-46), nan, 0};
  EXPECT_EQ(judged(rounded, pairs), Verdict::Policy);
  EXPECT_EQ(judged(rounded, strict), Verdict::Mismatch);
  EXPECT_EQ(judged(rounded, {}), Verdict::Mismatch);
  std::vector<double> single = rounded;
  single[0] = static_cast<float>(right[0]);
  EXPECT_EQ(judged(single, pairs), Verdict::Mismatch) << "the leading half alone";
  std::vector<double> lost = rounded;
  lost[1] = nan;
  EXPECT_EQ(judged(lost, pairs), Verdict::Mismatch) << "a NaN for a number that a pair can hold";
}

TEST(Judge, DecisionsOverRoundedValuesMayGoEitherWay) {
  constexpr const char* text = R"(
HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  y = f32[2] exponential(x)
  f = f32[2] floor(y)
  ROOT r = s32[2] convert(f)
})";
  // exp(0) may come out below 1; exp(1) is far from any integer.
  const std::vector<Literal> x{array(ElementType::F32, {0, 1})};
  EXPECT_EQ(judge(text, x, array(ElementType::S32, {1, 2})).verdict, Verdict::Agree);
  EXPECT_EQ(judge(text, x, array(ElementType::S32, {0, 2})).verdict, Verdict::Agree);
  EXPECT_EQ(judge(text, x, array(ElementType::S32, {3, 2})).verdict, Verdict::Mismatch);
  EXPECT_EQ(judge(text, x, array(ElementType::S32, {1, 3})).verdict, Verdict::Mismatch);
}

// The order of keys with companions.
const std::string keys_and_companions = R"(
HloModule m
before { a = f32[] parameter(0)
  b = f32[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  ROOT c = pred[] compare(a, b), direction=LT })";

TEST(Judge, WhatDecisionsLeaveOpenIsUndetermined) {
  // Which element is first in order, and with it the companion, depends on a rounding.
  const std::string text = keys_and_companions + R"(
ENTRY e {
  x = f32[3] parameter(0)
  y = f32[3] exponential(x)
  i = s32[3] iota(), iota_dimension=0
  s = (f32[3], s32[3]) sort(y, i), dimensions={0}, to_apply=before
  ROOT r = s32[3] get-tuple-element(s), index=1
})";
  const std::vector<Literal> x{array(ElementType::F32, {1, 1, 0})};
  EXPECT_EQ(judge(text, x, array(ElementType::S32, {2, 0, 1})).verdict, Verdict::Agree);
  EXPECT_EQ(judge(text, x, array(ElementType::S32, {2, 1, 0})).verdict, Verdict::Undetermined);
  EXPECT_EQ(judge(text, x, array(ElementType::S32, {1, 0, 2})).verdict, Verdict::Mismatch);
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
  y = f32[2] parameter(1)
  ROOT r = f32[2] maximum(x, y)
})";
  const Module module = parse(text);
  const std::vector<Literal> x{array(ElementType::F32, {std::nan(""), 1}), array(ElementType::F32, {-1, 0})};
  const auto verdict = [&](Policy policy, const Literal& got) {
    Judge judge(module, x, {}, std::nullopt, policy);
    EXPECT_TRUE(judge.prepare().has_value());
    return judge.judge(got).verdict;
  };
  EXPECT_EQ(verdict({.fast_min_max = true}, array(ElementType::F32, {-1, 1})), Verdict::Policy);
  EXPECT_EQ(verdict({}, array(ElementType::F32, {-1, 1})), Verdict::Mismatch);
  EXPECT_EQ(verdict({.fast_min_max = true}, array(ElementType::F32, {-1, 2})), Verdict::Mismatch);
}

TEST(Judge, MagnitudesOfComplexNumbersAreMaximaToo) {
  const Module module = parse("HloModule m\nENTRY e {\n  x = c64[1] parameter(0)\n  ROOT r = f32[1] abs(x)\n}");
  Literal x(Shape::array(ElementType::C64, {1}));
  x.set_complex(0, {std::nan(""), 4});
  const std::vector<Literal> arguments{x};
  const auto verdict = [&](Policy policy, double got) {
    Judge judge(module, arguments, {}, std::nullopt, policy);
    EXPECT_TRUE(judge.prepare().has_value());
    return judge.judge(array(ElementType::F32, {got})).verdict;
  };
  EXPECT_EQ(verdict({.fast_min_max = true}, 4), Verdict::Policy);
  EXPECT_EQ(verdict({}, 4), Verdict::Mismatch);
}

// What a compiler makes of it says little about the compiler; what an argument put there must stay.
TEST(Judge, NansThatTheProgramProducesAreUndetermined) {
  constexpr const char* text = R"(
HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  ROOT l = f32[2] log(x)
})";
  const auto verdict = [&](const std::vector<double>& input, const std::vector<double>& got) {
    return judge(text, {array(ElementType::F32, input)}, array(ElementType::F32, got)).verdict;
  };
  EXPECT_EQ(verdict({-1, 1}, {nan, 0}), Verdict::Agree);
  EXPECT_EQ(verdict({-1, 1}, {-3, 0}), Verdict::Undetermined);
  EXPECT_EQ(verdict({-1, 1}, {-3, 2}), Verdict::Mismatch);
  EXPECT_EQ(verdict({nan, 1}, {-3, 0}), Verdict::Mismatch);
  EXPECT_EQ(verdict({2, 1}, {nan, 0}), Verdict::Mismatch);
}

// One result of one element, made of x by `body`; strict where it says so.
Verdict judge_one(const std::string& body, double x, double got, bool strict) {
  return judge("HloModule m\nENTRY e {\nx = f32[1] parameter(0)\nzero = f32[1] constant({0})\n" + body + "\n}",
               {array(ElementType::F32, {x})}, array(ElementType::F32, {got}), strict)
      .verdict;
}

TEST(Judge, InfinitiesThatAreProducedMustBeThereUnderStrict) {
  const std::string one = "one = f32[1] constant({1})\n";
  const std::tuple<std::string, double, double> wrong[] = {
      {"ROOT l = f32[1] log(x)", -1, 3},
      {"ROOT l = f32[1] log(x)", 0, -88},
      {"ROOT l = f32[1] sqrt(x)", -1, 0},
      {"ROOT l = f32[1] multiply(x, x)", 1e30, 3e38},
      {"ROOT l = f32[1] exponential(x)", 1000, 3e38},
      {one + "ROOT l = f32[1] divide(one, x)", 0, -infinity},
      {"ROOT l = f32[1] divide(x, x)", 0, 1},
      {"ROOT l = f32[1] exponential(x)", 91, 3e38},
      {"e = f32[1] exponential(x)\nROOT l = f32[1] divide(e, e)", 100, 1},
      {"ROOT l = f32[1] cosh(x)", -91, 3e38},
      {"ROOT l = f32[1] power(x, x)", -1.5, 0.5},
      {"p = f32[1] power(x, x)\nROOT l = f32[1] log(p)", -1.5, -0.6},
      // Of what is not exact.
      {"e = f32[1] exponential(x)\nROOT l = f32[1] exponential(e)", 5, 3e38},
      {"e = f32[1] exponential(x)\nn = f32[1] negate(e)\nROOT l = f32[1] log(n)", 1, 1},
      {"e = f32[1] exponential(x)\nROOT l = f32[1] acos(e)", 1, 0},
      {"l = f32[1] log(x)\nROOT m = f32[1] multiply(l, x)", 0, 0},
      {"l = f32[1] log(x)\nROOT m = f32[1] subtract(l, l)", 0, 0},
      {"l = f32[1] log(x)\nz = f32[] constant(0)\ns = f32[] reduce(l, z), dimensions={0}, to_apply=add\n"
       "ROOT m = f32[1] reshape(s)\n}\nadd {\na = f32[] parameter(0)\nb = f32[] parameter(1)\n"
       "ROOT r = f32[] add(a, b)",
       0, 5},
  };
  for (const auto& [body, x, got] : wrong) {
    EXPECT_EQ(judge_one(body, x, got, false), Verdict::Undetermined) << body;
    EXPECT_EQ(judge_one(body, x, got, true), Verdict::Mismatch) << body;
  }
}

// Roundings decide it, or HLO does not say.
TEST(Judge, InfinitiesThatALegalImplementationMayNotGiveAreUndeterminedUnderStrict) {
  const std::string dot =
      "d = f32[] dot(x, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}\nr = f32[1] reshape(d)\n";
  const std::tuple<std::string, double, double> open[] = {
      {"ROOT l = f32[1] exponential(x)", 88.7229, 3.4028e38},
      {"l = f32[1] exponential(x)\nROOT m = f32[1] multiply(l, l)", 44.36145, 3.4028e38},
      {"l = f32[1] exponential(x)\nROOT m = f32[1] divide(l, l)", 88.7229, 1},
      {"ROOT l = f32[1] cosh(x)", 89.416, 3.4028e38},
      {"ROOT l = f32[1] power(x, x)", 26.93836, 3.4028e38},
      // The end of the domain is within what the argument deviates by.
      {"l = f32[1] exponential(x)\nROOT m = f32[1] acos(l)", 1e-7, 0},
      {"l = f32[1] exponential(x)\no = f32[1] constant({1})\nn = f32[1] subtract(o, l)\nROOT m = f32[1] log(n)", 1.2e-7,
       -16},
      {dot + "ROOT l = f32[1] negate(r)", 1e30, nan},
      {dot + "c = pred[1] compare(r, zero), direction=GT\nz = f32[1] subtract(x, x)\nl = f32[1] log(z)\nROOT s = "
             "f32[1] select(c, l, x)",
       1e30, 1e30},
      {"c = c64[1] complex(x, x)\nm = c64[1] multiply(c, c)\nROOT i = f32[1] imag(m)", 1e30, nan},
      // Which of zeros a maximum is, nobody says, nor what is made of its sign.
      {"n = f32[1] negate(zero)\nm = f32[1] maximum(x, n)\nROOT d = f32[1] rsqrt(m)", 0, -infinity},
      {"l = f32[1] log(x)\ni = s32[1] convert(l)\nf = f32[1] convert(i)\nROOT d = f32[1] divide(x, f)", -1, infinity},
      {"w = f8e4m3fn[1] convert(x)\nROOT n = f32[1] convert(w)", 1e9, 448},
  };
  for (const auto& [body, x, got] : open) EXPECT_EQ(judge_one(body, x, got, true), Verdict::Undetermined) << body;
}

// Where infinities and NaNs come from takes more memory to find out than the rest of a judgement: where that is not to
// be had they prove nothing, and other results are judged as ever.
TEST(Judge, WhatCannotBeTracedMakesNoMismatchAndSparesTheOtherResults) {
  constexpr int64_t elements = 4096;
  const Module module = parse(R"(
HloModule m
ENTRY e {
  x = f32[4096] parameter(0)
  y = f32[4096] parameter(1)
  a = f32[4096] negate(x)
  b = f32[4096] negate(y)
  ROOT t = (f32[4096], f32[4096]) tuple(a, b)
})");
  const Literal ones = array(ElementType::F32, std::vector<double>(elements, 1));
  const Literal threes = array(ElementType::F32, std::vector<double>(elements, 3));
  for (const double special : {infinity, nan})
    for (const size_t traced : {0U, 1U}) {
      std::vector<Literal> arguments{ones, ones};
      arguments[traced].set_real(7, special);
      std::set<Verdict> seen;
      for (int64_t arrays = 1; arrays <= 32; ++arrays) {
        Judge judge(module, arguments, {.memory_limit_bytes = arrays * elements * 4}, std::nullopt, {.strict = true});
        if (!judge.prepare()) continue;
        Literal right = judge.reference();
        right.mutable_elements()[traced].set_real(7, 3);
        right.mutable_elements()[1 - traced] = threes;
        const Judgement judgement = judge.judge(right);
        ASSERT_EQ(judgement.outputs.size(), 2U);
        EXPECT_EQ(judgement.outputs[1 - traced].verdict, Verdict::Mismatch) << arrays;
        const OutputReport& output = judgement.outputs[traced];
        seen.insert(output.verdict);
        if (output.verdict == Verdict::Undetermined) {
          EXPECT_NE(output.reason.find("where infinities and NaNs come from"), std::string::npos) << output.reason;
        }
      }
      EXPECT_EQ(seen, (std::set{Verdict::Mismatch, Verdict::Undetermined})) << special;
    }
}

TEST(Judge, SubnormalsMayComeInAnotherOrder) {
  constexpr const char* text = R"(
HloModule m
lt {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=LT
}
ENTRY e {
  x = f32[3] parameter(0)
  i = s32[3] iota(), iota_dimension=0
  ROOT s = (f32[3], s32[3]) sort(x, i), dimensions={0}, is_stable=true, to_apply=lt
})";
  const Literal keys = array(ElementType::F32, {0x1p-130, 0, 1});
  const auto verdict = [&](const std::vector<double>& places) {
    return judge(text, {keys}, Literal::tuple({keys, array(ElementType::S32, places)})).verdict;
  };
  EXPECT_EQ(verdict({0, 1, 2}), Verdict::Policy);
  EXPECT_EQ(verdict({1, 1, 2}), Verdict::Undetermined);
}

TEST(Judge, CancellationWidensWhatIsLegal) {
  constexpr const char* text = R"(
HloModule m
ENTRY e {
  x = f32[1] parameter(0)
  a = f32[1] exponential(x)
  one = f32[1] constant({1})
  ROOT r = f32[1] subtract(a, one)
})";
  const std::vector<Literal> near{array(ElementType::F32, {1e-6})};
  EXPECT_EQ(judge(text, near, array(ElementType::F32, {1.3e-6})).verdict, Verdict::Agree);
  EXPECT_EQ(judge(text, near, array(ElementType::F32, {1e-5})).verdict, Verdict::Mismatch);
}

TEST(Judge, DeepProgramsWhoseLegalExecutionsPartAreUndetermined) {
  // The logistic map, whose values part by a factor of about two a step.
  const auto steps = [](const std::string& step) {
    std::string text =
        "HloModule m\nENTRY e {\nx0 = bf16[64] parameter(0)\none = bf16[] constant(1)\n"
        "ones = bf16[64] broadcast(one), dimensions={}\nrate = bf16[] constant(3.9)\n"
        "rates = bf16[64] broadcast(rate), dimensions={}\n";
    for (int i = 0; i < 8; ++i) text += fmt::format(fmt::runtime(step), fmt::arg("i", i), fmt::arg("next", i + 1));
    return text + "ROOT r = bf16[64] copy(x8)\n}\n";
  };
  const std::string left = steps(
      "side{i} = bf16[64] subtract(ones, x{i})\nterm{i} = bf16[64] multiply(x{i}, side{i})\n"
      "x{next} = bf16[64] multiply(rates, term{i})\n");
  const std::string right = steps(
      "side{i} = bf16[64] subtract(ones, x{i})\nterm{i} = bf16[64] multiply(rates, side{i})\n"
      "x{next} = bf16[64] multiply(x{i}, term{i})\n");
  std::vector<double> starts;
  starts.reserve(64);
  for (int i = 0; i < 64; ++i) starts.push_back(0.15 + i * 0.01);
  const std::vector<Literal> x{array(ElementType::BF16, starts)};
  const auto reassociated = eval::evaluate(parse(right), x);
  ASSERT_TRUE(reassociated.has_value());
  EXPECT_EQ(judge(left, x, *reassociated).verdict, Verdict::Undetermined);
  EXPECT_EQ(judge(left, x, array(ElementType::BF16, std::vector<double>(64, 1e30))).verdict, Verdict::Mismatch);
}

TEST(Judge, AResultOfAnotherShapeIsUndetermined) {
  const std::vector<Literal> x{array(ElementType::F32, {1, 3})};
  EXPECT_EQ(judge(add_text, x, array(ElementType::F32, {2})).verdict, Verdict::Undetermined);
  EXPECT_EQ(judge(add_text, x, array(ElementType::S32, {2, 6})).verdict, Verdict::Undetermined);
  EXPECT_EQ(judge(add_text, x, Literal::tuple({})).verdict, Verdict::Undetermined);
}

const std::string sort_text = keys_and_companions + R"(
ENTRY e {
  x = f32[4] parameter(0)
  i = s32[4] parameter(1)
  ROOT s = (f32[4], s32[4]) sort(x, i), dimensions={0}, to_apply=before)";

Verdict judge_sorted(const std::string& attributes, const std::vector<double>& keys,
                     const std::vector<double>& companions) {
  const std::vector<Literal> arguments{array(ElementType::F32, {2, 1, 2, 0}), array(ElementType::S32, {0, 1, 2, 3})};
  const Literal got = Literal::tuple({array(ElementType::F32, keys), array(ElementType::S32, companions)});
  return judge(sort_text + attributes + "\n}", arguments, got).verdict;
}

TEST(Judge, AnUnstableSortMayOrderTiesAsItLikes) {
  EXPECT_EQ(judge_sorted("", {0, 1, 2, 2}, {3, 1, 0, 2}), Verdict::Agree);
  EXPECT_EQ(judge_sorted("", {0, 1, 2, 2}, {3, 1, 2, 0}), Verdict::Policy);
  EXPECT_EQ(judge_sorted(", is_stable=true", {0, 1, 2, 2}, {3, 1, 2, 0}), Verdict::Mismatch);
  EXPECT_EQ(judge_sorted("", {0, 1, 2, 2}, {1, 3, 2, 0}), Verdict::Mismatch);  // companions of other keys
  EXPECT_EQ(judge_sorted("", {0, 1, 2, 2}, {3, 1, 0, 0}), Verdict::Mismatch);  // one twice
  EXPECT_EQ(judge_sorted("", {1, 0, 2, 2}, {1, 3, 0, 2}), Verdict::Mismatch);  // not in order
}

TEST(Judge, ProductsOfHighPrecisionMayTakeThreePasses) {
  const Module module = parse(R"(
HloModule m
ENTRY e {
  x = f32[1] parameter(0)
  y = f32[1] parameter(1)
  ROOT d = f32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}, operand_precision={high,high}
})");
  const std::vector<Literal> arguments{array(ElementType::F32, {1.1}), array(ElementType::F32, {1.1})};
  Judge judge(module, arguments, {}, std::nullopt, {.bfloat16_products = true});
  ASSERT_TRUE(judge.prepare());
  const auto off_by = [&](double relative) {
    Literal got = judge.reference();
    got.set_real(0, got.real_at(0) * (1 + relative));
    return judge.judge(got).verdict;
  };
  EXPECT_EQ(off_by(0x1p-14), Verdict::Policy);
  EXPECT_EQ(off_by(0x1p-8), Verdict::Mismatch);  // as one pass would be
}

TEST(Judge, PartsOfComplexQuotientsAreAsExactAsTheirModulus) {
  const std::string text = R"(
HloModule m
ENTRY e {
  a = f32[2] parameter(0)
  b = f32[2] parameter(1)
  z = c64[2] complex(a, b)
  q = c64[2] divide(z, z)
  ROOT i = f32[2] PART(q)
})";
  const auto judge_part = [&](const std::string& part, double got) {
    std::string program = text;
    program.replace(program.find("PART"), 4, part);
    const std::vector<Literal> z{array(ElementType::F32, {3, 1}), array(ElementType::F32, {4, 1})};
    return judge(program, z, array(ElementType::F32, {got, part == "real" ? 1.0 : 0.0})).verdict;
  };
  EXPECT_EQ(judge_part("real", 1 + 0x1p-22), Verdict::Agree);
  EXPECT_EQ(judge_part("real", 1 + 0x1p-16), Verdict::Mismatch);
}

}  // namespace
}  // namespace sapper::check
