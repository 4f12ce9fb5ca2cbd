// DMA against plain loops, in the units of every generation; races, deadlocks, flags.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/llo/kernel_case.h"

namespace sapper::llo::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kRows = "s32[64,128]{1,0:T(8,128)}";  // 32 KiB
constexpr int64_t kWords = int64_t{64} * 128;

// How DMA counts on a generation.
struct Units {
  const char* generation;
  int64_t granule_words;
  int64_t step_words;
  int64_t hbm_words;   // one step of a DMA's HBM address
  int64_t vmem_words;  // of its VMEM address
};
constexpr Units kUnits[] = {
    {"v2", 256, 256, 256, 128}, {"v4", 128, 128, 128, 128}, {"v5e", 8, 128, 8, 8}, {"v6e", 8, 128, 8, 8}};

// An HBM operand to the HBM result through VMEM; `in` and `out` move it, addresses %s2, %s3 (VMEM), %s4 are in DMA
// units.
std::string through_vmem(const Units& units, const std::string& in, const std::string& out) {
  const bool shifted = std::string_view(units.generation) == "v5e";
  const std::string hbm = shifted ? "sshll.u32 {}, 4" : "smov.u32 {}";
  const std::string vmem = units.vmem_words == 8 ? "sshll.u32 [#allocation0], 4" : "smov.u32 [#allocation0]";
  return fmt::format(R"($region0: #{{k}}
  #allocation0 [shape = 's32[64,128]{{1,0}}', space=vmem, size = 0x8000, scoped, tag = 'room']
  #allocation1 [shape = 's32[1]{{0}}', space=sflag, size = 0x4, scoped, tag = 'flag']
  #allocation2 [shape = 's32[8]{{0}}', space=smem, size = 0x20, scoped, tag = 'descriptor']
  %s0 = inlined_call_operand.hbm [shape: s32[64,128], index: 0, kind: input, shape index: {{}}]
  %s1 = inlined_call_operand.hbm [shape: s32[64,128], index: 1, kind: output, shape index: {{}}]
  %s2 = {}
  %s3 = {}
  %s4 = {}
{}{})",
                     fmt::format(fmt::runtime(hbm), "%s0"), vmem, fmt::format(fmt::runtime(hbm), "%s1"), in, out);
}

TEST(DmaOpcodes, WholeStretches) {
  for (const Units& units : kUnits) {
    const int64_t granules = kWords / units.granule_words;
    const KernelRun ran = run({.text = through_vmem(units,
                                                    fmt::format(R"(
  %5 = dma.hbm_to_vmem [thread:$0] /*hbm=*/%s2, /*size_in_granules=*/{0}, /*vmem=*/%s3, /*dst_syncflagno=*/[#allocation1]
  %6 = dma.done [#allocation1], {0}
)",
                                                                granules),
                                                    fmt::format(R"(
  %7 = dma.vmem_to_hbm /*vmem=*/%s3, /*size_in_granules=*/{0}, /*hbm=*/%s4, /*dst_syncflagno=*/[#allocation1]
  %8 = dma.done.wait [#allocation1], {0}
  %9 = vsyncadd [#allocation1], -{0}
)",
                                                                granules)),
                               .operand_shapes = {kRows},
                               .result_shape = kRows,
                               .generation = units.generation});
    EXPECT_THAT(ran.findings, IsEmpty()) << units.generation;
    EXPECT_EQ(ran.output, counting(shape_of(kRows))) << units.generation;
  }
}

// VMEM was filled whole; the strided move brings parts of it to the result, which keeps 0 elsewhere.
struct Strided {
  int64_t chunks, steps, source_stride, destination_stride;  // strides in granules
};

Strided any_strided(const Units& units) {
  const auto chunks = *rc::gen::inRange<int64_t>(1, 5);  // all within the buffer
  const auto steps = *rc::gen::inRange<int64_t>(1, 5);
  const int64_t granules = steps * units.step_words / units.granule_words;
  return {chunks, steps, granules * *rc::gen::inRange<int64_t>(0, 3), granules * *rc::gen::inRange<int64_t>(1, 3)};
}

std::vector<int64_t> expected_after(const Units& units, const Strided& move) {
  std::vector<int64_t> words(kWords, 0);
  for (int64_t chunk = 0; chunk < move.chunks; ++chunk) {
    for (int64_t i = 0; i < move.steps * units.step_words; ++i) {
      words[static_cast<size_t>(chunk * move.destination_stride * units.granule_words + i)] =
          1 + chunk * move.source_stride * units.granule_words + i;
    }
  }
  return words;
}

constexpr const char* kClearResult = R"(  %v20 = vmov 0
  %s21 = smov.u32 0
  $region1: #{k} parent=0 // loop_header
    %s22 = sphi 0, %s25
    %s23 = scalar_lea.vmem [#allocation3], %s22
    %24 = vst [vmem:[%s23] sm:$0xff] %v20
    %s25 = sadd.s32 %s22, 8
    %p26 = scmp.lt.s32.totalorder %s25, 64
    %27 = sbr.rel (%p26) target = $region1
)";

void expect_strided(const Units& units, const Strided& move, const std::string& transfer) {
  const int64_t all = kWords / units.granule_words;
  const std::string clear_address = units.vmem_words == 8 ? "sshll.u32 [#allocation3], 4" : "smov.u32 [#allocation3]";
  const KernelRun ran = run(
      {.text = through_vmem(units,
                            fmt::format(R"(
  #allocation3 [shape = 's32[64,128]{{1,0}}', space=vmem, size = 0x8000, scoped, tag = 'zeros']
  %5 = dma.hbm_to_vmem %s2, {0}, %s3, [#allocation1]
  %6 = dma.done [#allocation1], {0}
{1}
  %s30 = {2}
  %31 = dma.vmem_to_hbm %s30, {0}, %s4, [#allocation1]
  %32 = dma.done [#allocation1], {0}
)",
                                        all, kClearResult, clear_address),
                            transfer + fmt::format("  %90 = dma.done [#allocation1], {}\n",
                                                   move.chunks * move.steps * units.step_words / units.granule_words)),
       .operand_shapes = {kRows},
       .result_shape = kRows,
       .generation = units.generation});
  RC_ASSERT(ran.findings.empty());
  const std::vector<int64_t> expected = expected_after(units, move);
  for (int64_t i = 0; i < kWords; ++i) RC_ASSERT(ran.output.integer_at(i) == expected[static_cast<size_t>(i)]);
}

RC_GTEST_PROP(DmaOpcodes, Strides, ()) {
  const Units units = *rc::gen::elementOf(std::vector<Units>(std::begin(kUnits), std::end(kUnits)));
  const Strided move = any_strided(units);
  expect_strided(units, move,
                 fmt::format("  %40 = dma.vmem_to_hbm %s3, {}, %s4, [#allocation1], {}, {}, {}\n",
                             move.chunks * move.steps * units.step_words / units.granule_words, move.source_stride,
                             move.destination_stride, move.steps));
}

RC_GTEST_PROP(DmaOpcodes, DescribedByEightWords, ()) {
  const Units& units = kUnits[0];
  const Strided move = any_strided(units);
  expect_strided(units, move,
                 fmt::format(R"(
  %40 = sst [smem:[#allocation2]] %s4
  %41 = sst [smem:[#allocation2 + $0x1]] 512
  %42 = sst [smem:[#allocation2 + $0x2]] {}
  %43 = sst [smem:[#allocation2 + $0x3]] %s3
  %44 = sst [smem:[#allocation2 + $0x4]] 1024
  %45 = sst [smem:[#allocation2 + $0x5]] {}
  %46 = sst [smem:[#allocation2 + $0x6]] {}
  %s47 = sor.u32 [#allocation1], 7168
  %48 = sst [smem:[#allocation2 + $0x7]] %s47
  %49 = dma [#allocation2]
)",
                             move.destination_stride << 16 | move.steps, move.source_stride << 16 | move.steps,
                             20971520 | move.chunks * move.steps));
}

// `words` of a descriptor of their own, for one move of `granules` from VMEM, which holds 1, 2, ..., to the result.
KernelCase described(const std::vector<uint32_t>& words, int64_t granules) {
  const Units& units = kUnits[2];
  std::string out =
      fmt::format("  #allocation4 [shape = 'u32[{}]{{0}}', space=smem, size = {:#x}, scoped, tag = 'd']\n",
                  words.size(), words.size() * 4);
  for (size_t i = 0; i < words.size(); ++i)
    out += fmt::format("  %{} = sst [smem:[#allocation4 + {:#x}]] {}\n", 40 + i, i, words[i]);
  out += fmt::format(R"(
  %s60 = int_to_ptr.vmem %s3
  %s61 = int_to_ptr.hbm %s4
  %62 = dma.general /*src=*/%s60, /*size_in_granules=*/{0}, /*dst=*/%s61, [#allocation1], 131072, [#allocation4], 0, 0
  %63 = dma.done [#allocation1], {0}
)",
                     granules);
  return {.text = through_vmem(units, R"(
  %5 = dma.hbm_to_vmem %s2, 1024, %s3, [#allocation1]
  %6 = dma.done [#allocation1], 1024
)",
                               out),
          .operand_shapes = {kRows},
          .result_shape = kRows};
}

TEST(DmaOpcodes, TwoStridesByADescriptor) {
  // Chunks of one row: two inner ones next to each other, four outer ones eight rows apart, packed at the destination.
  const KernelRun ran = run(described({128, 32, 2, 16, 16, 1}, 128));
  for (int64_t row = 0; row < 8; ++row) EXPECT_EQ(ran.output.integer_at(row * 128), 1 + (row / 2 * 8 + row % 2) * 128);
  EXPECT_THAT(kinds(ran), ElementsAre(FindingKind::UndefinedOutput)) << "the rest of the result";
}

TEST(DmaOpcodes, ThreeStridesByADescriptor) {
  // Two rows a chunk; two of them four rows apart, three of those pairs eight rows apart, two of all that 32 apart.
  const KernelRun ran = run(described({512, 192, 3, 128, 64, 2, 64, 32, 2}, 384));
  for (int64_t row = 0; row < 24; ++row)
    EXPECT_EQ(ran.output.integer_at(row * 128),
              1 + (row / 12 * 32 + row / 4 % 3 * 8 + row / 2 % 2 * 4 + row % 2) * 128);
  EXPECT_THAT(kinds(ran), ElementsAre(FindingKind::UndefinedOutput)) << "the rest of the result";
}

TEST(DmaOpcodes, ADescriptorIsWholeLoops) { EXPECT_FALSE(try_run(described({128, 32, 2, 16}, 128))); }

// A row group of a table, moved from where entry `index` of five indices says; what is behind the five is padding.
KernelRun run_gather(int index, const std::string& bounds, const std::string& used = "%v12") {
  return run({.text = fmt::format(R"($region0: #{{k}}
  #allocation0 [shape = 's32[256]{{0}}', space=smem, size = 0x400, scoped, tag = 'indices']
  #allocation1 [shape = 's32[1]{{0}}', space=sflag, size = 0x4, scoped, tag = 'flag']
  #allocation2 [shape = 's32[8,128]{{1,0}}', space=vmem, size = 0x1000, scoped, tag = 'window']
  %s0 = inlined_call_operand.hbm [shape: s32[5], index: 0, kind: input, shape index: {{}}]
  %s1 = inlined_call_operand.hbm [shape: s32[64,128], index: 1, kind: input, shape index: {{}}]
  %s2 = inlined_call_operand.vmem [shape: s32[8,128], index: 2, kind: output, shape index: {{}}]
  %3 = dma.hbm_to_smem %s0, 1, [#allocation0], [#allocation1]
  %4 = dma.done [#allocation1], 1
  %s5 = sld [smem:[#allocation0 + ${:#x}]]
  {}
  %s8 = smul.addr %s7, 4
  %s9 = scalar_lea.hbm %s1, %s8
  %10 = dma.hbm_to_vmem %s9, 4, [#allocation2], [#allocation1]
  %11 = dma.done [#allocation1], 4
  %v12 = vld [vmem:[#allocation2] sm:$0xff]
  %v13 = vlaneseq.b32
  %14 = vst [vmem:[%s2] sm:$0xff] {}
)",
                                  index, bounds, used),
              .operand_shapes = {"s32[5]{0:T(256)}", "s32[64,128]{1,0:T(8,128)}"},
              .result_shape = "s32[8,128]{1,0:T(8,128)}",
              .generation = "v2"});
}
constexpr const char* kClamped = "%s7 = smin.u32 %s5, 7";

TEST(DmaOpcodes, WhatComesFromAnUndefinedAddressIsUndefined) {
  const KernelRun last = run_gather(4, kClamped);
  EXPECT_THAT(last.findings, IsEmpty());
  EXPECT_EQ(last.output.integer_at(0), 5 * 1024 + 1);
  EXPECT_THAT(kinds(run_gather(5, kClamped)), ElementsAre(FindingKind::UndefinedOutput)) << "what is used";
  EXPECT_THAT(run_gather(5, kClamped, "%v13").findings, IsEmpty()) << "nobody uses it";
}

TEST(DmaOpcodes, AnUndefinedAddressWithoutBoundsIsReported) {
  const KernelRun ran = run_gather(5, "%s7 = smov.u32 %s5", "%v13");
  ASSERT_THAT(kinds(ran), ElementsAre(FindingKind::UndefinedControl));
  EXPECT_THAT(ran.findings[0].message, HasSubstr("out of bounds"));
}

// --- what goes wrong
KernelRun run_v5e(const std::string& in, const std::string& out) {
  return run({.text = through_vmem(kUnits[2], in, out), .operand_shapes = {kRows}, .result_shape = kRows});
}
constexpr const char* kIn = "  %5 = dma.hbm_to_vmem %s2, 1024, %s3, [#allocation1]\n";
constexpr const char* kInDone = "  %6 = dma.done [#allocation1], 1024\n";
constexpr const char* kOut = "  %7 = dma.vmem_to_hbm %s3, 1024, %s4, [#allocation1]\n";
constexpr const char* kOutDone = "  %8 = dma.done [#allocation1], 1024\n";

TEST(DmaOpcodes, ReadingBeforeTheWaitIsARace) {
  const KernelRun ran = run_v5e(std::string(kIn) + "  %v9 = vld [vmem:[#allocation0] sm:$0xff]\n" + kInDone,
                                std::string(kOut) + kOutDone);
  ASSERT_THAT(kinds(ran), ElementsAre(FindingKind::Race));
  EXPECT_THAT(ran.findings[0].message, HasSubstr("reads vmem"));
}

TEST(DmaOpcodes, OverwritingTheSourceBeforeTheWaitIsARace) {
  const KernelRun ran =
      run_v5e(std::string(kIn) + kInDone,
              std::string(kOut) + "  %v9 = vlaneseq.b32\n  %10 = vst [vmem:[#allocation0] sm:$0xff] %v9\n" + kOutDone);
  EXPECT_THAT(kinds(ran), ElementsAre(FindingKind::Race));
  const KernelRun reading = run_v5e(std::string(kIn) + kInDone,
                                    std::string(kOut) + "  %v9 = vld [vmem:[#allocation0] sm:$0xff]\n" + kOutDone);
  EXPECT_THAT(reading.findings, IsEmpty()) << "both only read";
}

// A loop that writes the whole result in each of its two iterations, and waits for both behind it.
TEST(DmaOpcodes, OneInstructionsWritesComeInTheirOrder) {
  const std::string again(R"(
  $region1: parent=0 // loop_pre_header
    _
  $region2: parent=0 // loop_header
    %s20 = sphi 0, %s24
    %p21 = scmp.ge.s32.totalorder %s20, 2
  $region3: parent=0 // loop_header_branch
    %22 = sbr.rel (%p21) target = $region6
  $region4: parent=0 // loop_body
    %7 = dma.vmem_to_hbm %s3, 1024, %s4, [#allocation1]
    %s24 = sadd.s32 %s20, 1
  $region5: parent=0 // loop_footer_branch
    %25 = sbr.rel target = $region2
  $region6: parent=0 // loop_exit
    _
)");
  const std::string waits = "  %8 = dma.done [#allocation1], 1024\n  %9 = dma.done [#allocation1], 1024\n";
  EXPECT_THAT(run_v5e(std::string(kIn) + kInDone, again + waits).findings, IsEmpty());
  const std::string other = "  %6 = dma.vmem_to_hbm %s3, 1024, %s4, [#allocation1]\n";
  EXPECT_THAT(kinds(run_v5e(std::string(kIn) + kInDone, other + kOut + waits)), ElementsAre(FindingKind::Race));
}

TEST(DmaOpcodes, AMissingWaitIsFound) {
  const KernelRun ran = run_v5e(std::string(kIn) + kInDone, kOut);
  EXPECT_THAT(kinds(ran), ElementsAre(FindingKind::UnbalancedSync, FindingKind::UnbalancedSync));
  const KernelRun early = run_v5e(kIn, std::string(kOut) + kInDone + kOutDone);
  EXPECT_THAT(kinds(early), ElementsAre(FindingKind::Race)) << "the way out reads what the way in writes";
}

TEST(DmaOpcodes, AWaitForMoreThanThereIsIsADeadlock) {
  const KernelRun ran = run_v5e(std::string(kIn) + "  %6 = dma.done [#allocation1], 1025\n", kOut);
  ASSERT_FALSE(ran.findings.empty());
  EXPECT_EQ(ran.findings[0].kind, FindingKind::Deadlock);
  EXPECT_THAT(ran.findings[0].message, HasSubstr("1025"));
}

TEST(DmaOpcodes, ManualCountsStandForDmas) {
  const KernelRun ran =
      run_v5e(std::string(kIn) + "  %9 = vsyncadd [#allocation1], 10\n" + "  %6 = dma.done [#allocation1], 1034\n",
              std::string(kOut) + kOutDone);
  EXPECT_THAT(ran.findings, IsEmpty());
}

TEST(DmaOpcodes, UndefinedDataTravelsAlong) {
  const KernelRun ran = run_v5e("", std::string(kOut) + kOutDone);
  ASSERT_THAT(kinds(ran), ElementsAre(FindingKind::UndefinedOutput));
  EXPECT_THAT(ran.findings[0].message, HasSubstr("8192 of 8192"));
}

TEST(DmaOpcodes, MovingIntoARowIsMisaligned) {
  const std::string inside = "  %s9 = sadd.s32 %s3, 8\n  %5 = dma.hbm_to_vmem %s2, 16, %s9, [#allocation1]\n";
  const KernelRun into = run_v5e(std::string(kIn) + kInDone + inside + "  %6 = dma.done [#allocation1], 16\n",
                                 std::string(kOut) + kOutDone);
  ASSERT_THAT(kinds(into), ElementsAre(FindingKind::Misaligned));
  EXPECT_THAT(into.findings[0].message, HasSubstr("writes vmem"));
  const KernelRun strided =
      run_v5e(std::string(kIn) + kInDone, std::string(kOut) + kOutDone +
                                              "  %7 = dma.vmem_to_hbm %s3, 32, %s4, [#allocation1], 24, 16, 1\n" +
                                              "  %8 = dma.done [#allocation1], 32\n");
  ASSERT_THAT(kinds(strided), ElementsAre(FindingKind::Misaligned));
  EXPECT_THAT(strided.findings[0].message, HasSubstr("reads vmem"));
}

TEST(DmaOpcodes, BoundsAreThoseOfThePiece) {
  const KernelRun ran = run_v5e("  %5 = dma.hbm_to_vmem %s2, 1025, %s3, [#allocation1]\n", "");
  ASSERT_FALSE(ran.findings.empty());
  EXPECT_EQ(ran.findings[0].kind, FindingKind::OutOfBounds);
}

}  // namespace
}  // namespace sapper::llo::testing
