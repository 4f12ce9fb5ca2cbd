// Two cores of a chip on one kernel.
#include <fmt/format.h>

#include "tests/llo/kernel_case.h"

namespace sapper::llo::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// %v5 is 1000 on core 0, 1001 on core 1.
constexpr const char* kHead = R"($region0: #{k}
  #allocation0 [shape = 'u32[]', space=smem, size = 0x4, offset = 0x4, fixed_abs, tag = 'smem constant byte address 0x4 - core index']
  #allocation1 [shape = 's32[1]{0}', space=sflag, size = 0x4, scoped, tag = 'flag']
  #allocation2 [shape = 's32[8,128]{1,0}', space=vmem, size = 0x1000, scoped, tag = 'room']
  %s0 = inlined_call_operand.hbm [shape: s32[16,128], index: 0, kind: input, shape index: {}]
  %s1 = inlined_call_operand.hbm [shape: s32[16,128], index: 1, kind: output, shape index: {}]
  %s2 = sld [smem:[#allocation0]] /* core id */
  %s3 = sadd.s32 1000, %s2
  %v5 = vstv %s3
  %s6 = smul.addr %s2, 128
  %s7 = scalar_lea.hbm %s1, %s6
  %s8 = sshll.u32 [#allocation2], 4
)";
constexpr const char* kWriteHalf = R"(
  %90 = dma.vmem_to_hbm %s8, 128, %s7, [#allocation1]
  %91 = dma.done [#allocation1], 128
)";

KernelRun run_on_both(const std::string& instructions) {
  return run({.text = kHead + instructions + kWriteHalf,
              .operand_shapes = {"s32[16,128]{1,0:T(8,128)}"},
              .result_shape = "s32[16,128]{1,0:T(8,128)}",
              .generation = "v5p"});
}

TEST(TwoCores, EachWritesItsHalfOfHbm) {
  const KernelRun ran = run_on_both("  %9 = vst [vmem:[#allocation2] sm:$0xff] %v5\n");
  EXPECT_THAT(ran.findings, IsEmpty());
  EXPECT_EQ(ran.output.integer_at(0), 1000);
  EXPECT_EQ(ran.output.integer_at(1024), 1001);
}

TEST(TwoCores, SendEachOtherRegisters) {
  const KernelRun ran = run_on_both(R"(  %9 = vpush.ccrf %v5
  %v10 = vpop.ccrf
  %v11 = vadd.s32 %v10, 5
  %12 = vpush.ccrf %v11
  %v13 = vpop.ccrf
  %14 = vst [vmem:[#allocation2] sm:$0xff] %v13
)");
  EXPECT_THAT(ran.findings, IsEmpty());
  EXPECT_EQ(ran.output.integer_at(0), 1005) << "what core 0 sent, plus 5, came back";
  EXPECT_EQ(ran.output.integer_at(1024), 1006);
}

TEST(TwoCores, OneDmaReachesBoth) {
  const KernelRun ran = run_on_both(R"(  %p9 = scmp.eq.s32.totalorder %s2, 0
  %s10 = sor.u32 [#allocation1], 24576
  %s11 = sshll.u32 %s10, 16
  %s12 = sor.u32 [#allocation1], %s11
  %13 = dma.hbm_to_vmem (%p9), %s0, 128, %s8, %s12
  %14 = dma.done [#allocation1], 128
)");
  EXPECT_THAT(ran.findings, IsEmpty());
  EXPECT_EQ(ran.output.integer_at(7), 8);
  EXPECT_EQ(ran.output.integer_at(1024 + 7), 8);
}

// Core 1 sends `rounds` numbers to core 0 through SMEM, each when core 0 has taken all but three of those before.
std::string queue_of(int rounds, const std::string& taken) {
  return fmt::format(R"(
  #allocation3 [shape = 's32[512]{{0}}', space=smem, size = 0x800, scoped, tag = 'slots']
  #allocation4 [shape = 's32[1]{{0}}', space=sflag, size = 0x4, scoped, tag = 'full']
  #allocation5 [shape = 's32[1]{{0}}', space=sflag, size = 0x4, scoped, tag = 'arrived']
  #allocation6 [shape = 's32[1]{{0}}', space=sflag, size = 0x4, scoped, tag = 'sent']
  #allocation7 [shape = 'u32[0]{{0}}', space=smem, size = 0, offset = 0, fixed_abs, tag = 'smem constant byte address 0x0 - null']
  %p20 = scmp.eq.s32.totalorder %s2, 1
  %p21 = pneg %p20
  $region1: parent=0 // loop_header
    %s22 = sphi 0, %s24
    %p23 = scmp.ge.s32.totalorder %s22, {0}
  $region2: parent=0 // loop_header_branch
    %25 = sbr.rel (%p23) target = $region8
  $region3: parent=0 // loop_body
    %s26 = sand.u32 %s22, 3
    %s27 = smul.u32 %s26, 128
    %s28 = scalar_lea.smem [#allocation3], %s27
    %29 = sbr.rel (%p21) target = $region5
  $region4: parent=0
    %s30 = sadd.s32 %s22, 70
    %31 = sst [smem:[%s28]] %s30
    %32 = vwait.lt.trace [#allocation4], 4
    %33 = vsyncadd [#allocation4], 1
    %s34 = sor.u32 [#allocation5], 16384
    %s35 = sor.u32 [#allocation6], 131072
    %36 = dma.general /*src=*/%s28, /*size_in_granules=*/16, /*dst=*/%s28, %s34, %s35, [#allocation7], 134234112, 0
    %37 = dma.done [#allocation6], 16
  $region5: parent=0
    %38 = sbr.rel (%p20) target = $region7
  $region6: parent=0
    %39 = dma.done [#allocation5], 16
    %s40 = sld [smem:[%s28]]
    %v41 = vstv %s40
    %42 = vst [vmem:[#allocation2] sm:$0xff] %v41
    %s43 = sor.u32 [#allocation4], 49152
    {1}
  $region7: parent=0 // loop_footer_branch
    %s24 = sadd.s32 %s22, 1
    %45 = sbr.rel target = $region1
  $region8: parent=0
    %46 = vst (%p20), [vmem:[#allocation2] sm:$0xff] %v5
)",
                     rounds, taken);
}
constexpr const char* kTaken = "%44 = vsyncadd.remote %s43, 4294967295";

TEST(TwoCores, OneSendsWordsThatTheOtherTakes) {
  const KernelRun ran = run_on_both(queue_of(9, kTaken));
  EXPECT_THAT(ran.findings, IsEmpty());
  EXPECT_EQ(ran.output.integer_at(0), 78) << "the last of nine";
  EXPECT_EQ(ran.output.integer_at(1024), 1001);
}

TEST(TwoCores, NoMoreAreSentThanThereIsRoomFor) {
  EXPECT_THAT(kinds(run_on_both(queue_of(5, ""))), Contains(FindingKind::Deadlock)) << "the fifth waits";
  EXPECT_THAT(kinds(run_on_both(queue_of(4, ""))), ElementsAre(FindingKind::UnbalancedSync));
}

TEST(TwoCores, WaitingForWhatNeverComesIsADeadlock) {
  const KernelRun ran = run_on_both("  %v9 = vpop.ccrf\n");
  EXPECT_THAT(kinds(ran), Contains(FindingKind::Deadlock));
  EXPECT_THAT(ran.findings.front().message, HasSubstr("other core"));
}

TEST(TwoCores, AChipWithOneCoreCannotRunSuchKernels) {
  const auto ran = try_run({.text = std::string(kHead) + "  %v9 = vpop.ccrf\n",
                            .operand_shapes = {"s32[16,128]{1,0:T(8,128)}"},
                            .result_shape = "s32[16,128]{1,0:T(8,128)}",
                            .generation = "v6e"});
  ASSERT_FALSE(ran);
  EXPECT_EQ(ran.error().kind, ErrorKind::Unsupported);
}

}  // namespace
}  // namespace sapper::llo::testing
