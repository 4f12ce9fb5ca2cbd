// The rules, as data: a program, its inputs, and how far its results may deviate.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "bounds/bounded.h"
#include "hlo/text.h"
#include "hlo/verifier.h"

namespace sapper::bounds {
namespace {

using hlo::ElementType;
using hlo::Literal;
using hlo::Module;
using hlo::Shape;
using ::testing::Each;
using ::testing::ElementsAre;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double u = 0x1p-24;

Module entry_module(const std::string& body, const std::string& before = "") {
  const std::string text = "HloModule m\n" + before + "\nENTRY main {\n" + body + "\n}\n";
  Result<Module> module = hlo::parse_text(text);
  EXPECT_TRUE(module) << (module ? "" : module.error().describe()) << text;
  const Status status = hlo::verify(*module);
  EXPECT_TRUE(status) << (status ? "" : status.error().describe());
  return std::move(*module);
}

Literal floats(const std::vector<double>& values) {
  Literal literal(Shape::array(ElementType::F32, {static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i) literal.set_real(static_cast<int64_t>(i), values[i]);
  return literal;
}

// The deviations of the only output; empty: it does not deviate.
std::vector<double> deviations(const Module& module, const std::vector<Literal>& arguments,
                               const numerics::Contract& contract = {}) {
  const auto bounded = with_bounds(module, contract);
  EXPECT_TRUE(bounded);
  const Status status = hlo::verify(bounded->module);
  EXPECT_TRUE(status) << (status ? "" : status.error().describe());
  const auto value = evaluate(*bounded, arguments);
  EXPECT_TRUE(value) << (value ? "" : value.error().describe());
  std::vector<double> all;
  if (!value || !value->deviations[0].shape().is_array()) return all;
  for (int64_t i = 0; i < value->deviations[0].element_count(); ++i) all.push_back(value->deviations[0].real_at(i));
  return all;
}

std::vector<double> deviations(const std::string& body, const std::vector<std::vector<double>>& inputs,
                               const numerics::Contract& contract = {}) {
  std::vector<Literal> arguments;
  arguments.reserve(inputs.size());
  for (const std::vector<double>& input : inputs) arguments.push_back(floats(input));
  return deviations(entry_module(body), arguments, contract);
}

TEST(Rules, ExactOperationsOfInputsDoNotDeviate) {
  EXPECT_TRUE(deviations("x = f32[2] parameter(0)\ny = f32[2] parameter(1)\na = f32[2] add(x, y)\n"
                         "m = f32[2] multiply(a, y)\nROOT d = f32[2] divide(m, x)",
                         {{1, 2}, {3, 4}})
                  .empty());
}

TEST(Rules, FactorsLoseWhatIsFlushed) {
  const Module factor =
      entry_module("a = f32[4] parameter(0)\nm = f32[2,2] reshape(a)\nROOT l = f32[2,2] cholesky(m), lower=true");
  const std::vector<Literal> matrix{floats({1, 0, 0x1p-130, 1})};
  EXPECT_LT(deviations(factor, matrix)[2], 0x1p-130);
  EXPECT_GE(deviations(factor, matrix, {.flush_subnormals = true})[2], 0x1p-130);
  const Module solve = entry_module(
      "a = f32[4] parameter(0)\nm = f32[2,2] reshape(a)\nb = f32[4] parameter(1)\nn = f32[2,2] reshape(b)\n"
      "ROOT x = f32[2,2] triangular-solve(m, n), left_side=true, lower=true, transpose_a=NO_TRANSPOSE");
  const std::vector<Literal> operands{matrix[0], floats({1, 0, 0, 1})};
  EXPECT_LT(deviations(solve, operands)[2], 0x1p-130);
  EXPECT_GE(deviations(solve, operands, {.flush_subnormals = true})[2], 0x1p-130);
}

TEST(Rules, FunctionsDeviateByTheirError) {
  const auto e = deviations("x = f32[3] parameter(0)\nROOT t = f32[3] tanh(x)", {{0, 1, -2}});
  ASSERT_EQ(e.size(), 3U);
  EXPECT_EQ(e[0], 0);
  EXPECT_NEAR(e[1], 18 * u * std::tanh(1), 0.1 * u);
}

// sin x is as exact as x where the argument is not reduced; near pi it is not.
TEST(Rules, SinesOfSmallAnglesDeviateByTheirShare) {
  const std::string sine = "x = f32[5] parameter(0)\nROOT s = f32[5] sine(x)";
  const auto e = deviations(sine, {{0, 0x1p-149, 1e-30, 0.01, 3.1415927}});
  EXPECT_EQ(e[0], 0);
  EXPECT_LE(e[1], 0x1p-146);
  EXPECT_LT(e[2], 40 * u * 1e-30);
  EXPECT_LT(e[3], 40 * u * 0.01);
  EXPECT_GE(e[4], u);
  const std::string logarithm = "x = f32[2] parameter(0)\nt = f32[2] tan(x)\nROOT s = f32[2] log(t)";
  EXPECT_THAT(deviations(logarithm, {{1e-30, 1e-38}}), Each(::testing::Lt(200 * 100 * u)));
}

// Below the least normal number a step of the format is more than its share of the number.
TEST(Rules, ReducedSubnormalsMayBeRoundedUp) {
  const auto e = deviations(
      "x = f32[2] parameter(0)\na = f32[2] exponential(x)\n"
      "ROOT r = f32[2] reduce-precision(a), exponent_bits=8, mantissa_bits=10",
      {{-94.96116, 0}});  // e^x is about 2^-137, half of the least
  EXPECT_GE(e[0], 0x1p-136);
  EXPECT_LE(e[0], 0x1.1p-136);
  EXPECT_EQ(e[1], 0);
}

// The products and what they deviate by are far from overflow.
TEST(Rules, LargeProductsOfDeviatingFactorsHaveABound) {
  const std::string dot =
      "x = f32[2] parameter(0)\ny = f32[2] parameter(1)\nn = bf16[2] convert(y)\nw = f32[2] convert(n)\n"
      "d = f32[] dot(x, w), lhs_contracting_dims={0}, rhs_contracting_dims={0}\nROOT r = f32[1] reshape(d)";
  const double e = deviations(dot, {{2e18, 1}, {8e18, 1}}, {.excess_precision = true}).at(0);
  EXPECT_GE(e, 1.6e37 * 0x1p-9);
  EXPECT_LT(e, 1.6e37 * 0x1p-6);
  EXPECT_EQ(deviations(dot, {{1e19, 1e19}, {2e19, 2e19}}, {.excess_precision = true}).at(0), infinity);
}

// |x + i y| as XLA writes it, of parts that may be 0.
TEST(Rules, ExpandedMagnitudesDeviateAsTheirPartsDo) {
  const auto magnitude = [](const std::string& least, const std::string& one = "1") {
    return "x = f32[3] parameter(0)\ny = f32[3] parameter(1)\ne = f32[3] exponential(x)\n"
           "o = f32[] constant(" +
           one +
           ")\nones = f32[3] broadcast(o), dimensions={}\nd = f32[3] subtract(e, y)\na = f32[3] abs(d)\nb = f32[3] "
           "abs(y)\nc = f32[3] abs(x)\n"
           "big = f32[3] maximum(a, c)\nsmall = f32[3] minimum(" +
           least +
           ")\nq = f32[3] divide(small, big)\ns = f32[3] multiply(q, q)\nt = f32[3] add(ones, s)\n"
           "r = f32[3] sqrt(t)\nm = f32[3] multiply(big, r)\nk = pred[3] compare(m, m), direction=EQ\n"
           "ROOT z = f32[3] select(k, m, small)";
  };
  const std::vector<std::vector<double>> inputs{{0, 1e-9, 1}, {1, 1, 1}};
  const auto e = deviations(magnitude("a, c"), inputs);
  EXPECT_THAT(e, Each(::testing::Lt(400 * u)));
  EXPECT_GE(e[0], 16 * u);  // of the exponential
  EXPECT_EQ(deviations(magnitude("b, c"), inputs)[1], infinity);
  EXPECT_EQ(deviations(magnitude("a, c", "2"), inputs)[1], infinity);
}

TEST(Rules, SumsOfDeviatingTermsAddUp) {
  const auto alone = deviations("x = f32[1] parameter(0)\nROOT a = f32[1] exponential(x)", {{1}});
  const auto twice = deviations("x = f32[1] parameter(0)\na = f32[1] exponential(x)\nROOT s = f32[1] add(a, a)", {{1}});
  EXPECT_GE(twice[0], 2 * alone[0]);
  EXPECT_LE(twice[0], 2 * alone[0] + 3 * u * 2 * std::exp(1));
}

TEST(Rules, DivisionByWhatMayBeZeroIsUndetermined) {
  const std::string body =
      "x = f32[2] parameter(0)\na = f32[2] exponential(x)\none = f32[] constant(1)\n"
      "ones = f32[2] broadcast(one), dimensions={}\nd = f32[2] subtract(a, ones)\nROOT q = f32[2] divide(ones, d)";
  const auto e = deviations(body, {{1e-8, 1}});
  EXPECT_EQ(e[0], infinity);
  EXPECT_LT(e[1], 1e-5);
}

TEST(Rules, UndecidedComparisonsJoinBothBranches) {
  const std::string body =
      "x = f32[2] parameter(0)\na = f32[2] exponential(x)\none = f32[] constant(1)\n"
      "ones = f32[2] broadcast(one), dimensions={}\nc = pred[2] compare(a, ones), direction=GT\n"
      "seven = f32[] constant(7)\nsevens = f32[2] broadcast(seven), dimensions={}\n"
      "ROOT s = f32[2] select(c, sevens, ones)";
  const auto e = deviations(body, {{0, 1}});
  EXPECT_GE(e[0], 6);
  EXPECT_LE(e[0], 6 * (1 + 0x1p-19));  // exp(0) may come out on either side of 1
  EXPECT_EQ(e[1], 0);
}

TEST(Rules, FloorsNearAnIntegerMayBeEither) {
  const auto e = deviations("x = f32[2] parameter(0)\na = f32[2] exponential(x)\nROOT f = f32[2] floor(a)", {{0, 1}});
  EXPECT_GE(e[0], 1);
  EXPECT_LE(e[0], 1 + 0x1p-19);
  EXPECT_EQ(e[1], 0);
}

TEST(Rules, MaximaTakeOnTheLargerOne) {
  const auto e = deviations(
      "x = f32[2] parameter(0)\na = f32[2] exponential(x)\nfive = f32[] constant(5)\n"
      "fives = f32[2] broadcast(five), dimensions={}\nROOT m = f32[2] maximum(a, fives)",
      {{1, 2}});
  EXPECT_EQ(e[0], 0);
  EXPECT_GT(e[1], 0);
}

TEST(Rules, IndicesInDoubtLeaveWhatTheySelectUndetermined) {
  const std::string body =
      "x = f32[1] parameter(0)\nd = f32[8] parameter(1)\na = f32[1] exponential(x)\nf = f32[1] floor(a)\n"
      "i = s32[1] convert(f)\ns = s32[] reshape(i)\nROOT r = f32[2] dynamic-slice(d, s), dynamic_slice_sizes={2}";
  EXPECT_EQ(deviations(body, {{0}, {1, 2, 3, 4, 5, 6, 7, 8}}), (std::vector<double>{infinity, infinity}));
  EXPECT_EQ(deviations(body, {{1}, {1, 2, 3, 4, 5, 6, 7, 8}}), (std::vector<double>{0, 0}));
}

TEST(Rules, LoopsWithAnUndecidedEndAreUndetermined) {
  const std::string before = R"(
condition {
  s = (f32[], f32[]) parameter(0)
  x = f32[] get-tuple-element(s), index=0
  limit = f32[] constant(4)
  ROOT c = pred[] compare(x, limit), direction=LT
}
body {
  s = (f32[], f32[]) parameter(0)
  x = f32[] get-tuple-element(s), index=0
  y = f32[] get-tuple-element(s), index=1
  e = f32[] exponential(y)
  next = f32[] add(x, e)
  ROOT r = (f32[], f32[]) tuple(next, y)
})";
  const std::string body = R"(
  x = f32[1] parameter(0)
  y = f32[1] parameter(1)
  sx = f32[] reshape(x)
  sy = f32[] reshape(y)
  t = (f32[], f32[]) tuple(sx, sy)
  w = (f32[], f32[]) while(t), condition=condition, body=body
  ROOT r = f32[] get-tuple-element(w), index=0)";
  const Module module = entry_module(body, before);
  // 0, 1, 2, 3, 4: is the last below 4?
  EXPECT_EQ(deviations(module, {floats({0}), floats({0})}), std::vector<double>{infinity});
  const auto decided = deviations(module, {floats({0.5}), floats({0})});
  EXPECT_GT(decided[0], 0);
  EXPECT_LT(decided[0], 1e-4);
}

TEST(Rules, ArgMaxIsUndecidedBetweenNearTies) {
  const std::string before = R"(
larger {
  a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  c = pred[] compare(a, b), direction=GE
  v = f32[] select(c, a, b)
  k = s32[] select(c, i, j)
  ROOT t = (f32[], s32[]) tuple(v, k)
})";
  const std::string body = R"(
  x = f32[4] parameter(0)
  e = f32[4] exponential(x)
  i = s32[4] iota(), iota_dimension=0
  low = f32[] constant(-inf)
  zero = s32[] constant(0)
  r = (f32[], s32[]) reduce(e, i, low, zero), dimensions={0}, to_apply=larger
  ROOT k = s32[] get-tuple-element(r), index=1)";
  const Module module = entry_module(body, before);
  EXPECT_GE(deviations(module, {floats({0, 2, 2, 1})})[0], 1);
  EXPECT_EQ(deviations(module, {floats({0, 2, 3, 1})})[0], 0);
}

TEST(Rules, OverwritingCollisionsAreUndetermined) {
  const std::string before = "second {\n  a = f32[] parameter(0)\n  ROOT b = f32[] parameter(1)\n}";
  const std::string body = R"(
  x = f32[4] parameter(0)
  i = s32[3,1] constant({{0}, {2}, {2}})
  y = f32[3] parameter(1)
  ROOT s = f32[4] scatter(x, i, y), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=second)";
  EXPECT_EQ(deviations(entry_module(body, before), {floats({0, 0, 0, 0}), floats({1, 2, 3})}),
            (std::vector<double>{0, 0, infinity, 0}));
}

// Chooses of each window of x by a comparison, and adds s there.
Module pooling_gradient(int elements, const std::string& window, const std::string& direction) {
  return entry_module(fmt::format(R"(
  x = f32[{0}] parameter(0)
  s = f32[2] parameter(1)
  zero = f32[] constant(0)
  ROOT r = f32[{0}] select-and-scatter(x, s, zero), window={{{1}}}, select=chosen, scatter=sum)",
                                  elements, window),
                      fmt::format(R"(chosen {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction={}
}}
sum {{
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}})",
                                  direction));
}

auto nearly(double of) { return ::testing::DoubleNear(of, 1e-4); }

// A subnormal number that counts as zero may be chosen of its window, or a zero in its place.
TEST(Rules, FlushedNumbersTieWhereOneOfAWindowIsChosen) {
  const Module module = pooling_gradient(4, "size=2 stride=2", "GE");
  const numerics::Contract flushes = {.flush_subnormals = true};
  const auto e = deviations(module, {floats({0, 1e-40, 3, 2}), floats({1, 1})}, flushes);
  EXPECT_EQ(e[0], infinity);
  EXPECT_EQ(e[1], infinity);
  EXPECT_LT(e[2], 1e-5);
  EXPECT_LT(e[3], 1e-5);
  const auto zeros = deviations(module, {floats({0, 0, 3, 2}), floats({1, 1})}, flushes);
  EXPECT_LT(zeros[0], 1e-5) << "zeros alone are chosen as ever";
  EXPECT_LT(deviations(module, {floats({0, 1e-40, 3, 2}), floats({1, 1})})[1], 1e-5);
}

TEST(Rules, PolicyMayLeaveRoundingsOut) {
  const std::string body =
      "x = f32[1] parameter(0)\nn = bf16[1] convert(x)\nw = f32[1] convert(n)\nROOT r = f32[1] subtract(x, w)";
  EXPECT_TRUE(deviations(body, {{1.001}}).empty());
  const auto e = deviations(body, {{1.001}}, {.excess_precision = true});
  EXPECT_GE(e[0], 0x1p-8);
  EXPECT_LE(e[0], 0x1p-8 * 1.01);
}

// What leaves the program is rounded, as the value that it was rounded from may be.
TEST(Rules, OutputsAreRoundedAsTheirOperandMayBe) {
  const std::string body = "x = f32[2] parameter(0)\ne = f32[2] exponential(x)\nn = bf16[2] convert(e)\n";
  const numerics::Contract contract = {.excess_precision = true};
  const std::vector<std::vector<double>> near_a_tie_and_not = {{std::log(1 + 0x1p-8), 0.3}};
  const auto out = deviations(body + "ROOT t = (bf16[2]) tuple(n)", near_a_tie_and_not, contract);
  EXPECT_GE(out[0], 0x1p-7);
  EXPECT_EQ(out[1], 0);
  const auto inside = deviations(body + "ROOT w = f32[2] convert(n)", near_a_tie_and_not, contract);
  EXPECT_GE(inside[1], 0x1p-9);
}

TEST(Rules, OperationsOfMixedTypesRoundTheirResult) {
  const std::string body =
      "x = f32[1] parameter(0)\ne = f32[1] exponential(x)\nb = bf16[3] parameter(1)\nz = s32[] constant(1)\n"
      "r = bf16[3] dynamic-update-slice(b, e, z)\nROOT w = f32[3] convert(r)";
  Literal narrow(Shape::array(ElementType::BF16, {3}));
  const auto e = deviations(entry_module(body), {floats({1}), narrow}, {.excess_precision = true});
  EXPECT_EQ(e[0], 0);
  EXPECT_GE(e[1], 0x1p-9 * std::exp(1));
  EXPECT_EQ(e[2], 0);
}

// The convert's deviations are laid out as f32 is until the bitcast reads them as its operand lies: in pairs of rows.
TEST(Rules, BitcastsMoveDeviationsAsTheirOperandLies) {
  const std::string body =
      "x = f32[4,2]{1,0:T(4,2)} parameter(0)\nn = bf16[4,2]{1,0:T(4,2)(2,1)} convert(x)\n"
      "b = bf16[1,4,2]{2,1,0:T(4,2)(2,1)} bitcast(n)\nROOT w = f32[1,4,2]{2,1,0:T(4,2)(2,1)} convert(b)";
  Literal x(Shape::array(ElementType::F32, {4, 2}));
  for (int64_t i = 0; i < 8; ++i) x.set_real(i, i % 2 == 0 ? 0 : static_cast<double>(i) + 0.001);
  const auto e = deviations(entry_module(body), {x}, {.excess_precision = true});
  ASSERT_EQ(e.size(), 8U);
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(e[i] > 0, i % 2 != 0) << i;
}

TEST(Rules, SubnormalsMayBeFlushedToZeroAndNotBeyond) {
  const std::string body = "x = f32[2] parameter(0)\nROOT r = f32[2] add(x, x)";
  const auto e = deviations(body, {{0x1p-130, 1}}, {.flush_subnormals = true});
  EXPECT_GE(e[0], 0x1p-129);
  EXPECT_EQ(e[1], 0);
}

// An implementation that compares subnormals as zeros returns either.
TEST(Rules, ExtremaOfSubnormalsAreEither) {
  const std::string body = "x = f32[2] parameter(0)\ny = f32[2] parameter(1)\nROOT m = f32[2] maximum(x, y)";
  const auto e = deviations(body, {{-0x1p-127, 1}, {0, 2}}, {.flush_subnormals = true});
  EXPECT_GE(e[0], 0x1p-127);
  EXPECT_EQ(e[1], 0);
}

TEST(Rules, SubnormalKeysOfASortChangePlaces) {
  const std::string before =
      "lt {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  i = s32[] parameter(2)\n"
      "  j = s32[] parameter(3)\n  l = pred[] compare(a, b), direction=LT\n"
      "  e = pred[] compare(a, b), direction=EQ\n  k = pred[] compare(i, j), direction=LT\n"
      "  f = pred[] and(e, k)\n  ROOT r = pred[] or(l, f)\n}";
  const std::string body =
      "x = f32[4] parameter(0)\ni = s32[4] iota(), iota_dimension=0\n"
      "s = (f32[4], s32[4]) sort(x, i), dimensions={0}, to_apply=lt\n";
  const std::vector<Literal> keys = {floats({0x1p-130, -1, 0, 2})};
  const numerics::Contract contract = {.flush_subnormals = true};
  const auto e =
      deviations(entry_module(body + "ROOT k = f32[4] get-tuple-element(s), index=0", before), keys, contract);
  EXPECT_EQ(e[0], 0);
  EXPECT_GE(e[1], 0x1p-130);
  EXPECT_GE(e[2], 0x1p-130);
  EXPECT_EQ(e[3], 0);
  const auto i =
      deviations(entry_module(body + "ROOT k = s32[4] get-tuple-element(s), index=1", before), keys, contract);
  EXPECT_EQ(i, (std::vector<double>{0, infinity, infinity, 0}));
}

TEST(Rules, TopElementsThatTieWithOthersHaveAnyOfTheirIndices) {
  const std::string body =
      "x = f32[5] parameter(0)\n"
      "t = (f32[3], s32[3]) topk(x), k=3, largest=true\n"
      "ROOT i = s32[3] get-tuple-element(t), index=1";
  const numerics::Contract contract = {.unordered_ties = true};
  EXPECT_EQ(deviations(body, {{5, 3, 4, 3, 1}}, contract), (std::vector<double>{0, 0, infinity}));
  EXPECT_EQ(deviations(body, {{5, 3, 4, 2, 1}}, contract), (std::vector<double>{0, 0, 0}));
}

// f32 would round these integers.
TEST(Rules, LargeIntegersAreComparedAsTheyAre) {
  const std::string body =
      "x = f32[2] parameter(0)\ne = f32[2] exponential(x)\nf = f32[2] floor(e)\ni = s32[2] convert(f)\n"
      "b = s32[] constant(33554434)\nbs = s32[2] broadcast(b), dimensions={}\nn = s32[2] add(i, bs)\n"
      "z = s32[] constant(0)\nzs = s32[2] broadcast(z), dimensions={}\nROOT m = s32[2] maximum(n, zs)";
  const auto e = deviations(body, {{0, 1}});  // exp(0) may be on either side of 1
  EXPECT_GE(e[0], 1);
  EXPECT_EQ(e[1], 0);
}

TEST(Rules, TiesAreThoseOfTheKeys) {
  const std::string before =
      "lt {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  k = f32[] parameter(2)\n"
      "  l = f32[] parameter(3)\n  ROOT r = pred[] compare(k, l), direction=LT\n}";
  const std::string body =
      "x = f32[3] parameter(0)\ni = s32[3] iota(), iota_dimension=0\n"
      "s = (s32[3], f32[3]) sort(i, x), dimensions={0}, to_apply=lt\n"
      "ROOT k = s32[3] get-tuple-element(s), index=0";
  EXPECT_EQ(deviations(entry_module(body, before), {floats({2, 1, 2})}, {.unordered_ties = true}),
            (std::vector<double>{0, infinity, infinity}));
}

TEST(Rules, SmallDoublesAreMultipliedAsTheyAre) {
  const std::string body =
      "x = f32[4] parameter(0)\nw = f64[4] convert(x)\ns = f64[] constant(1e-30)\n"
      "ss = f64[4] broadcast(s), dimensions={}\ny = f64[4] multiply(w, ss)\n"
      "ROOT d = f64[1] reshape(f64[] p)";
  const std::string dot = "p = f64[] dot(y, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n";
  std::string whole = body;
  whole.insert(whole.find("ROOT"), dot);
  EXPECT_GT(deviations(whole, {{1, 2, 3, 4}})[0], 1e-60 * 0x1p-53);
}

TEST(Rules, LargeExponentialsAreBounded) {
  EXPECT_LT(deviations("x = f32[1] parameter(0)\nROOT e = f32[1] exponential(x)", {{88.03}})[0], 0x1p127 * 1e-4);
}

// Just beyond the range an approximation may stay within it; an argument that deviates may, where it comes near.
TEST(Rules, InfinitiesAndNansThatEveryLegalImplementationGivesDoNotDeviate) {
  const auto of = [](const std::string& function, const std::vector<double>& x) {
    const std::string width = fmt::format("f32[{}]", x.size());
    return deviations("x = " + width + " parameter(0)\nROOT r = " + width + " " + function + "(x)", {x});
  };
  for (const double e : of("exponential", {88.73, 89.9})) EXPECT_FALSE(std::isfinite(e));
  EXPECT_THAT(of("exponential", {90.1, 1e30, infinity}), Each(0));
  EXPECT_THAT(of("cosh", {-90.1, 91}), Each(0));
  const auto of_exponential = [](const std::string& function, double x) {
    return deviations(
        "x = f32[1] parameter(0)\ne = f32[1] exponential(x)\nn = f32[1] negate(e)\nROOT r = f32[1] " + function,
        {{x}})[0];
  };
  EXPECT_EQ(of_exponential("exponential(e)", 4.6), 0);
  EXPECT_FALSE(std::isfinite(of_exponential("exponential(e)", 4.49)));
  for (const char* const outside :
       {"log(n)", "sqrt(n)", "rsqrt(n)", "acosh(n)", "log-plus-one(n)", "acos(n)", "asin(e)", "atanh(e)"}) {
    EXPECT_EQ(of_exponential(outside, 0.1), 0) << outside;
  }
  for (const char* const near_end : {"log-plus-one(n)", "acosh(e)", "acos(n)", "asin(e)", "atanh(e)"})
    EXPECT_FALSE(std::isfinite(of_exponential(near_end, 0x1p-23))) << near_end;
}

TEST(Rules, PowersOfNumbersBelowZeroThatAreNanDoNotDeviate) {
  EXPECT_THAT(deviations("x = f32[2] parameter(0)\ny = f32[2] parameter(1)\nROOT p = f32[2] power(x, y)",
                         {{-1.5, -1e-3}, {-1.5, 2.5}}),
              Each(0));
}

// bf16 arithmetic is f32 arithmetic that is rounded once: where that is not near a tie nothing deviates.
TEST(Rules, NarrowArithmeticDeviatesNearTies) {
  const std::string exponential = "x = f32[2] parameter(0)\nn = bf16[2] convert(x)\nROOT e = bf16[2] exponential(n)";
  // e^1 = 2.71828 is rounded to 2.71875, far from both neighbours' ties.
  EXPECT_EQ(deviations(exponential, {{1, 0}}), (std::vector<double>{0, 0}));
  const std::string quotient =
      "x = f32[1] parameter(0)\ny = f32[1] parameter(1)\nl = f32[1] log(y)\nn = bf16[1] convert(l)\n"
      "m = bf16[1] convert(x)\nROOT q = bf16[1] multiply(m, n)";
  EXPECT_EQ(deviations(quotient, {{3}, {2}}), (std::vector<double>{0}));
  // A sum of products near the tie between 256 and 258.
  const std::string sum =
      "x = f32[2] parameter(0)\ny = f32[2] parameter(1)\nm = bf16[2] convert(x)\nn = bf16[2] convert(y)\n"
      "d = bf16[] dot(m, n), lhs_contracting_dims={0}, rhs_contracting_dims={0}\nROOT r = bf16[1] reshape(d)";
  EXPECT_GE(deviations(sum, {{16, 1}, {16, 1}})[0], 2);
  EXPECT_EQ(deviations(sum, {{16, 1}, {16, 0.5}})[0], 0);
}

// Zeros round nothing.
TEST(Rules, LongSumsCountTheirTerms) {
  std::vector<double> terms(8192);
  terms[5] = terms[7] = terms[8000] = 1;
  const std::string sum =
      "x = f32[8192] parameter(0)\nz = f32[] constant(0)\n"
      "s = f32[] reduce(x, z), dimensions={0}, to_apply=add\nROOT r = f32[1] reshape(s)";
  const std::string add = "add {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT c = f32[] add(a, b)\n}";
  EXPECT_LT(deviations(entry_module(sum, add), {floats(terms)})[0], 20 * u);
  EXPECT_GE(deviations(entry_module(sum, add), {floats(std::vector<double>(8192, 1))})[0], 8191.0 * 8192 * u);
}

TEST(Rules, WhatHasNoBoundIsNamed) {
  const Module module = entry_module(
      "x = f32[2] parameter(0)\ne = f32[2] exponential(x)\n"
      "ROOT r = f32[2] custom-call(e), custom_call_target=\"Unheard\"");
  const auto bounded = with_bounds(module, {});
  ASSERT_TRUE(bounded);
  ASSERT_EQ(bounded->unbounded.size(), 1U);
  EXPECT_EQ(bounded->unbounded[0], "custom-call (r, in main)");
}

TEST(Rules, DynamicShapesAreRefused) {
  const Module module = entry_module(
      "x = f32[4] parameter(0)\nn = s32[] constant(2)\nROOT r = f32[<=4] set-dimension-size(x, n), dimensions={0}");
  const auto bounded = with_bounds(module, {});
  ASSERT_FALSE(bounded);
  EXPECT_EQ(bounded.error().kind, ErrorKind::Unsupported);
}

// Windows of every other element: 0, 2 and 1, 3.
TEST(Rules, DilatedWindowsTieWhereTheyReach) {
  const Module module = pooling_gradient(4, "size=2 rhs_dilate=2", "LE");
  EXPECT_THAT(deviations(module, {floats({5, 1, 5, 2}), floats({10, 20})}, {.unordered_ties = true}),
              ElementsAre(nearly(10), nearly(0), nearly(10), nearly(0)));
  EXPECT_EQ(deviations(module, {floats({5, 1, 5, 2}), floats({infinity, 20})}, {.unordered_ties = true})[0], infinity);
}

TEST(Rules, WindowsWithTiesMayChooseAnyOfThem) {
  const Module module = pooling_gradient(5, "size=3 stride=2", "GE");
  const std::vector<Literal> one_tie{floats({3, 1, 3, 2, 1}), floats({10, 20})};
  EXPECT_THAT(deviations(module, one_tie), Each(nearly(0)));
  EXPECT_THAT(deviations(module, one_tie, {.unordered_ties = true}),
              ElementsAre(nearly(10), nearly(10), nearly(10), nearly(0), nearly(0)));
  const std::vector<Literal> all_tie{floats({1, 1, 1, 1, 1}), floats({10, 20})};
  EXPECT_THAT(deviations(module, all_tie, {.unordered_ties = true}),
              ElementsAre(nearly(10), nearly(10), nearly(30), nearly(20), nearly(20)));
}

// Of several values side by side each by its own rule: here a sum and a maximum.
TEST(Rules, ReductionsSideBySideAreBoundedAsThoseAlone) {
  const std::string both = R"(both {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] parameter(2)
  d = f32[] parameter(3)
  s = f32[] add(c, a)
  m = f32[] maximum(b, d)
  ROOT r = (f32[], f32[]) tuple(s, m)
})";
  const Module side_by_side = entry_module(R"(
  x = f32[3] parameter(0)
  y = f32[3] parameter(1)
  z = f32[] constant(0)
  low = f32[] constant(-inf)
  r = (f32[], f32[]) reduce(x, y, z, low), dimensions={0}, to_apply=both
  s = f32[] get-tuple-element(r), index=0
  ROOT one = f32[1] reshape(s))",
                                           both);
  const Module alone =
      entry_module(R"(
  x = f32[3] parameter(0)
  z = f32[] constant(0)
  s = f32[] reduce(x, z), dimensions={0}, to_apply=add
  ROOT one = f32[1] reshape(s))",
                   "add {\na = f32[] parameter(0)\nb = f32[] parameter(1)\nROOT s = f32[] add(a, b)\n}");
  const double expected = deviations(alone, {floats({1, 1e8, -1e8})}).at(0);
  EXPECT_GE(expected, 1);
  EXPECT_NEAR(deviations(side_by_side, {floats({1, 1e8, -1e8}), floats({0, 0, 0})}).at(0), expected, 1e-4 * expected);
}

TEST(Rules, ABodyThatRoundsHasNoBoundInAnotherOrder) {
  const auto reduction = [](const std::string& type, const std::string& last = "multiply(c, half)") {
    return entry_module("x = f32[" + type + R"(] parameter(0)
  z = f32[] constant(0)
  s = f32[] reduce(x, z), dimensions={0}, to_apply=body
  ROOT one = f32[1] reshape(s))",
                        R"(body {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] add(a, b)
  half = f32[] constant(0.5)
  m = f32[] maximum(a, b)
  ROOT s = f32[] )" + last + "\n}");
  };
  EXPECT_EQ(deviations(reduction("3", "negate(m)"), {floats({1, 2, -3})}), std::vector<double>{infinity});
  EXPECT_EQ(deviations(reduction("3"), {floats({1, 1e8, -1e8})}), std::vector<double>{infinity});
  EXPECT_TRUE(deviations(reduction("1"), {floats({1})}).empty());
}

}  // namespace
}  // namespace sapper::bounds
