// Wrong compilers can be made of any kind, and the judge sees them.
#include "tests/check/hlo_mutants.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "check/judge.h"
#include "hlo/fingerprint.h"
#include "hlo/text.h"
#include "hlo/verifier.h"
#include "inputs/sampler.h"

namespace sapper::check {
namespace {

constexpr const char* text = R"(
HloModule m
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
ENTRY e {
  x = f32[4,200] parameter(0)
  y = f32[4,200] parameter(1)
  i = s32[] parameter(2)
  zero = f32[] constant(0)
  start = s32[] constant(0)
  difference = f32[4,200] subtract(x, y)
  near = f32[4,200] floor(x)
  zeros = f32[4,200] broadcast(zero), dimensions={}
  below = pred[4,200] compare(near, zeros), direction=LT
  chosen = f32[4,200] select(below, difference, x)
  narrow = bf16[4,200] convert(difference)
  wide = f32[4,200] convert(narrow)
  sums = f32[4] reduce(x, zero), dimensions={1}, to_apply=add
  part = f32[4,100] slice(x), slice={[0:4], [50:150]}
  window = f32[4,10] dynamic-slice(x, start, i), dynamic_slice_sizes={4,10}
  padded = f32[4,204] pad(x, zero), padding=0_0x2_2
  counts = s32[4,200] iota(), iota_dimension=1
  square = f32[4,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  columns = f32[4,4] broadcast(sums), dimensions={1}
  positive = f32[4,200] maximum(difference, zeros)
  product = f32[4,200] multiply(x, y)
  ROOT r = (f32[4,200], f32[4,200], f32[4,200], f32[4], f32[4,100], f32[4,10], f32[4,204], s32[4,200], f32[4,4], f32[4,4], f32[4,200], f32[4,200], bf16[4,200])
    tuple(chosen, wide, near, sums, part, window, padded, counts, square, columns, positive, product, narrow)
}
)";

TEST(HloMutants, AreOfEveryKindAndSeen) {
  const auto module = hlo::parse_text(text);
  ASSERT_TRUE(module) << module.error().describe();
  const Status verified = hlo::verify(*module);
  ASSERT_TRUE(verified) << verified.error().describe();
  const auto arguments = inputs::sample(*module, hlo::fingerprint(*module), 0);
  ASSERT_TRUE(arguments);
  Judge judge(*module, *arguments, {}, std::nullopt, {});
  ASSERT_TRUE(judge.prepare());

  std::map<std::string_view, std::set<Verdict>> verdicts;
  for (const HloMutant& mutant : mutants_of(*module, 8)) {
    const auto got = eval::evaluate(mutant.module, *arguments);
    ASSERT_TRUE(got) << mutant.kind << " " << mutant.instruction;
    if (!numerics::same_bits(*got, judge.reference(), numerics::Alike::Zeros))
      verdicts[mutant.kind].insert(judge.judge(*got, Origin::Device).verdict);
  }
  for (const std::string_view kind : hlo_mutant_kinds()) {
    // Excess precision lets a rounding be left out; terms rounded to bf16 are within the bound of a sum of 200.
    const Verdict expected = kind == "dropped convert" ? Verdict::Policy : Verdict::Mismatch;
    EXPECT_TRUE(verdicts[kind].contains(expected)) << kind;
    EXPECT_TRUE(verdicts[kind].size() == 1 || kind == "narrowed terms") << kind;
  }
}

}  // namespace
}  // namespace sapper::check
