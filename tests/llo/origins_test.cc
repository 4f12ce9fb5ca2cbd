// Where the contents of registers come from and what becomes of them, by addresses alone: values play no part.
#include "llo/origins.h"

#include <map>

#include "tests/llo/kernel_case.h"

namespace sapper::llo::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

// What origins say while a kernel runs: of each vector value by its number, as it was written last.
struct Followed {
  Origins origins;
  std::map<uint32_t, Runs> of;
  std::unordered_map<uint32_t, Runs> results;  // by the numbers of values

  // The first element of each row of 8, of the lowest byte (`byte`); -1: padding; -2: scattered; -3: a constant.
  [[nodiscard]] std::vector<int64_t> rows(const Runs& runs, size_t byte = 0) const {
    std::vector<int64_t> first;
    for (size_t sublane = 0; sublane < kSublanes; ++sublane) {
      const RunId id = runs[sublane * kSublaneBytes + byte];
      const Run& run = origins.run(id);
      first.push_back(id == kNoRun ? -3 : run.is_scattered() ? -2 : run.count == 0 ? -1 : run.base);
    }
    return first;
  }
  [[nodiscard]] std::vector<int64_t> rows(uint32_t value, size_t byte = 0) const { return rows(of.at(value), byte); }
};

Followed follow(const KernelCase& test) {
  Followed followed;
  const Result<Program> program = parse_program(test.text, "kernel.txt");
  EXPECT_TRUE(program) << program.error().describe();
  std::vector<hlo::Shape> shapes;
  std::vector<hlo::Literal> operands;
  for (const std::string& text : test.operand_shapes) {
    shapes.push_back(shape_of(text));
    operands.emplace_back(shapes.back());  // all zeros: nothing can be told by values
  }
  MachineOptions options;
  options.generation = *generation_of(test.generation);
  options.observer = [&](const Step& step, Machine& machine) {
    followed.origins.follow(step, machine);
    if (step.kind != StepKind::Instruction || step.result == kNoSlot) return;
    if (step.bank != Bank::Vector && step.bank != Bank::Mask) return;
    const uint32_t number = machine.instruction(step).result.number;
    followed.of[number] = followed.origins.of(step, machine);
    followed.origins.mark(step, machine, number);
  };
  const Result<KernelRun> ran =
      run_kernel(*program, nullptr, operands, shapes, shape_of(test.result_shape), options, {},
                 [&](std::span<const PlacedArray> arrays) { followed.origins.begin(arrays); });
  EXPECT_TRUE(ran) << ran.error().describe();
  followed.results = followed.origins.results();
  return followed;
}

TEST(Origins, RowsOfOperandsGoThroughArithmeticToResults) {
  const Followed followed = follow({.text = R"($region0: #{sum}
  %s0 = inlined_call_operand.vmem [shape: f32[12,200], index: 0, kind: input, shape index: {}]
  %s1 = inlined_call_operand.vmem [shape: f32[12,200], index: 1, kind: input, shape index: {}]
  %s2 = inlined_call_operand.vmem [shape: f32[12,200], index: 2, kind: output, shape index: {}]
  %v3 = vld [vmem:[%s0 + $0x8] sm:$0xff]
  %v4 = vld [vmem:[%s1 + $0x8] sm:$0xff]
  %v5 = vadd.f32 %v3, %v4
  %v6 = vmul.f32 %v5, 2.0
  %v7 = vld [vmem:[%s0] sm:$0xff]
  %v8 = vadd.f32 %v7, %v4
  %v9 = vld [vmem:[%s0 + $0x18] sm:$0x3]
  %10 = vst [vmem:[%s2 + $0x8] sm:$0xff] /*vst_source=*/%v6
)",
                                    .operand_shapes = {"f32[12,200]{1,0:T(8,128)}", "f32[12,200]{1,0:T(8,128)}"},
                                    .result_shape = "f32[12,200]{1,0:T(8,128)}"});
  const auto second_tile = ElementsAre(128, 328, 528, 728, 928, 1128, 1328, 1528);
  EXPECT_THAT(followed.rows(3), second_tile);
  EXPECT_THAT(followed.rows(6), second_tile) << "constants say nothing";
  EXPECT_EQ(followed.origins.run(followed.of.at(6)[0]).count, 72) << "72 of 200 columns are left";
  EXPECT_THAT(followed.rows(8), Each(-2)) << "of elements of different places";
  EXPECT_THAT(followed.rows(9), ElementsAre(1728, 1928, -3, -3, -3, -3, -3, -3));
  ASSERT_TRUE(followed.results.contains(6));
  EXPECT_THAT(followed.rows(followed.results.at(6)), second_tile);
  EXPECT_FALSE(followed.results.contains(5)) << "it was not stored itself";
}

TEST(Origins, PackedRowsAreTakenApartAndPutTogether) {
  const Followed followed = follow({.text = R"($region0: #{double}
  %s0 = inlined_call_operand.vmem [shape: bf16[16,128], index: 0, kind: input, shape index: {}]
  %s1 = inlined_call_operand.vmem [shape: bf16[16,128], index: 1, kind: output, shape index: {}]
  %v2 = vld [vmem:[%s0] sm:$0xff]
  %v3 = vunpack.c.l.bf16 %v2
  %v4 = vunpack.c.h.bf16 %v2
  %v5 = vadd.f32 %v3, %v3
  %v6 = vadd.f32 %v4, %v4
  %v7 = vpack.c.bf16 %v6, %v5
  %8 = vst [vmem:[%s1] sm:$0xff] /*vst_source=*/%v7
)",
                                    .operand_shapes = {"bf16[16,128]{1,0:T(8,128)(2,1)}"},
                                    .result_shape = "bf16[16,128]{1,0:T(8,128)(2,1)}"});
  EXPECT_THAT(followed.rows(2, 0), ElementsAre(0, 256, 512, 768, 1024, 1280, 1536, 1792)) << "even rows";
  EXPECT_THAT(followed.rows(2, 2), ElementsAre(128, 384, 640, 896, 1152, 1408, 1664, 1920)) << "odd ones";
  const auto low = ElementsAre(0, 128, 256, 384, 512, 640, 768, 896);
  const auto high = ElementsAre(1024, 1152, 1280, 1408, 1536, 1664, 1792, 1920);
  EXPECT_THAT(followed.rows(5), low);
  EXPECT_THAT(followed.rows(6), high);
  EXPECT_THAT(followed.rows(followed.results.at(7), 0), ElementsAre(0, 256, 512, 768, 1024, 1280, 1536, 1792));
}

TEST(Origins, MasksLeaveTails) {
  const Followed followed = follow({.text = R"($region0: #{copy}
  %s0 = inlined_call_operand.vmem [shape: f32[8,100], index: 0, kind: input, shape index: {}]
  %s1 = inlined_call_operand.vmem [shape: f32[8,100], index: 1, kind: output, shape index: {}]
  %v2 = vld [vmem:[%s0] sm:$0xff]
  %v3 = vlaneseq.b32
  %v4 = vand.u32 %v3, 127
  %vm5 = vcmp.lt.s32.totalorder %v4, 100
  %6 = vst.msk [vmem:[%s1] sm:$0xff] /*vst_mask=*/%vm5, /*vst_source=*/%v2
  %vm7 = vcmp.lt.s32.totalorder %v4, 50
  %v8 = vld [vmem:[%s0] sm:$0xff]
  %9 = vst.msk [vmem:[%s1] sm:$0x1] /*vst_mask=*/%vm7, /*vst_source=*/%v8
)",
                                    .operand_shapes = {"f32[8,100]{1,0:T(8,128)}"},
                                    .result_shape = "f32[8,100]{1,0:T(8,128)}"});
  EXPECT_THAT(followed.rows(5), Each(-3)) << "masks of lane numbers are constants";
  EXPECT_THAT(followed.rows(followed.results.at(2)), ElementsAre(-3, 100, 200, 300, 400, 500, 600, 700))
      << "the first row is of two registers";
  EXPECT_FALSE(followed.results.contains(8));
}

TEST(Origins, WhatLeavesItsLaneHasNoPlaceButGivesWayToLargerArrays) {
  const Followed followed = follow({.text = R"($region0: #{shift}
  %s0 = inlined_call_operand.vmem [shape: f32[8,128], index: 0, kind: input, shape index: {}]
  %s1 = inlined_call_operand.vmem [shape: f32[128], index: 1, kind: input, shape index: {}]
  %s2 = inlined_call_operand.vmem [shape: f32[8,128], index: 2, kind: output, shape index: {}]
  %v3 = vld [vmem:[%s0] sm:$0xff]
  %v4 = vld [vmem:[%s1] ss:$0 sm:$0xff]
  %5 = vrot.lane.b32.xlu0 %v4, 3
  %v6 = vpop.permute.xlu0 %5
  %v7 = vadd.f32 %v3, %v6
  %8 = vrot.lane.b32.xlu0 %v3, 3
  %v9 = vpop.permute.xlu0 %8
  %v10 = vadd.f32 %v3, %v9
  %11 = vst [vmem:[%s2] sm:$0xff] /*vst_source=*/%v10
)",
                                    .operand_shapes = {"f32[8,128]{1,0:T(8,128)}", "f32[128]{0:T(128)}"},
                                    .result_shape = "f32[8,128]{1,0:T(8,128)}"});
  EXPECT_THAT(followed.rows(4), Each(0)) << "one row in every sublane";
  EXPECT_THAT(followed.rows(6), Each(-2));
  EXPECT_THAT(followed.rows(7), ElementsAre(0, 128, 256, 384, 512, 640, 768, 896));
  EXPECT_THAT(followed.rows(9), Each(-2));
  EXPECT_THAT(followed.rows(10), Each(-2));
  EXPECT_THAT(followed.rows(followed.results.at(10)), ElementsAre(0, 128, 256, 384, 512, 640, 768, 896));
}

TEST(Origins, GoAlongWithDma) {
  const Followed followed = follow({.text = R"($region0: #{copy}
  #allocation0 [shape = 'u32[1]{0}', space=sflag, size = 0x4, scoped, tag = 'flag']
  #allocation1 [shape = 'u8[8192]{0}', space=vmem, size = 0x2000, scoped, tag = 'window']
  %s0 = inlined_call_operand.hbm [shape: f32[16,256], index: 0, kind: input, shape index: {}]
  %s1 = inlined_call_operand.vmem [shape: f32[8,128], index: 1, kind: output, shape index: {}]
  %s8 = sshll.u32 %s0, 4
  %s2 = sadd.s32 %s8, 256
  %s3 = sshll.u32 [#allocation1], 4
  %4 = dma.hbm_to_vmem %s2, 256, %s3, [#allocation0]
  %5 = dma.done [#allocation0], 256
  %v6 = vld [vmem:[#allocation1 + $0x8] sm:$0xff]
  %7 = vst [vmem:[%s1] sm:$0xff] /*vst_source=*/%v6
)",
                                    .operand_shapes = {"f32[16,256]{1,0:T(8,128)}"},
                                    .result_shape = "f32[8,128]{1,0:T(8,128)}"});
  EXPECT_THAT(followed.rows(6), ElementsAre(2176, 2432, 2688, 2944, 3200, 3456, 3712, 3968))
      << "the last tile: rows 8 to 15, columns from 128 on";
}

}  // namespace
}  // namespace sapper::llo::testing
