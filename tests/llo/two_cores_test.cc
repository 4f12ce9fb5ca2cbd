// Two cores of a chip on one kernel.
#include "tests/llo/kernel_case.h"

namespace sapper::llo::testing {
namespace {

using ::testing::Contains;
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
