// Safe ranges: a test a rule, and that sampled inputs inside them do what the ranges promise.
#include "inputs/ranges.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "eval/evaluator.h"
#include "hlo/text.h"
#include "hlo/verifier.h"
#include "inputs/sampler.h"
#include "tests/inputs/packed_gather.h"
#include "tests/inputs/unintended.h"

namespace sapper::inputs {
namespace {

using hlo::Module;

Module parse(const std::string& text) {
  auto module = hlo::parse_text(text);
  EXPECT_TRUE(module.has_value()) << (module ? "" : module.error().describe());
  const Status verified = hlo::verify(*module);
  EXPECT_TRUE(verified.has_value()) << (verified ? "" : verified.error().describe());
  return *std::move(module);
}

Ranges ranges_of(const std::string& instructions) {
  return safe_ranges(parse("HloModule m\nENTRY e {\n" + instructions + "\n}"));
}

Interval range_of(const std::string& instructions, size_t parameter = 0) {
  return ranges_of(instructions).parameters[parameter].values;
}

constexpr double largest_f32 = 0x1.fffffep127;

// --- Domains.

Interval range_of_unary(const std::string& opcode, const std::string& type = "f32") {
  return range_of(fmt::format("x = {0}[8] parameter(0)\n ROOT r = {0}[8] {1}(x)", type, opcode));
}

TEST(Ranges, FunctionsBoundTheirOperandsByTheirDomains) {
  EXPECT_EQ(range_of_unary("log").low, 0x1p-126);
  EXPECT_EQ(range_of_unary("rsqrt").low, 0x1p-126);
  EXPECT_EQ(range_of_unary("sqrt").low, 0);
  EXPECT_EQ(range_of_unary("acos"), (Interval{-1, 1}));
  EXPECT_EQ(range_of_unary("acosh").low, 1);
  EXPECT_EQ(range_of_unary("atanh"), (Interval{0x1p-23 - 1, 1 - 0x1p-23}));
  EXPECT_EQ(range_of_unary("log-plus-one").low, 0x1p-23 - 1);
  EXPECT_EQ(range_of_unary("tanh"), (Interval{-largest_f32, largest_f32}));
}

TEST(Ranges, OverflowDependsOnTheType) {
  EXPECT_NEAR(range_of_unary("exponential", "f32").high, std::log(largest_f32 / 2), 1e-6);
  EXPECT_NEAR(range_of_unary("exponential", "f16").high, std::log(65504.0 / 2), 1e-6);
  EXPECT_NEAR(range_of_unary("exponential", "bf16").high, std::log(0x1.fep127 / 2), 1e-6);
  EXPECT_NEAR(range_of_unary("cosh", "f16").high, std::acosh(65504.0 / 2), 1e-6);
  EXPECT_NEAR(range_of_unary("sinh", "f16").low, -std::asinh(65504.0 / 2), 1e-6);
}

TEST(Ranges, DivisorsAreAwayFromZero) {
  const std::string division = "x = f32[8] parameter(0)\n y = f32[8] parameter(1)\n ROOT r = f32[8] divide(x, y)";
  const Interval x = range_of(division, 0);
  const Interval y = range_of(division, 1);
  EXPECT_GT(y.away, 0);
  EXPECT_LE(x.largest() / y.away, largest_f32);
  EXPECT_GT(x.largest(), 1e6);
  EXPECT_EQ(range_of("x = s32[8] parameter(0)\n y = s32[8] parameter(1)\n ROOT r = s32[8] remainder(x, y)", 1).away, 1);
}

TEST(Ranges, GoThroughTheMarksOfXlaTpu) {
  EXPECT_EQ(range_of("i = s32[2] parameter(0)\n x = f32[5] parameter(1)\n "
                     "k = s32[2] custom-call(i), custom_call_target=\"AssumeGatherIndicesInBound\"\n "
                     "ROOT r = f32[2] gather(x, k), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, "
                     "index_vector_dim=1, slice_sizes={1}"),
            (Interval{0, 4}));
}

TEST(Ranges, PowersHavePositiveBasesUnlessTheExponentIsWhole) {
  EXPECT_GT(range_of("x = f32[8] parameter(0)\n y = f32[8] parameter(1)\n ROOT r = f32[8] power(x, y)").low, 0);
  const std::string with_constant = "x = f32[] parameter(0)\n c = f32[] constant({})\n ROOT r = f32[] power(x, c)";
  const Interval cube = range_of(fmt::format(fmt::runtime(with_constant), "3"));
  EXPECT_LT(cube.low, -1e12);
  EXPECT_LE(std::pow(cube.high, 3), largest_f32);
  EXPECT_EQ(range_of(fmt::format(fmt::runtime(with_constant), "0.5")).low, 0);
  EXPECT_GT(range_of(fmt::format(fmt::runtime(with_constant), "-2")).away, 0);
}

TEST(Ranges, BoundsGoBackThroughArithmetic) {
  // log(1 - x) bounds x above; sqrt(x * c) with c < 0 makes x negative; sqrt(v + epsilon) leaves v positive.
  EXPECT_LT(range_of("x = f32[] parameter(0)\n c = f32[] constant(1)\n d = f32[] subtract(c, x)\n ROOT r = f32[] "
                     "log(d)")
                .high,
            1);
  EXPECT_LE(range_of("x = f32[] parameter(0)\n c = f32[] constant(-2)\n d = f32[] multiply(c, x)\n ROOT r = f32[] "
                     "sqrt(d)")
                .high,
            0);
  const Interval variance =
      range_of("v = f32[] parameter(0)\n c = f32[] constant(1e-5)\n d = f32[] add(v, c)\n ROOT r = f32[] rsqrt(d)");
  EXPECT_GT(variance.low, -1e-5);
  EXPECT_LE(variance.low, 0);
}

TEST(Ranges, SquaresAndAbsoluteValuesNeedNothingToBePositive) {
  const Interval x = range_of("x = f32[] parameter(0)\n s = f32[] multiply(x, x)\n ROOT r = f32[] sqrt(s)");
  EXPECT_LT(x.low, -1e18);
  EXPECT_GT(x.high, 1e18);
  EXPECT_LT(range_of("x = f32[] parameter(0)\n s = f32[] abs(x)\n ROOT r = f32[] sqrt(s)").low, -1e30);
}

TEST(Ranges, AdamsStepCountAndSecondMomentArePositive) {
  const Ranges ranges = ranges_of(R"(
  count = s32[] parameter(0)
  nu = f32[8] parameter(1)
  gradient = f32[8] parameter(2)
  one = s32[] constant(1)
  next = s32[] add(count, one)
  exponent = f32[] convert(next)
  decay = f32[] constant(0.999)
  power = f32[] power(decay, exponent)
  unit = f32[] constant(1)
  correction = f32[] subtract(unit, power)
  corrections = f32[8] broadcast(correction), dimensions={}
  decays = f32[8] broadcast(decay), dimensions={}
  kept = f32[8] multiply(nu, decays)
  square = f32[8] multiply(gradient, gradient)
  sum = f32[8] add(kept, square)
  corrected = f32[8] divide(sum, corrections)
  ROOT root = f32[8] sqrt(corrected))");
  EXPECT_EQ(ranges.parameters[0].values.low, 0) << "because of " << ranges.parameters[0].low.instruction;
  EXPECT_EQ(ranges.parameters[1].values.low, 0);
  EXPECT_LT(ranges.parameters[2].values.low, -1);
}

// --- Overflow of what accumulates.

TEST(Ranges, SumsAreScaledByTheirLength) {
  const auto sum_of = [](int64_t terms) {
    return safe_ranges(
               parse(fmt::format("HloModule m\nadd {{ a = f16[] parameter(0)\n b = f16[] parameter(1)\n ROOT c = "
                                 "f16[] add(a, b) }}\nENTRY e {{ x = f16[{}] parameter(0)\n z = f16[] "
                                 "constant(0)\n ROOT r = f16[] reduce(x, z), dimensions={{0}}, to_apply=add }}",
                                 terms)))
        .parameters[0]
        .values.high;
  };
  EXPECT_LE(sum_of(100) * 100, 65504);
  EXPECT_GT(sum_of(100) * 100, 30000);
  EXPECT_LE(sum_of(1000) * 1000, 65504);
}

TEST(Ranges, ChainsOfMatrixProductsStayFinite) {
  std::string text = "x0 = f16[64,64] parameter(0)\n";
  for (int i = 1; i <= 6; ++i)
    text += fmt::format(
        "w{0} = f16[64,64] parameter({0})\n {2}x{0} = f16[64,64] dot(x{1}, w{0}), lhs_contracting_dims={{1}}, "
        "rhs_contracting_dims={{0}}\n",
        i, i - 1, i == 6 ? "ROOT " : "");
  const Ranges ranges = ranges_of(text);
  double product = 1;
  for (const ParameterRange& range : ranges.parameters) product *= range.values.largest();
  EXPECT_LE(product * std::pow(8, 6), 65504);  // typical sums: each of 64 terms, in the root of their number
}

TEST(Ranges, SignedOverflowIsAvoidedAndUnsignedIsNot) {
  const std::string sum = "x = {0}[8] parameter(0)\n y = {0}[8] parameter(1)\n ROOT r = {0}[8] add(x, y)";
  const Interval of_signed = range_of(fmt::format(fmt::runtime(sum), "s8"));
  EXPECT_LE(of_signed.high, 64);
  EXPECT_EQ(range_of(fmt::format(fmt::runtime(sum), "u32")), (Interval{0, 4294967295.0}));
  EXPECT_EQ(range_of(fmt::format(fmt::runtime(sum), "s4")), (Interval{-8, 7}));
}

TEST(Ranges, SoftmaxNeedsNoSmallInputs) {
  const Ranges ranges = safe_ranges(parse(R"(HloModule m
max { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] maximum(a, b) }
add { a = f32[] parameter(0)
 b = f32[] parameter(1)
 ROOT c = f32[] add(a, b) }
ENTRY e {
  x = f32[4,16] parameter(0)
  low = f32[] constant(-inf)
  m = f32[4] reduce(x, low), dimensions={1}, to_apply=max
  mb = f32[4,16] broadcast(m), dimensions={0}
  d = f32[4,16] subtract(x, mb)
  ex = f32[4,16] exponential(d)
  zero = f32[] constant(0)
  s = f32[4] reduce(ex, zero), dimensions={1}, to_apply=add
  sb = f32[4,16] broadcast(s), dimensions={0}
  ROOT r = f32[4,16] divide(ex, sb)
})"));
  EXPECT_GT(ranges.parameters[0].values.high, 3);
  EXPECT_LT(ranges.parameters[0].values.low, -3);
}

// --- Indices, roles.

TEST(Ranges, PartsOfAnIndexHaveBoundsOfTheirOwn) {
  const ParameterRange words = safe_ranges(parse(packed_gather(64))).parameters[1];
  EXPECT_EQ(words.fields, (std::vector<Field>{{480, 9}})) << "of the other one the mask is enough";
  EXPECT_TRUE(words.indexes);
  const std::string apart = R"(x = f32[4,10] parameter(0)
  i = s32[64,1] parameter(1)
  j = s32[64,1] parameter(2)
  ij = s32[64,2] concatenate(i, j), dimensions={1}
  ROOT r = f32[64] gather(x, ij), offset_dims={}, collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,1})";
  EXPECT_EQ(range_of(apart, 1), (Interval{0, 3}));
  EXPECT_EQ(range_of(apart, 2), (Interval{0, 9}));
}

// Words of which part is an index into a dimension of 10, and what else is done with them.
Ranges ranges_of_word(const std::string& more, const std::string& mask = "15", const std::string& word = "w") {
  return ranges_of(R"(x = f32[10] parameter(0)
  w = s32[] parameter(1)
  ones = s32[] constant(-1)
  n = s32[] xor(w, ones)
  mask = s32[] constant()" +
                   mask + R"()
  i = s32[] and()" +
                   word + R"(, mask)
  a = f32[1] dynamic-slice(x, i), dynamic_slice_sizes={1}
)" + more);
}

TEST(Ranges, OtherNeedsOfAWordGoBeforeItsFields) {
  EXPECT_EQ(ranges_of_word("ROOT r = f32[1] negate(a)").parameters[1].fields, (std::vector<Field>{{15, 9}}));
  const ParameterRange divides =
      ranges_of_word("h = s32[] constant(100)\nq = s32[] divide(h, w)\nROOT r = (f32[1], s32[]) tuple(a, q)")
          .parameters[1];
  EXPECT_TRUE(divides.fields.empty());
  EXPECT_GT(divides.values.away, 0);
  EXPECT_FALSE(divides.is_proof);
  EXPECT_FALSE(ranges_of_word("m = s32[] constant(7)\nj = s32[] and(w, m)\ny = f32[4] slice(x), slice={[0:4]}\n"
                              "b = f32[1] dynamic-slice(y, j), dynamic_slice_sizes={1}\n"
                              "ROOT r = (f32[1], f32[1]) tuple(a, b)")
                   .parameters[1]
                   .is_proof)
      << "two fields that overlap";
  EXPECT_FALSE(ranges_of_word("ROOT r = f32[1] negate(a)", "15", "n").parameters[1].is_proof)
      << "fields of what is computed";
  EXPECT_TRUE(ranges_of_word("ROOT r = f32[1] negate(a)", "7").parameters[1].fields.empty()) << "the mask is enough";
}

TEST(Ranges, IndicesAndShiftsStayInside) {
  const std::string slice =
      "x = f32[16] parameter(0)\n i = s32[] parameter(1)\n ROOT r = f32[4] dynamic-slice(x, i), "
      "dynamic_slice_sizes={4}";
  EXPECT_EQ(range_of(slice, 1), (Interval{0, 12}));
  EXPECT_TRUE(ranges_of(slice).parameters[1].indexes);
  EXPECT_EQ(range_of("x = f32[16] parameter(0)\n u = f32[5] parameter(1)\n i = s64[] parameter(2)\n ROOT r = f32[16] "
                     "dynamic-update-slice(x, u, i)",
                     2),
            (Interval{0, 11}));
  EXPECT_EQ(range_of("x = u32[8] parameter(0)\n y = u32[8] parameter(1)\n ROOT r = u32[8] shift-left(x, y)", 1),
            (Interval{0, 31}));
}

TEST(Ranges, ClampedIndicesNeedNoBounds) {
  EXPECT_EQ(
      range_of("x = f32[16] parameter(0)\n i = s32[] parameter(1)\n a = s32[] constant(0)\n b = s32[] constant(12)\n "
               "c = s32[] clamp(a, i, b)\n ROOT r = f32[4] dynamic-slice(x, c), dynamic_slice_sizes={4}",
               1),
      (Interval{-2147483648.0, 2147483647.0}));
}

TEST(Ranges, HashedWordsAreBits) {
  const Ranges ranges =
      ranges_of("x = u32[8] parameter(0)\n y = u32[8] parameter(1)\n s = u32[8] add(x, y)\n ROOT r = u32[8] xor(s, x)");
  EXPECT_NE(ranges.parameters[0].roles & RoleBits, 0);
  EXPECT_EQ(ranges.parameters[0].values, (Interval{0, 4294967295.0}));
}

TEST(Ranges, FactoredMatricesHaveAHeavyDiagonal) {
  const Ranges ranges = ranges_of(
      "x = f32[4,4] parameter(0)\n t = f32[4,4] transpose(x), dimensions={1,0}\n s = f32[4,4] add(x, t)\n ROOT r = "
      "f32[4,4] cholesky(s), lower=true");
  EXPECT_NE(ranges.parameters[0].roles & RoleHeavyDiagonal, 0);
}

// --- Structure.

TEST(Ranges, CallsFusionsBranchesAndLoopsAreEntered) {
  const Ranges ranges = safe_ranges(parse(R"(HloModule m
root { x = f32[] parameter(0)
 ROOT r = f32[] sqrt(x) }
logarithm { x = f32[] parameter(0)
 ROOT r = f32[] log(x) }
cond { s = (s32[], f32[]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 n = s32[] constant(3)
 ROOT l = pred[] compare(i, n), direction=LT }
body { s = (s32[], f32[]) parameter(0)
 i = s32[] get-tuple-element(s), index=0
 x = f32[] get-tuple-element(s), index=1
 one = s32[] constant(1)
 j = s32[] add(i, one)
 y = f32[] sqrt(x)
 ROOT t = (s32[], f32[]) tuple(j, y) }
ENTRY e {
  p = pred[] parameter(0)
  called = f32[] parameter(1)
  fused = f32[] parameter(2)
  taken = f32[] parameter(3)
  other = f32[] parameter(4)
  looped = f32[] parameter(5)
  a = f32[] call(called), to_apply=root
  b = f32[] fusion(fused), kind=kLoop, calls=root
  c = f32[] conditional(p, taken, other), true_computation=root, false_computation=logarithm
  zero = s32[] constant(0)
  t = (s32[], f32[]) tuple(zero, looped)
  w = (s32[], f32[]) while(t), condition=cond, body=body
  d = f32[] get-tuple-element(w), index=1
  ROOT r = (f32[], f32[], f32[], f32[]) tuple(a, b, c, d)
})"));
  for (const size_t parameter : {1, 2, 3, 5}) EXPECT_EQ(ranges.parameters[parameter].values.low, 0) << parameter;
  EXPECT_EQ(ranges.parameters[4].values.low, 0x1p-126);
  EXPECT_EQ(ranges.parameters[1].low.instruction, "r");
  EXPECT_EQ(ranges.parameters[1].low.computation, "root");
}

TEST(Ranges, TuplesOfTheEntryAreNamedByPosition) {
  const Ranges ranges = ranges_of(
      "t = (f32[], (f32[], s32[])) parameter(0)\n a = f32[] get-tuple-element(t), index=0\n ROOT r = f32[] sqrt(a)");
  ASSERT_EQ(ranges.parameters.size(), 3U);
  EXPECT_EQ(ranges.parameters[0].name, "t{0}");
  EXPECT_EQ(ranges.parameters[2].name, "t{1,1}");
  EXPECT_EQ(ranges.parameters[0].values.low, 0);
}

TEST(Ranges, ConflictsAreReportedAndDomainsGoBeforeIndices) {
  // As an index the number is not negative; the logarithm of -1 - i needs it below -1.
  const Ranges ranges = ranges_of(R"(
  x = f32[16] parameter(0)
  i = s32[] parameter(1)
  part = f32[4] dynamic-slice(x, i), dynamic_slice_sizes={4}
  f = f32[] convert(i)
  c = f32[] constant(-1)
  d = f32[] subtract(c, f)
  l = f32[] log(d)
  ROOT t = (f32[4], f32[]) tuple(part, l))");
  ASSERT_EQ(ranges.conflicts.size(), 1U);
  EXPECT_EQ(ranges.conflicts[0].kept.instruction, "l");
  EXPECT_EQ(ranges.conflicts[0].dropped.instruction, "part");
  EXPECT_LT(ranges.parameters[1].values.high, 0);
}

// --- What ranges promise holds.

// Up to ten operations on three parameters, each number an operation and its operands.
std::string random_program(const std::vector<uint32_t>& steps, const std::string& type) {
  static const char* const unary[] = {"exponential",
                                      "log",
                                      "sqrt",
                                      "rsqrt",
                                      "tanh",
                                      "logistic",
                                      "negate",
                                      "abs",
                                      "cosh",
                                      "sinh",
                                      "log-plus-one",
                                      "cbrt",
                                      "exponential-minus-one"};
  static const char* const binary[] = {"add", "subtract", "multiply", "divide", "maximum", "minimum"};
  std::string text = fmt::format(
      "HloModule m\nadd {{ a = {0}[] parameter(0)\n b = {0}[] parameter(1)\n ROOT c = {0}[] add(a, "
      "b) }}\nENTRY e {{\n zero = {0}[] constant(0)\n",
      type);
  for (int i = 0; i < 3; ++i) text += fmt::format("v{} = {}[64] parameter({})\n", i, type, i);
  size_t next = 3;
  for (const uint32_t step : steps) {
    const size_t a = step / 64 % next;
    const size_t b = step / 4096 % next;
    const uint32_t which = step % 64;
    if (which < 26) {
      text += fmt::format("v{} = {}[64] {}(v{})\n", next, type, unary[which % 13], a);
    } else if (which < 56) {
      text += fmt::format("v{} = {}[64] {}(v{}, v{})\n", next, type, binary[which % 6], a, b);
    } else {
      text += fmt::format(
          "sum{0} = {1}[] reduce(v{2}, zero), dimensions={{0}}, to_apply=add\n v{0} = {1}[64] broadcast(sum{0}), "
          "dimensions={{}}\n",
          next, type, a);
    }
    ++next;
  }
  return text + fmt::format("ROOT r = {}[64] copy(v{})\n}}", type, next - 1);
}

TEST(Ranges, ProvenRangesNeverGiveNonFiniteValues) {
  int proven = 0, all = 0;
  const auto holds = [&](std::vector<uint32_t> steps, uint64_t seed) {
    if (steps.size() > 10) steps.resize(10);
    static const char* const types[] = {"f32", "bf16", "f16", "f64"};
    const Module module = parse(random_program(steps, types[seed % 4]));
    const Ranges ranges = safe_ranges(module);
    ++all;
    if (ranges.doubtful > 0 || !ranges.conflicts.empty()) return;
    for (const ParameterRange& range : ranges.parameters)
      if (!range.is_proof) return;
    ++proven;
    for (const Kind kind : kinds) {
      UnintendedWatch watch;
      eval::Options options;
      options.trace = [&](const hlo::Computation& computation, const hlo::Instruction& instruction,
                          const hlo::Literal& value) { watch.see(computation, instruction, value); };
      const auto arguments = sample(module, ranges, hlo::fingerprint(module), seed, kind);
      RC_ASSERT(eval::evaluate(module, *arguments, options).has_value());
      for (const Unintended& one : watch.produced())
        RC_LOG() << to_string(kind) << ": " << one.opcode << " " << one.instruction << "\n";
      RC_ASSERT(watch.produced().empty());
    }
  };
  EXPECT_TRUE(rc::check("inputs of every kind inside proven ranges", holds));
  EXPECT_GT(proven, all / 4) << "of " << all;
}

}  // namespace
}  // namespace sapper::inputs
