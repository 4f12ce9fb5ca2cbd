// Sampled inputs: deterministic, suited to the type, indices inside what they index.
#include "inputs/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "hlo/text.h"
#include "inputs/natural.h"
#include "tests/inputs/packed_gather.h"

namespace sapper::inputs {
namespace {

using hlo::Literal;
using hlo::Module;

Module parse(const std::string& text) {
  auto module = hlo::parse_text(text);
  EXPECT_TRUE(module.has_value()) << (module ? "" : module.error().describe());
  return *std::move(module);
}

std::vector<Literal> sampled(const Module& module, uint64_t seed, Kind kind = Kind::Dense) {
  return *sample(module, hlo::fingerprint(module), seed, kind);
}

Interval range_of(const Module& module, size_t parameter) { return safe_ranges(module).parameters[parameter].values; }

constexpr const char* gather_text = R"(
HloModule m
ENTRY e {
  table = f32[1000,8] parameter(0)
  raw = s32[64] parameter(1)
  zero = s32[] constant(0)
  zeros = s32[64] broadcast(zero), dimensions={}
  negative = pred[64] compare(raw, zeros), direction=LT
  n = s32[] constant(1000)
  ns = s32[64] broadcast(n), dimensions={}
  wrapped = s32[64] add(raw, ns)
  index = s32[64] select(negative, wrapped, raw)
  indices = s32[64,1] reshape(index)
  ROOT rows = f32[64,8] gather(table, indices), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,8}
})";

TEST(Sampler, SameSeedSameBytesOtherSeedOtherBytes) {
  const Module module = parse(gather_text);
  EXPECT_EQ(sampled(module, 1)[0], sampled(module, 1)[0]);
  EXPECT_FALSE(sampled(module, 1)[0] == sampled(module, 2)[0]);
}

TEST(Sampler, IndicesStayInsideAndReachTheEdges) {
  const Module module = parse(gather_text);
  EXPECT_EQ(range_of(module, 1), (Interval{0, 999}));
  std::set<int64_t> seen;
  for (uint64_t seed = 0; seed < 8; ++seed) {
    const Literal indices = sampled(module, seed)[1];
    for (int64_t i = 0; i < 64; ++i) seen.insert(indices.integer_at(i));
  }
  EXPECT_EQ(*seen.begin(), 0);
  EXPECT_EQ(*seen.rbegin(), 999);
}

TEST(Sampler, IndicesAreTracedThroughLoopsAndFusions) {
  const Module module = parse(R"(
HloModule m
slice_body {
  p = f32[16] parameter(0)
  i = s32[] parameter(1)
  ROOT s = f32[4] dynamic-slice(p, i), dynamic_slice_sizes={4}
}
cond {
  state = (s32[], f32[16], f32[4]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  n = s32[] constant(3)
  ROOT less = pred[] compare(i, n), direction=LT
}
body {
  state = (s32[], f32[16], f32[4]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  x = f32[16] get-tuple-element(state), index=1
  part = f32[4] fusion(x, i), kind=kLoop, calls=slice_body
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT t = (s32[], f32[16], f32[4]) tuple(next, x, part)
}
ENTRY e {
  i = s32[] parameter(0)
  x = f32[16] parameter(1)
  y = f32[4] parameter(2)
  t = (s32[], f32[16], f32[4]) tuple(i, x, y)
  w = (s32[], f32[16], f32[4]) while(t), condition=cond, body=body
  ROOT r = f32[4] get-tuple-element(w), index=2
})");
  EXPECT_EQ(range_of(module, 0), (Interval{0, 11}));  // one less than the first iteration could take: there is a second
}

TEST(Sampler, WeightsAreScaledByWhatIsSummedOfThem) {
  // Of the kernel 16 elements are summed, of the filter 3 * 3 * 4, through a loop over stacked layers too.
  const Module module = parse(R"(
HloModule m
cond {
  state = (s32[], f32[64,16], f32[3,16,8,64]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  n = s32[] constant(3)
  ROOT less = pred[] compare(i, n), direction=LT
}
body {
  state = (s32[], f32[64,16], f32[3,16,8,64]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  x = f32[64,16] get-tuple-element(state), index=1
  kernels = f32[3,16,8,64] get-tuple-element(state), index=2
  zero = s32[] constant(0)
  layer = f32[1,16,8,64] dynamic-slice(kernels, i, zero, zero, zero), dynamic_slice_sizes={1,16,8,64}
  kernel = f32[16,512] reshape(layer)
  y = f32[64,512] dot(x, kernel), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  part = f32[64,16] slice(y), slice={[0:64], [0:16]}
  one = s32[] constant(1)
  next = s32[] add(i, one)
  ROOT t = (s32[], f32[64,16], f32[3,16,8,64]) tuple(next, part, kernels)
}
ENTRY e {
  i = s32[] parameter(0)
  x = f32[64,16] parameter(1)
  kernels = f32[3,16,8,64] parameter(2)
  image = f32[1,8,8,4] parameter(3)
  filter = f32[3,3,4,128] parameter(4)
  t = (s32[], f32[64,16], f32[3,16,8,64]) tuple(i, x, kernels)
  w = (s32[], f32[64,16], f32[3,16,8,64]) while(t), condition=cond, body=body
  c = f32[1,6,6,128] convolution(image, filter), window={size=3x3}, dim_labels=b01f_01io->b01f
  y = f32[64,16] get-tuple-element(w), index=1
  ROOT r = (f32[64,16], f32[1,6,6,128]) tuple(y, c)
})");
  EXPECT_EQ(contracted_terms(flatten(module)), (std::vector<double>{0, 16, 16, 0, 36}));
  const auto largest = [&](size_t parameter) {
    const Literal value = sampled(module, 0)[parameter];
    double magnitude = 0;
    for (int64_t i = 0; i < value.element_count(); ++i) magnitude = std::max(magnitude, std::fabs(value.real_at(i)));
    return magnitude;
  };
  EXPECT_LT(largest(2), 1);
  EXPECT_GT(largest(2), 0.5);
  EXPECT_LT(largest(4), 0.5);
  EXPECT_GT(largest(4), 0.25);
}

TEST(Sampler, KindsDifferAndEachIsDeterministic) {
  const Module module = parse("HloModule m\nENTRY e { ROOT x = f32[64,32] parameter(0) }");
  for (const Kind kind : kinds) {
    EXPECT_EQ(sampled(module, 3, kind)[0], sampled(module, 3, kind)[0]);
    for (const Kind other : kinds)
      EXPECT_EQ(sampled(module, 3, kind)[0] == sampled(module, 3, other)[0], other == kind);
  }
}

int64_t count(const Literal& value, double wanted) {
  int64_t found = 0;
  for (int64_t i = 0; i < value.element_count(); ++i) found += value.real_at(i) == wanted ? 1 : 0;
  return found;
}

TEST(Sampler, EdgesHaveZerosSubnormalsTiesAndTheTypesLimits) {
  const Module module = parse("HloModule m\nENTRY e { ROOT x = f16[64,64] parameter(0) }");
  const Literal x = sampled(module, 0, Kind::Edges)[0];
  for (const double edge : {0.0, 65504.0, -65504.0, 0x1p-24, 0x1p-14, 2.5, 1.0, 0.5})
    EXPECT_GT(count(x, edge), 0) << edge;
  bool has_negative_zero = false;
  for (int64_t i = 0; i < x.element_count(); ++i) has_negative_zero |= x.real_at(i) == 0 && std::signbit(x.real_at(i));
  EXPECT_TRUE(has_negative_zero);
}

TEST(Sampler, EdgesOfIntegersAreTheirTypesLimits) {
  const Module module = parse("HloModule m\nENTRY e { ROOT x = s32[64,64] parameter(0) }");
  const Literal x = sampled(module, 0, Kind::Edges)[0];
  for (const double edge : {-2147483648.0, 2147483647.0, 0.0, -1.0}) EXPECT_GT(count(x, edge), 0) << edge;
}

TEST(Sampler, SparseIsMostlyZeroUnlessZeroIsUnsafe) {
  const Module free = parse("HloModule m\nENTRY e { ROOT x = f32[64,64] parameter(0) }");
  EXPECT_GT(count(sampled(free, 0, Kind::Sparse)[0], 0), 3000);
  const Module divided = parse(
      "HloModule m\nENTRY e { x = f32[64,64] parameter(0)\n y = f32[64,64] parameter(1)\n ROOT q = f32[64,64] "
      "divide(x, y) }");
  EXPECT_EQ(count(sampled(divided, 0, Kind::Sparse)[1], 0), 0);
}

TEST(Sampler, StructuredHasOneHotConstantAndSortedRows) {
  const Module module = parse("HloModule m\nENTRY e { ROOT x = f32[64,32] parameter(0) }");
  const Literal x = sampled(module, 0, Kind::Structured)[0];
  int one_hot = 0, constant = 0, sorted = 0;
  for (int64_t row = 0; row < 64; ++row) {
    int zeros = 0, ones = 0, equal = 0, rising = 0;
    for (int64_t k = 0; k < 32; ++k) {
      const double value = x.real_at(row * 32 + k);
      const double next = x.real_at(row * 32 + (k + 1) % 32);
      zeros += value == 0 ? 1 : 0;
      ones += value == 1 ? 1 : 0;
      equal += value == next ? 1 : 0;
      rising += value < next ? 1 : 0;
    }
    one_hot += zeros == 31 && ones == 1 ? 1 : 0;
    constant += equal == 32 ? 1 : 0;
    sorted += rising == 31 ? 1 : 0;
  }
  EXPECT_GT(one_hot, 5);
  EXPECT_GT(constant, 5);
  EXPECT_GT(sorted, 5);
}

TEST(Sampler, RoundingHasNumbersBetweenTwoOfBfloat16AndSumsThatCancel) {
  const Module module = parse("HloModule m\nENTRY e { ROOT x = f32[4096] parameter(0) }");
  const Literal x = sampled(module, 0, Kind::Rounding)[0];
  int ties = 0, cancelling = 0;
  for (int64_t i = 0; i < 4096; ++i) {
    const auto bits = x.data<uint32_t>()[static_cast<size_t>(i)];
    ties += (bits & 0xffff) == 0x8000 ? 1 : 0;
    if (i % 4 == 1) cancelling += std::fabs(x.real_at(i) + x.real_at(i - 1)) <= 1e-6 * std::fabs(x.real_at(i)) ? 1 : 0;
  }
  EXPECT_GT(ties, 1000);
  EXPECT_GT(cancelling, 1000);
}

TEST(Sampler, SortedAndUniqueIndicesAreThat) {
  const Module module = parse(R"(
HloModule m
ENTRY e {
  table = f32[1000] parameter(0)
  indices = s32[64,1] parameter(1)
  ROOT rows = f32[64] gather(table, indices), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}, indices_are_sorted=true
})");
  const Literal indices = sampled(module, 0)[1];
  for (int64_t i = 1; i < 64; ++i) EXPECT_LE(indices.integer_at(i - 1), indices.integer_at(i));
}

TEST(Sampler, PackedIndicesAreInsideInEachField) {
  const Module module = parse(packed_gather(4096));
  for (const Kind kind : kinds) {
    const Literal words = sampled(module, 0, kind)[1];
    std::set<int64_t> first, second;
    for (int64_t i = 0; i < words.element_count(); ++i) {
      first.insert(words.integer_at(i) & 3);
      second.insert((words.integer_at(i) & 480) >> 5);
    }
    EXPECT_EQ(first, (std::set<int64_t>{0, 1, 2, 3})) << to_string(kind);
    EXPECT_EQ(second, (std::set<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9})) << to_string(kind);
  }
}

TEST(Sampler, FloatsAreFiniteDistinctAndOfBothSigns) {
  const Module module = parse("HloModule m\nENTRY e { ROOT x = f32[4096] parameter(0) }");
  const Literal x = sampled(module, 0)[0];
  std::set<double> seen;
  int negative = 0;
  for (int64_t i = 0; i < 4096; ++i) {
    const double value = x.real_at(i);
    ASSERT_TRUE(std::isfinite(value) && value != 0);
    negative += value < 0 ? 1 : 0;
    seen.insert(value);
  }
  EXPECT_GT(seen.size(), 4080U);
  EXPECT_GT(negative, 1800);
  EXPECT_LT(negative, 2300);
}

TEST(Sampler, EveryTypeIsSampledAndHugeParametersAreRefused) {
  for (int i = 1; i < 34; ++i) {
    const auto type = static_cast<hlo::ElementType>(i);
    if (!hlo::is_array_type(type)) continue;
    const Module module = parse(fmt::format("HloModule m\nENTRY e {{ ROOT x = {}[8] parameter(0) }}", to_string(type)));
    EXPECT_EQ(sampled(module, 0)[0].element_count(), 8);
  }
  const Module huge = parse("HloModule m\nENTRY e { ROOT x = f32[1000000,1000000] parameter(0) }");
  const auto refused = sample(huge, hlo::fingerprint(huge), 0);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().kind, ErrorKind::Resource);
}

}  // namespace
}  // namespace sapper::inputs
