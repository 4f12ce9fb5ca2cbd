// Loads and stores against plain loops, and what they do with undefined data and wrong addresses.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/llo/kernel_case.h"

namespace sapper::llo::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kVreg = "s32[8,128]{1,0:T(8,128)}";
constexpr const char* kRows = "s32[64,128]{1,0:T(8,128)}";  // row r begins at its address + r
constexpr const char* kHead = R"($region0: #{k}
  %s0 = inlined_call_operand.vmem [shape: s32[64,128], index: 0, kind: input, shape index: {}]
  %s1 = inlined_call_operand.vmem [shape: s32[8,128], index: 1, kind: output, shape index: {}]
)";

// The value of row `row`, lane `lane` of counting().
int64_t at(int64_t row, int64_t lane) { return 1 + row * 128 + lane; }

KernelRun load(const std::string& instruction) {
  return run({.text = std::string(kHead) + "  %v2 = " + instruction +
                      "\n  %3 = vst [vmem:[%s1] sm:$0xff] /*vst_source=*/%v2\n",
              .operand_shapes = {kRows},
              .result_shape = kVreg});
}

RC_GTEST_PROP(MemoryOpcodes, StridedLoads, ()) {
  const auto stride = *rc::gen::inRange<int64_t>(-4, 5);
  const auto base = *rc::gen::inRange<int64_t>(28, 33);
  const auto mask = *rc::gen::inRange<unsigned>(0, 256);
  const KernelRun ran = load(fmt::format("vld [vmem:[%s0 + ${:#x}] ss:${} sm:${:#x}]", base, stride, mask));
  RC_ASSERT(ran.findings.empty());
  for (int64_t i = 0; i < 8; ++i) {
    const int64_t expected = (mask >> i & 1) != 0 ? at(base + i * stride, 5) : 0;
    RC_ASSERT(ran.output.integer_at(i * 128 + 5) == expected);
  }
}

TEST(MemoryOpcodes, ShuffledLoads) {
  const KernelRun ran = load("vld.sshfl [vmem:[%s0 + $0x8] sm:$0xff pattern:$0xf1032547]");
  const int64_t rows[] = {7, 4, 5, 2, 3, 0, 1, 15};
  for (int64_t i = 0; i < 8; ++i) EXPECT_EQ(ran.output.integer_at(i * 128), at(8 + rows[i], 0)) << i;
}

TEST(MemoryOpcodes, PairedLoads) {
  const KernelRun ran = load("vld.even.odd.slanes1 [vmem:[%s0 + $0x8] sm:$0xff]");
  for (int64_t i = 0; i < 8; ++i) EXPECT_EQ(ran.output.integer_at(i * 128), at(8 + i / 2, 0)) << i;
}

// Stores all lanes of 0..1023 as `instruction` says into rows 0..63 of a buffer that held counting().
KernelRun store(const std::string& instructions) {
  return run({.text = R"($region0: #{k}
  %s0 = inlined_call_operand.vmem [shape: s32[64,128], index: 0, kind: input, shape index: {}, may-alias: {0,1}]
  %s1 = inlined_call_operand.vmem [shape: s32[64,128], index: 1, kind: output, shape index: {}, may-alias: {0,1}]
  %v2 = vlaneseq.b32
)" + instructions,
              .operand_shapes = {kRows},
              .result_shape = kRows});
}

RC_GTEST_PROP(MemoryOpcodes, StridedStores, ()) {
  const auto stride = *rc::gen::inRange<int64_t>(1, 5);
  const auto base = *rc::gen::inRange<int64_t>(0, 33);
  const auto mask = *rc::gen::inRange<unsigned>(0, 256);
  const KernelRun ran =
      store(fmt::format("  %3 = vst [vmem:[%s1 + ${:#x}] ss:${} sm:${:#x}] %v2\n", base, stride, mask));
  RC_ASSERT(ran.findings.empty());
  for (int64_t row = 0; row < 64; ++row) {
    const int64_t sublane = (row - base) / stride;
    const bool stored = row >= base && (row - base) % stride == 0 && sublane < 8 && (mask >> sublane & 1) != 0;
    RC_ASSERT(ran.output.integer_at(row * 128 + 3) == (stored ? sublane * 128 + 3 : at(row, 3)));
  }
}

TEST(MemoryOpcodes, MaskedStoresLeaveTheOtherLanes) {
  const KernelRun ran = store(R"(  %v3 = vand.u32 127, %v2
  %vm4 = vcmp.lt.s32.totalorder %v3, 5
  %5 = vst.msk [vmem:[%s1] ss:$2 sm:$0x3] /*vm=*/%vm4, /*vst_source=*/%v2
)");
  EXPECT_EQ(ran.output.integer_at(0 * 128 + 4), 4);
  EXPECT_EQ(ran.output.integer_at(0 * 128 + 5), at(0, 5));
  EXPECT_EQ(ran.output.integer_at(1 * 128 + 4), at(1, 4));
  EXPECT_EQ(ran.output.integer_at(2 * 128 + 4), 128 + 4);
  EXPECT_EQ(ran.output.integer_at(4 * 128 + 4), at(4, 4));
}

TEST(MemoryOpcodes, PairedStoresPutEvenAndOddSublanesInOneRow) {
  const KernelRun ran = store(R"(  %v3 = vand.u32 128, %v2
  %vm4 = vcmp.eq.s32.totalorder %v3, 0
  %5 = vst.even.odd.slanes0 [vmem:[%s1]] /*vm=*/%vm4, /*vst_source=*/%v2
)");
  for (int64_t row = 0; row < 4; ++row) EXPECT_EQ(ran.output.integer_at(row * 128 + 7), 2 * row * 128 + 7);
  EXPECT_EQ(ran.output.integer_at(4 * 128 + 7), at(4, 7));
}

TEST(MemoryOpcodes, UndefinedLanesTravelThroughMemory) {
  const KernelRun ran = run({.text = R"($region0: #{k}
  #allocation0 [shape = 'u32[8,128]{0}', space=vmem, size = 0x1000, scoped, tag = 'room']
  %s1 = inlined_call_operand.vmem [shape: s32[8,128], index: 0, kind: output, shape index: {}]
  %v2 = vlaneseq.b32
  %vm3 = vcmp.lt.s32.totalorder %v2, 300
  %4 = vst.msk [vmem:[#allocation0] sm:$0xff] /*vm=*/%vm3, /*vst_source=*/%v2
  %v5 = vld [vmem:[#allocation0] sm:$0xff]
  %6 = vst [vmem:[%s1] sm:$0xff] /*vst_source=*/%v5
)",
                             .result_shape = kVreg});
  ASSERT_THAT(kinds(ran), ElementsAre(FindingKind::UndefinedOutput));
  EXPECT_THAT(ran.findings[0].message, HasSubstr("724 of 1024 elements"));
  EXPECT_THAT(ran.findings[0].message, HasSubstr("[2,44]"));
}

TEST(MemoryOpcodes, OutOfBoundsEndsTheRunAndSaysWhere) {
  const KernelRun ran = load("vld [vmem:[%s0 + $0x39] sm:$0xff]");
  ASSERT_FALSE(ran.findings.empty());
  EXPECT_EQ(ran.findings[0].kind, FindingKind::OutOfBounds);
  EXPECT_THAT(ran.findings[0].message, HasSubstr("operand 0"));
  EXPECT_THAT(load("vld [vmem:[%s0 + $0x39] sm:$0x7f]").findings, IsEmpty()) << "its last sublane is off";
}

TEST(MemoryOpcodes, UndefinedAddressesAreReported) {
  const KernelRun ran = run({.text = R"($region0: #{k}
  #allocation0 [shape = 'u32[8]{0}', space=smem, size = 0x20, scoped, tag = 'room']
  %s0 = inlined_call_operand.smem [shape: s32[8], index: 0, kind: output, shape index: {}]
  %s1 = sld [smem:[#allocation0]]
  %s2 = sadd.s32 %s1, %s0
  %3 = sst [smem:[%s2]] 5
)",
                             .result_shape = "s32[8]{0}"});
  ASSERT_FALSE(ran.findings.empty());
  EXPECT_EQ(ran.findings[0].kind, FindingKind::UndefinedControl);
}

// An index from the padding of a table names an element; nobody uses it.
TEST(MemoryOpcodes, WhatIsLoadedFromAnUndefinedAddressIsUndefined) {
  const KernelRun ran = run({.text = R"($region0: #{k}
  #allocation0 [shape = 'u32[8]{0}', space=smem, size = 0x20, scoped, tag = 'indices']
  #allocation1 [shape = 'u32[16,128]{1,0}', space=vmem, size = 0x2000, scoped, tag = 'table']
  %s1 = inlined_call_operand.vmem [shape: s32[8,128], index: 0, kind: output, shape index: {}]
  %v2 = vlaneseq.b32
  %3 = vst [vmem:[#allocation1] sm:$0xff] /*vst_source=*/%v2
  %4 = vst [vmem:[#allocation1 + $0x8] sm:$0xff] /*vst_source=*/%v2
  %s5 = sld [smem:[#allocation0]]
  %s6 = sand.u32 7, %s5
  %s7 = scalar_lea.vmem [#allocation1], %s6
  %v8 = vld [vmem:[%s7] ss:$0 sm:$0xff]
  %v9 = vld [vmem:[#allocation1] ss:$0 sm:$0xff]
  %vm10 = vcmp.lt.s32.totalorder %v2, 300
  %v11 = vsel /*vm=*/%vm10, /*on_true_vy=*/%v9, /*on_false_vx=*/%v8
  %12 = vst [vmem:[%s1] sm:$0xff] /*vst_source=*/%v11
)",
                             .result_shape = kVreg});
  ASSERT_THAT(kinds(ran), ElementsAre(FindingKind::UndefinedOutput));
  EXPECT_THAT(ran.findings[0].message, HasSubstr("724 of 1024 elements"));
}

// Scatters leave out updates beyond the last one by an empty sublane mask.
TEST(MemoryOpcodes, AStoreToNoSublaneNeedsNoAddress) {
  const KernelRun ran = run({.text = R"($region0: #{k}
  #allocation0 [shape = 'u32[8]{0}', space=smem, size = 0x20, scoped, tag = 'indices']
  %s1 = inlined_call_operand.vmem [shape: s32[8,128], index: 0, kind: output, shape index: {}]
  %v2 = vlaneseq.b32
  %3 = vst [vmem:[%s1] sm:$0xff] /*vst_source=*/%v2
  %s4 = sld [smem:[#allocation0]]
  %s5 = scalar_lea.vmem %s1, %s4
  %v6 = vstv %s4
  %vm7 = vcmp.eq.s32.totalorder %v6, %v2
  %8 = vst [vmem:[%s5] sm:$0x0] /*vst_source=*/%v6
  %9 = vst.msk [vmem:[%s5] sm:$0x0] /*vm=*/%vm7, /*vst_source=*/%v6
)",
                             .result_shape = kVreg});
  EXPECT_THAT(ran.findings, IsEmpty());
  EXPECT_EQ(ran.output.integer_at(1000), 1000);
}

TEST(MemoryOpcodes, CmemLoadsWaitInAQueue) {
  const KernelRun ran = run({.text = R"($region0: #{k}
  %s0 = inlined_call_operand.cmem [shape: s32[16,128], index: 0, kind: input, shape index: {}]
  %s1 = inlined_call_operand.cmem [shape: s32[16,128], index: 1, kind: output, shape index: {}]
  %2 = cld [cmem:[%s0] sm:$0xff]
  %3 = cld [cmem:[%s0 + $0x8] sm:$0xff]
  %v4 = vpop.crf %2
  %v5 = vpop.crf %3
  %6 = cst [cmem:[%s1] sm:$0xff] %v5
  %7 = cst [cmem:[%s1 + $0x8] sm:$0xff] %v4
)",
                             .operand_shapes = {"s32[16,128]{1,0:T(8,128)}"},
                             .result_shape = "s32[16,128]{1,0:T(8,128)}",
                             .generation = "v4"});
  EXPECT_THAT(ran.findings, IsEmpty());
  EXPECT_EQ(ran.output.integer_at(0), 1 + 1024);
  EXPECT_EQ(ran.output.integer_at(1024), 1);
}

}  // namespace
}  // namespace sapper::llo::testing
