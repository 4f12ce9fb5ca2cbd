// Which infinities and NaNs are meant, and which HLO leaves to the implementation.
#include "bounds/intent.h"

#include <gtest/gtest.h>

#include <limits>

#include "hlo/text.h"
#include "hlo/verifier.h"

namespace sapper::bounds {
namespace {

using hlo::Literal;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

constexpr const char* computations = R"(
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
max { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] maximum(a, b) }
twice { s = (s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[3] get-tuple-element(s), index=1
  y = f32[3] multiply(x, x)
  ROOT r = (s32[], f32[3]) tuple(next, y) }
few { s = (s32[], f32[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(2)
  ROOT c = pred[] compare(i, n), direction=LT }
)";

// Of each element of the only output what `marks_of` says. Empty: nothing.
std::vector<bool> marked(decltype(&produced_infinities) marks_of, const std::string& body,
                         const std::vector<std::vector<double>>& inputs) {
  const auto module =
      hlo::parse_text(std::string("HloModule m\n") + computations + "\nENTRY main {\n" + body + "\n}\n");
  EXPECT_TRUE(module) << module.error().describe();
  EXPECT_TRUE(hlo::verify(*module));
  std::vector<Literal> arguments;
  for (const std::vector<double>& input : inputs) {
    Literal literal(hlo::Shape::array(hlo::ElementType::F32, {static_cast<int64_t>(input.size())}));
    for (size_t i = 0; i < input.size(); ++i) literal.set_real(static_cast<int64_t>(i), input[i]);
    arguments.push_back(std::move(literal));
  }
  const auto marks = marks_of(*module, arguments, {});
  EXPECT_TRUE(marks) << marks.error().describe();
  std::vector<bool> all;
  if (!(*marks)[0].shape().is_array()) return all;
  for (int64_t i = 0; i < (*marks)[0].element_count(); ++i) all.push_back((*marks)[0].real_at(i) > 0);
  return all;
}

// Was it produced?
std::vector<bool> produced(const std::string& body, const std::vector<std::vector<double>>& inputs) {
  return marked(produced_infinities, body, inputs);
}

// Does it depend on what is free?
std::vector<bool> is_free(const std::string& body, const std::vector<std::vector<double>>& inputs) {
  return marked(free_infinities, body, inputs);
}

using Marks = std::vector<bool>;

TEST(Intent, ArithmeticOnFiniteNumbersProduces) {
  EXPECT_EQ(produced("x = f32[3] parameter(0)\nROOT r = f32[3] log(x)", {{0, -1, 1}}), (Marks{true, true, false}));
  EXPECT_EQ(produced("x = f32[2] parameter(0)\nROOT r = f32[2] multiply(x, x)", {{3e38, 1}}), (Marks{true, false}));
}

TEST(Intent, WhatArgumentsHoldIsMeantUntilANanIsMadeOfIt) {
  EXPECT_EQ(produced("x = f32[3] parameter(0)\nROOT r = f32[3] negate(x)", {{infinity, nan, 1}}),
            (Marks{false, false, false}));
  EXPECT_EQ(produced("x = f32[2] parameter(0)\nROOT r = f32[2] subtract(x, x)", {{infinity, 1}}), (Marks{true, false}));
}

TEST(Intent, MasksAreMeant) {
  const std::string body =
      "x = f32[3] parameter(0)\nlow = f32[] constant(-inf)\nlows = f32[3] broadcast(low), dimensions={}\n"
      "zero = f32[] constant(0)\nzeros = f32[3] broadcast(zero), dimensions={}\n"
      "p = pred[3] compare(x, zeros), direction=LT\nm = f32[3] select(p, lows, x)\n";
  EXPECT_EQ(produced(body + "ROOT r = f32[3] add(m, x)", {{-1, 1, 2}}), (Marks{false, false, false}));
  // What was produced is chosen.
  EXPECT_EQ(produced(body + "l = f32[3] log(x)\nROOT r = f32[3] select(p, lows, l)", {{-1, 0, 2}}),
            (Marks{false, true, false}));
}

TEST(Intent, GoesThroughBitcastsOfOneType) {
  EXPECT_EQ(produced("x = f32[4] parameter(0)\nROOT b = f32[2,2]{1,0} bitcast(x)", {{infinity, 1, nan, 2}}), Marks{});
  EXPECT_EQ(produced("x = f32[4] parameter(0)\nl = f32[4] log(x)\nROOT b = f32[2,2]{1,0} bitcast(l)", {{0, 1, 2, 3}}),
            (Marks{true, false, false, false}));
}

TEST(Intent, BitsThatChangeTheirWidthAreArithmetic) {
  EXPECT_EQ(produced("x = f32[4] parameter(0)\nl = f32[4] log(x)\nr = f32[2,2] reshape(l)\n"
                     "ROOT b = f64[2] bitcast-convert(r)",
                     {{1, 2, 3, 4}}),
            (Marks{false, false}));
}

TEST(Intent, ConstantsMayBeComputed) {
  EXPECT_TRUE(produced("c = f32[2] constant({0, 1})\nROOT r = f32[2] log(c)", {}).empty());
}

TEST(Intent, ReductionsKeepWhatIsMeant) {
  const std::string body =
      "x = f32[3] parameter(0)\nlow = f32[] constant(-inf)\nzero = f32[] constant(0)\n"
      "m = f32[] reduce(x, low), dimensions={0}, to_apply=max\n"
      "s = f32[] reduce(x, zero), dimensions={0}, to_apply=add\n";
  const auto of = [&](const char* root, const std::vector<double>& x) {
    return produced(body + "ROOT r = f32[1] reshape(" + root + ")", {x});
  };
  EXPECT_EQ(of("m", {-infinity, -infinity, -infinity}), Marks{false});
  EXPECT_EQ(of("s", {infinity, 1, 2}), Marks{false});
  EXPECT_EQ(of("s", {infinity, -infinity, 2}), Marks{true});
  EXPECT_EQ(of("s", {3e38, 3e38, 0}), Marks{true});
}

TEST(Intent, GoesThroughLoops) {
  EXPECT_EQ(produced("x = f32[3] parameter(0)\ni = s32[] constant(0)\nt = (s32[], f32[3]) tuple(i, x)\n"
                     "w = (s32[], f32[3]) while(t), condition=few, body=twice\n"
                     "ROOT r = f32[3] get-tuple-element(w), index=1",
                     {{1e10, infinity, 2}}),
            (Marks{true, false, false}));
}

TEST(Freedom, RealArithmeticAndSumsMakeNone) {
  EXPECT_EQ(is_free("x = f32[3] parameter(0)\nl = f32[3] log(x)\nz = f32[] constant(0)\n"
                    "s = f32[] reduce(l, z), dimensions={0}, to_apply=add\nROOT r = f32[1] reshape(s)",
                    {{0, -1, 1}}),
            Marks{});
}

TEST(Freedom, WhatHloLeavesOpenIsFollowed) {
  const std::string dots =
      "x = f32[3] parameter(0)\n"
      "d = f32[3] dot(x, x), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={}, "
      "rhs_contracting_dims={}\n";
  const std::vector<std::vector<double>> x = {{3e38, 2, 0}};
  EXPECT_EQ(is_free(dots + "ROOT n = f32[3] negate(d)", x), (Marks{true, false, true}));
  // Through what is finite, decisions, and operations that see all elements.
  EXPECT_EQ(is_free(dots + "t = f32[3] tanh(d)\nROOT e = f32[3] exponential(t)", x), (Marks{true, false, true}));
  EXPECT_EQ(is_free(dots + "p = pred[3] compare(d, x), direction=LT\nROOT s = f32[3] select(p, x, x)", x),
            (Marks{true, false, true}));
  EXPECT_EQ(is_free(dots + "ROOT s = f32[3] reverse(d), dimensions={0}", x), (Marks{true, false, true}));
  EXPECT_EQ(is_free(dots + "ROOT c = f32[3] dot(d, x), lhs_batch_dims={0}, rhs_batch_dims={0}, "
                           "lhs_contracting_dims={}, rhs_contracting_dims={}",
                    x),
            (Marks{true, true, true}));
}

TEST(Freedom, MaximaOfZerosHaveEitherSign) {
  EXPECT_EQ(is_free("x = f32[3] parameter(0)\ny = f32[3] parameter(1)\nm = f32[3] maximum(x, y)\n"
                    "ROOT r = f32[3] rsqrt(m)",
                    {{0, 0, 0}, {-0.0, -1, 1}}),
            (Marks{true, false, false}));
}

TEST(Freedom, ClampsBetweenZerosHaveEitherSign) {
  EXPECT_EQ(is_free("x = f32[3] parameter(0)\nlow = f32[3] parameter(1)\nhigh = f32[3] parameter(2)\n"
                    "c = f32[3] clamp(low, x, high)\nROOT r = f32[3] rsqrt(c)",
                    {{-5, 0, -5}, {0, -0.0, -1}, {-0.0, 1, 0}}),
            (Marks{true, true, false}));
}

}  // namespace
}  // namespace sapper::bounds
