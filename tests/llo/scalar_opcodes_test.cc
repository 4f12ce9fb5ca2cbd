// The scalar unit: values, and which bits of them are undefined.
#include <bit>

#include "tests/llo/kernel_case.h"

namespace sapper::llo::testing {
namespace {

using ::testing::IsEmpty;

struct ScalarCase {
  std::string instructions;  // make %s9
  uint32_t expected;
};

uint32_t result_of(const std::string& instructions, std::vector<FindingKind>* found = nullptr) {
  const KernelRun ran = run({.text = R"($region0: #{k}
  #allocation0 [shape = 'u32[8]{0}', space=smem, size = 0x20, scoped, tag = 'nobody wrote it']
  %s0 = inlined_call_operand.smem [shape: u32[], index: 0, kind: output, shape index: {}]
  %s1 = sld [smem:[#allocation0]]
)" + instructions + "\n  %10 = sst [smem:[%s0]] %s9\n",
                             .result_shape = "u32[]"});
  if (found != nullptr) {
    *found = kinds(ran);
  } else {
    EXPECT_THAT(ran.findings, IsEmpty()) << instructions;
  }
  return static_cast<uint32_t>(ran.output.integer_at(0));
}

uint32_t bits(float value) { return std::bit_cast<uint32_t>(value); }

TEST(ScalarOpcodes, Values) {
  const std::vector<ScalarCase> cases = {
      {"%s9 = sadd.s32 4294967295, 3", 2},
      {"%s9 = ssub.s32 1, 3", 0xfffffffe},
      {"%s9 = smul.u32 65536, 65537", 65536},
      {"%s9 = smul.addr 3, 128", 384},
      {"%s9 = smulhi.u32 65536, 131073", 2},
      {"%s9 = smul.u24 16777217, 5", 5},
      {"%s9 = sand.u32 12, 10", 8},
      {"%s9 = sor.u32 12, 10", 14},
      {"%s9 = sxor.u32 12, 10", 6},
      {"%s9 = sshll.u32 3, 4", 48},
      {"%s9 = sshll.u32 3, 32", 0},
      {"%s9 = sshllo.u32 1, 3", 15},
      {"%s9 = sshrl.u32 2147483648, 31", 1},
      {"%s9 = sshrl.u32 2147483648, 40", 0},
      {"%s9 = sshra.s32 -8, 1", 0xfffffffc},
      {"%s9 = sshra.s32 -8, 40", 0xffffffff},
      {"%s9 = sdiv.u32.pop 4294967295, 2", 0x7fffffff},
      {"%s9 = srem.u32.pop 4294967295, 10", 5},
      {"%2 = sdivrem.u32 4294967295, 10\n  %s3 = spop.drf %2\n  %s4 = spop.drf %2\n  %s9 = smov.u32 %s4", 5},
      {"%2 = sdivrem.u32 23, 10\n  %s9 = spop.drf %2\n  %s4 = spop.drf %2", 2},
      {"%s9 = scalar_lea.vmem 5, -1", 4},
      {"%s9 = smov.u32 77", 77},
      {"%s9 = sadd.f32 1.5, 2.0", bits(3.5F)},
      {"%s9 = smul.f32 1.5, -2.0", bits(-3.0F)},
      {"%p2 = scmp.lt.s32.totalorder -1, 0\n  %s9 = scalar_select %p2, 5, 6", 5},
      {"%p2 = scmp.lt.u32.totalorder 4294967295, 0\n  %s9 = scalar_select %p2, 5, 6", 6},
      {"%p2 = scmp.ge.s32.totalorder 3, 3\n  %s9 = scalar_select %p2, 5, 6", 5},
      {"%p2 = scmp.ne.f32.partialorder nan, nan\n  %s9 = scalar_select %p2, 5, 6", 5},
      {"%p2 = scmp.le.f32.partialorder nan, 1.0\n  %s9 = scalar_select %p2, 5, 6", 6},
      {"%p2 = scmp.eq.s32.totalorder 1, 1\n  %p3 = pneg %p2\n  %p4 = pnand %p2, %p3\n  %p5 = por %p3, %p4\n"
       "  %s9 = scalar_select %p5, 5, 6",
       5},
  };
  for (const ScalarCase& test : cases)
    EXPECT_EQ(result_of("  " + test.instructions), test.expected) << test.instructions;
}

// %s1 is undefined in every bit.
TEST(ScalarOpcodes, WhatIsMaskedAwayIsDefined) {
  EXPECT_EQ(result_of("  %s9 = sand.u32 %s1, 0"), 0U);
  EXPECT_EQ(result_of("  %s9 = sor.u32 %s1, 4294967295"), 0xffffffffU);
  EXPECT_EQ(result_of("  %s9 = sshll.u32 %s1, 32"), 0U);
  EXPECT_EQ(result_of("  %s2 = sand.u32 %s1, 255\n  %s9 = sshrl.u32 %s2, 8"), 0U);
  EXPECT_EQ(result_of("  %p2 = scmp.eq.s32.totalorder %s1, 0\n  %s9 = scalar_select %p2, 5, 5"), 5U);
  EXPECT_EQ(result_of("  %p2 = scmp.eq.s32.totalorder %s1, 0\n  %p3 = pnand %p2, 0\n"
                      "  %s9 = scalar_select %p3, 5, 6"),
            5U);
}

TEST(ScalarOpcodes, WhatDependsOnUndefinedBitsIsUndefined) {
  for (const std::string instructions :
       {"  %s9 = sadd.s32 %s1, 0", "  %s9 = sand.u32 %s1, 1", "  %s9 = sxor.u32 %s1, %s1", "  %s9 = sshll.u32 1, %s1",
        "  %p2 = scmp.eq.s32.totalorder %s1, 0\n  %s9 = scalar_select %p2, 5, 6"}) {
    std::vector<FindingKind> found;
    (void)result_of(instructions, &found);
    EXPECT_EQ(found, std::vector{FindingKind::UndefinedOutput}) << instructions;
  }
}

}  // namespace
}  // namespace sapper::llo::testing
