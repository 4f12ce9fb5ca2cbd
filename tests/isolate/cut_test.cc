// What pieces there are, and that each computes what its source did.
#include "isolate/cut.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "hlo/proto.h"
#include "isolate/provenance.h"
#include "tests/isolate/testing.h"

namespace sapper::isolate {
namespace {

// A loop inside a call, whose body calls and branches and adds in a way found nowhere else.
constexpr std::string_view nested = R"(HloModule nested

sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }

fused {
  x = f32[8] parameter(0)
  y = f32[8] parameter(1)
  m = f32[8] multiply(x, y)
  e = f32[8] exponential(m)
  ROOT t = (f32[8], f32[8]) tuple(m, e)
}

branch_up { p = (f32[8], f32[8]) parameter(0) a = f32[8] get-tuple-element(p), index=0 b = f32[8] get-tuple-element(p), index=1 ROOT r = f32[8] maximum(a, b) }
branch_down { p = f32[8] parameter(0) ROOT r = f32[8] negate(p) }

scale { p = f32[8] parameter(0) c = f32[] constant(0.5) b = f32[8] broadcast(c), dimensions={} ROOT r = f32[8] multiply(p, b) }

body {
  state = (s32[], f32[8], (f32[8], f32[8])) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  v = f32[8] get-tuple-element(state), index=1
  pair = (f32[8], f32[8]) get-tuple-element(state), index=2
  w = f32[8] get-tuple-element(pair), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  half = f32[8] call(v), to_apply=scale
  f = (f32[8], f32[8]) fusion(half, w), kind=kLoop, calls=fused
  m = f32[8] get-tuple-element(f), index=0
  e = f32[8] get-tuple-element(f), index=1
  two = s32[] constant(2)
  odd = s32[] remainder(i, two)
  is_odd = pred[] compare(odd, one), direction=EQ
  both = (f32[8], f32[8]) tuple(m, e)
  c = f32[8] conditional(is_odd, both, v), true_computation=branch_up, false_computation=branch_down
  hidden = f32[8] add(c, v)
  swapped = (f32[8], f32[8]) tuple(e, hidden)
  ROOT out = (s32[], f32[8], (f32[8], f32[8])) tuple(next, hidden, swapped)
}

condition {
  state = (s32[], f32[8], (f32[8], f32[8])) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  n = s32[] constant(4)
  ROOT less = pred[] compare(i, n), direction=LT
}

inner {
  x = f32[8] parameter(0)
  y = f32[8] parameter(1)
  zero = s32[] constant(0)
  pair = (f32[8], f32[8]) tuple(y, x)
  state = (s32[], f32[8], (f32[8], f32[8])) tuple(zero, x, pair)
  w = (s32[], f32[8], (f32[8], f32[8])) while(state), condition=condition, body=body
  ROOT v = f32[8] get-tuple-element(w), index=1
}

ENTRY main {
  a = f32[8] parameter(0)
  b = f32[8] parameter(1)
  r = f32[8] call(a, b), to_apply=inner
  z = f32[] constant(0)
  q = f32[8] subtract(r, b)
  s = f32[] reduce(q, z), dimensions={0}, to_apply=sum
  t = f32[] sqrt(s)
  k = f32[8] broadcast(t), dimensions={}
  ROOT out = (f32[8], f32[], f32[8]) tuple(k, t, r)
}
)";

TEST(Cut, PiecesComputeWhatTheirSourceDid) {
  const hlo::Module module = parse(nested);
  EXPECT_GE(expect_same_values(module, {.granularity = Granularity::Op}), 14);
  EXPECT_GE(expect_same_values(module, {.granularity = Granularity::Fusion}), 12);
  EXPECT_GE(expect_same_values(module, {.granularity = Granularity::Region}), 8);
  EXPECT_GE(expect_same_values(module, {.granularity = Granularity::Computation}), 1);
  // Cut smaller, so that the loop and the call are pieces of their own.
  // As small as to make pieces of the conditional, the call and the loop.
  for (const int64_t largest : {8, 16, 32}) {
    const CutOptions options{.granularity = Granularity::Computation, .largest_computation = largest};
    EXPECT_GE(expect_same_values(module, options), 4);
  }
}

TEST(Cut, PiecesOfExamplesComputeWhatTheirSourceDid) {
  for (const auto& file : std::filesystem::directory_iterator(SAPPER_SOURCE_DIR "/examples")) {
    if (file.path().extension() != ".hlo") continue;
    SCOPED_TRACE(file.path().string());
    const auto example = hlo::read_module(file.path().string());
    ASSERT_TRUE(example);
    for (const Granularity granularity : every_granularity)
      EXPECT_GE(expect_same_values(*example, {.granularity = granularity}), 1);
  }
}

TEST(Cut, ReachesAnAddInALoopInACall) {
  for (const Granularity granularity : {Granularity::Op, Granularity::Fusion, Granularity::Region}) {
    const hlo::Module module = parse(nested);
    const Cut pieces = cut(module, {.granularity = granularity});
    const auto is_hidden = [&](const Piece& piece) {
      return std::ranges::any_of(piece.occurrences, [&](const Occurrence& occurrence) {
        return provenance(module, occurrence).instruction == "hidden" &&
               provenance(module, occurrence).computation == "body";
      });
    };
    EXPECT_TRUE(std::ranges::any_of(pieces.pieces, is_hidden)) << to_string(granularity);
  }
}

// Names of the instructions of each piece, by region; parameters and what is copied aside.
std::vector<std::string> regions_of(std::string_view instructions, int64_t largest = 64) {
  const hlo::Module module =
      parse(fmt::format("HloModule m sum {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }} "
                        "ENTRY e {{ p = f32[4,4] parameter(0) q = f32[4,4] parameter(1) {} }}",
                        instructions));
  std::vector<std::string> all;
  for (const Piece& piece : cut(module, {.granularity = Granularity::Region, .largest_region = largest}).pieces) {
    std::vector<std::string> names;
    for (const hlo::Instruction& instruction : piece.module.entry_computation().instructions)
      if (instruction.opcode != hlo::Opcode::Parameter && instruction.opcode != hlo::Opcode::Tuple)
        names.push_back(instruction.name);
    std::ranges::sort(names);
    all.push_back(fmt::format("{}", fmt::join(names, " ")));
  }
  std::ranges::sort(all);
  return all;
}

constexpr std::string_view dot_of = "dot({}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}";

TEST(Regions, HeavyOperationsTakeInWhatOnlyTheyNeedAndWhatGoesOnAlone) {
  EXPECT_THAT(
      regions_of(fmt::format("n = f32[4,4] negate(p) d = f32[4,4] {} c = f32[] constant(0) b = f32[4,4] broadcast(c), "
                             "dimensions={{}} ROOT r = f32[4,4] maximum(d, b)",
                             fmt::format(dot_of, "n, q"))),
      testing::ElementsAre("b c d n r"));
  // Used twice: the product is a result, and what comes after it a region of its own.
  EXPECT_THAT(
      regions_of(fmt::format("d = f32[4,4] {} t = f32[4,4] tanh(d) u = f32[4,4] negate(d) ROOT r = f32[4,4] add(t, u)",
                             fmt::format(dot_of, "p, q"))),
      testing::ElementsAre("d", "r t u"));
  // Needed by two heavy operations: in neither.
  EXPECT_THAT(regions_of(fmt::format(
                  "n = f32[4,4] negate(p) d = f32[4,4] {} e = f32[4,4] {} ROOT r = (f32[4,4], f32[4,4]) tuple(d, e)",
                  fmt::format(dot_of, "n, q"), fmt::format(dot_of, "n, n"))),
              testing::ElementsAre("d", "e", "n"));
}

TEST(Regions, AreNoLargerThanSaid) {
  EXPECT_THAT(
      regions_of("a = f32[4,4] negate(p) b = f32[4,4] tanh(a) c = f32[4,4] abs(b) ROOT d = f32[4,4] sine(c)", 3),
      testing::ElementsAre("a", "b c d"));
}

TEST(Regions, GoOnThroughElementsOfTuples) {
  EXPECT_THAT(
      regions_of("z = f32[] constant(0) s = (f32[4,4], f32[4,4]) sort(p, q), dimensions={1}, to_apply=less "
                 "k = f32[4,4] get-tuple-element(s), index=0 v = f32[4,4] get-tuple-element(s), index=1 "
                 "n = f32[4,4] negate(v) ROOT r = (f32[4,4], f32[4,4]) tuple(k, n) } "
                 "less { a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] parameter(2) d = f32[] parameter(3) "
                 "ROOT l = pred[] compare(a, b), direction=LT"),
      testing::ElementsAre("get-tuple-element get-tuple-element.1 n s"));
}

TEST(Cut, AccountsForEveryInstruction) {
  const hlo::Module module = parse(nested);
  for (const Granularity granularity : every_granularity) {
    const Coverage coverage = cut(module, {.granularity = granularity}).coverage;
    EXPECT_EQ(coverage.instructions, module.instruction_count());
    EXPECT_EQ(covered(coverage), coverage.instructions) << to_string(granularity);
    EXPECT_THAT(coverage.skipped, testing::IsEmpty());
    EXPECT_EQ(coverage.unreached, 0);
  }
}

}  // namespace
}  // namespace sapper::isolate
