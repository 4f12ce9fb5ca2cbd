// Wrong compilers can be made of any kind, and the judge sees them.
#include "tests/check/hlo_mutants.h"

#include <gtest/gtest.h>

#include <algorithm>

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
  one = s32[] constant(0)
  difference = f32[4,200] subtract(x, y)
  below = pred[4,200] compare(x, y), direction=LT
  chosen = f32[4,200] select(below, difference, x)
  narrow = bf16[4,200] convert(difference)
  wide = f32[4,200] convert(narrow)
  near = f32[4,200] floor(x)
  sums = f32[4] reduce(x, zero), dimensions={1}, to_apply=add
  part = f32[4,100] slice(x), slice={[0:4], [50:150]}
  window = f32[4,10] dynamic-slice(x, one, i), dynamic_slice_sizes={4,10}
  padded = f32[4,204] pad(x, zero), padding=0_0x2_2
  counts = s32[4,200] iota(), iota_dimension=1
  square = f32[4,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  columns = f32[4,4] broadcast(sums), dimensions={1}
  zeros = f32[4,200] broadcast(zero), dimensions={}
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

  std::vector<std::string_view> kinds;
  for (const HloMutant& mutant : mutants_of(*module, 8)) {
    kinds.push_back(mutant.kind);
    const auto got = eval::evaluate(mutant.module, *arguments);
    ASSERT_TRUE(got) << mutant.kind << " " << mutant.instruction;
    if (numerics::same_bits(*got, judge.reference())) continue;  // -0, ties
    const Verdict verdict = judge.judge(*got, Origin::Device).verdict;
    // Excess precision lets a rounding be left out; a term rounded to bf16 is within the bound of a sum of 200.
    const bool narrow = mutant.kind == "dropped convert" || mutant.kind == "narrowed terms";
    EXPECT_TRUE(verdict == Verdict::Mismatch || narrow)
        << mutant.kind << " " << mutant.instruction << " " << to_string(verdict);
  }
  for (const std::string_view kind : hlo_mutant_kinds())
    EXPECT_NE(std::ranges::find(kinds, kind), kinds.end()) << "none of kind " << kind;
}

}  // namespace
}  // namespace sapper::check
