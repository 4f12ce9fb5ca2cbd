// Invariants of stages: each one broken on purpose, and kept.
#include "llo/invariants.h"

#include <gtest/gtest.h>

#include "llo/text.h"

namespace sapper::llo {
namespace {

// "invariant line: message", one a line.
std::string violations(const std::string& text, const char* generation = "v5e") {
  const auto program = parse_program(text, "k.txt");
  EXPECT_TRUE(program) << (program ? "" : program.error().describe());
  std::string all;
  for (const Violation& v : check_invariants(*program, *generation_of(generation))) {
    all += fmt::format("{} {}: {}\n", to_string(v.invariant), v.line, v.message);
  }
  return all;
}

TEST(LloInvariants, AValueIsDefinedOnce) {
  EXPECT_EQ(violations("%s1 = smov.u32 1\n%v1 = vmov 1\n%1 = vnop\n"), "");
  EXPECT_EQ(violations("%s1 = smov.u32 1\n%s1 = smov.u32 2\n"), "defined-once 2: %s1 is defined in line 1 too\n");
}

TEST(LloInvariants, AValueIsDefinedAboveItsUses) {
  EXPECT_EQ(violations("%s1 = sphi 0, %s2\n%s2 = sadd.s32 %s1, 1\n"), "");
  EXPECT_EQ(violations("%s2 = sadd.s32 %s1, 1\n%s1 = smov.u32 1\n"),
            "defined-before-use 1: %s1 is used but defined below only\n");
  EXPECT_EQ(violations("$region0:\n%s1 = sphi 0, %s2\n"), "defined-before-use 2: %s2 is used but defined nowhere\n");
  EXPECT_EQ(violations("$region0:\n%v1 = vld [vmem:[%s2] sm:%s3] (%p4)\n"),
            "defined-before-use 2: %s2 is used but defined nowhere\n"
            "defined-before-use 2: %s3 is used but defined nowhere\n"
            "defined-before-use 2: %p4 is used but defined nowhere\n");
}

TEST(LloInvariants, MasksMovedOntoThemselvesFillSlots) {
  EXPECT_EQ(violations("$region0:\n%vm2_vm1 = vmmov %vm1_vm1\n"), "");
  EXPECT_EQ(violations("$region0:\n%vm2_vm1 = vmmov %vm1_vm2\n"),
            "defined-before-use 2: %vm1_vm2 is used but defined nowhere\n");
}

TEST(LloInvariants, FragmentsMayUseWhatIsDefinedElsewhere) { EXPECT_EQ(violations("%s1 = sadd.s32 %s2, 1\n"), ""); }

TEST(LloInvariants, ReadsOfABundleComeBeforeItsWrites) {
  EXPECT_EQ(violations(" 0 : { %s1 = smov.u32 1 }\n 0x1 : { %s2 = sadd.s32 %s1, 1 }\n"), "");
  EXPECT_EQ(violations(" 0 : { %s1 = smov.u32 1 ;; %s2 = sadd.s32 %s1, 1 }\n"),
            "defined-before-use 1: %s1 is used but defined below only\n");
  EXPECT_EQ(violations(" 0 : { %s1 = smov.u32 1 ;; %s2 = int_to_ptr.vmem %s1 }\n"), "");
}

TEST(LloInvariants, BranchesGoToRegions) {
  EXPECT_EQ(violations("$region0:\n  %1 = sbr.rel target = $region0\n"), "");
  EXPECT_EQ(violations("$region0:\n  %1 = sbr.rel target = $region3\n"), "branch-target 2: there is no region 3\n");
}

std::string allocation(int number, int offset, int size, const char* more = "scoped, ") {
  return fmt::format("#allocation{} [shape = 'u8[1]', space=vmem, size = {}, offset = {}, {}tag = 't']\n", number, size,
                     offset, more);
}

TEST(LloInvariants, AllocationsThatLiveTogetherShareNothing) {
  EXPECT_EQ(violations("$region0:\n  " + allocation(1, 0, 8) + "  " + allocation(2, 8, 8)), "");
  EXPECT_EQ(violations("$region0:\n  " + allocation(1, 0, 9) + "  " + allocation(2, 8, 8)),
            "allocation-overlap 3: #allocation2 and #allocation1 (line 2) share memory\n");
  EXPECT_EQ(violations("$region0:\n  " + allocation(1, 8, 8) + "  " + allocation(2, 0, 9)),
            "allocation-overlap 3: #allocation2 and #allocation1 (line 2) share memory\n");
  EXPECT_EQ(violations("$region0:\n  " + allocation(1, 0, 9, "fixed_abs, ") + "  " + allocation(2, 8, 8)), "");
}

TEST(LloInvariants, RegionsSideBySideShareMemory) {
  const std::string inner = "  $region1: parent=0\n    " + allocation(1, 0, 8);
  EXPECT_EQ(violations("$region0:\n" + inner + "  $region2: parent=0\n    " + allocation(2, 4, 8)), "");
  EXPECT_EQ(violations("$region0:\n" + inner + "    $region2: parent=1\n      " + allocation(2, 4, 8)),
            "allocation-overlap 5: #allocation2 and #allocation1 (line 3) share memory\n");
}

TEST(LloInvariants, DmasStayInsideTheirAllocations) {
  const std::string start = "$region0:\n  " + allocation(1, 0, 2048) +
                            "  #allocation2 [shape = 's32[]', space=sflag, size = 4, offset = 0, tag = 'f']\n"
                            "  %s0 = inlined_call_operand.hbm [index: 0]\n";
  const auto move = [&](const std::string& to, int granules) {
    return violations(start + fmt::format("  %s1 = scalar_lea.vmem [#allocation1], 2\n"
                                          "  %2 = dma.hbm_to_vmem %s0, {}, {}, [#allocation2]\n"
                                          "  %3 = dma.done [#allocation2], {}\n",
                                          granules, to, granules));
  };
  EXPECT_EQ(move("[#allocation1]", 64), "");
  EXPECT_EQ(move("%s1", 32), "");
  EXPECT_EQ(move("%s1", 33), "dma-bounds 6: moves bytes 1024 to 2080 of #allocation1, which has 2048\n");
  EXPECT_EQ(move("[#allocation1 + $0x3]", 17),
            "dma-bounds 6: moves bytes 1536 to 2080 of #allocation1, which has 2048\n");
}

TEST(LloInvariants, WhatIsPutOnAFlagIsTakenFromIt) {
  const std::string start =
      "%s0 = inlined_call_operand.hbm [index: 0]\n%1 = dma.hbm_to_vmem %s0, 16, [#allocation1], [#allocation2]\n";
  EXPECT_EQ(violations(start + "%2 = dma.done [#allocation2], 16\n"), "");
  EXPECT_EQ(violations(start + "%2 = dma.done.wait [#allocation2], 16\n%3 = vsyncadd [#allocation2], 4294967280\n"),
            "");
  EXPECT_EQ(violations(start), "sync-balance 2: #allocation2 is left with 16 granules\n");
  EXPECT_EQ(violations(start + "%2 = dma.done [#allocation2], 17\n"),
            "sync-balance 3: #allocation2 is left with -1 granules\n");
}

TEST(LloInvariants, ABundleHasSlots) {
  const std::string two = " 0 : { %v1_v1 = vld [vmem:[#allocation0]] ;; %v2_v2 = vld [vmem:[#allocation0]] }\n";
  EXPECT_EQ(violations(two, "v5e"), "");
  EXPECT_EQ(violations(two, "v2"),
            "bundle-slots 1: the bundle has 2 instructions of the load unit; v2 has slots for 1\n");
  // Two transposes at once on v4.
  const auto push = [](int first, int second) {
    return fmt::format("%{} = vxpose.xlu0.b32.cont %v1_v1 ;; %{} = vxpose.xlu1.b32.cont %v1_v1", first, second);
  };
  const std::string start = " 0 : { %v1_v1 = vmov 0 }\n 0x1 : { " + push(1, 2) + " }\n 0x2 : { " + push(3, 4) +
                            " ;; %v2_v2 = vpop.trf.xlu0 %1 ;; %v3_v3 = vpop.trf.xlu1 %2";
  EXPECT_EQ(violations(start + " }\n", "v4"), "");
  EXPECT_EQ(violations(start + " ;; %5 = vrot.lane.b32.xlu0 %v1_v1, 1 }\n", "v4"),
            "bundle-slots 3: the bundle has 5 instructions of the cross-lane unit; v4 has slots for 4\n");
}

TEST(LloInvariants, PhysicalRegistersAreOfTheirFile) {
  EXPECT_EQ(violations("%v1_v63 = vmov 0\n%s2_s31 = smov.u32 0\n"), "");
  EXPECT_EQ(violations("%v1_v64 = vmov 0\n"), "register-file 1: %v1_v64: v5e has 64 such registers\n");
  EXPECT_EQ(violations("%v1_v32 = vmov 0\n", "v4"), "register-file 1: %v1_v32: v4 has 32 such registers\n");
  EXPECT_EQ(violations("%p1_p16 = pneg 0\n"), "register-file 1: %p1_p16: v5e has 16 such registers\n");
}

}  // namespace
}  // namespace sapper::llo
