// Kernels on values: operands laid out, results read back, what is wrong with them found.
#include "llo/kernel.h"

#include "tests/llo/kernel_case.h"

namespace sapper::llo::testing {
namespace {

using hlo::Literal;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kRow = "s32[8,128]{1,0:T(8,128)}";

TEST(Kernel, OperandsAndResultsLieAsTheirLayoutsSay) {
  const KernelRun ran = run({.text = R"($region0: #{double}
  %s0 = inlined_call_operand.vmem [shape: s32[3,200], index: 0, kind: input, shape index: {}]
  %s1 = inlined_call_operand.vmem [shape: s32[3,200], index: 1, kind: output, shape index: {}]
  %v2 = vld [vmem:[%s0] sm:$0xff]
  %v3 = vld [vmem:[%s0 + $0x8] sm:$0xff]
  %v4 = vadd.s32 %v2, %v2
  %v5 = vadd.s32 %v3, %v3
  %6 = vst [vmem:[%s1] sm:$0xff] /*vst_source=*/%v4
  %7 = vst [vmem:[%s1 + $0x8] sm:$0xff] /*vst_source=*/%v5
)",
                             .operand_shapes = {"s32[3,200]{1,0:T(8,128)}"},
                             .result_shape = "s32[3,200]{1,0:T(8,128)}"});
  EXPECT_THAT(ran.findings, IsEmpty()) << "padding may be undefined";
  for (int64_t i = 0; i < 600; ++i) ASSERT_EQ(ran.output.integer_at(i), 2 * (i + 1));
  EXPECT_EQ(ran.steps, 8U);
  EXPECT_EQ(ran.vector_steps, 6U);
}

TEST(Kernel, ScalarsComeByValueZeroExtended) {
  Literal small(hlo::Shape::scalar(hlo::ElementType::S8));
  small.set_integer(0, -3);
  const KernelRun ran = run({.text = R"($region0: #{k}
  %s0 = inlined_call_operand.<no memory space> [shape: s8[], index: 0, kind: input, shape index: {}]
  %s1 = inlined_call_operand.smem [shape: s32[], index: 1, kind: output, shape index: {}]
  %2 = sst [smem:[%s1]] %s0
)",
                             .operand_shapes = {"s8[]"},
                             .result_shape = "s32[]",
                             .operands = {small}});
  EXPECT_EQ(ran.output.integer_at(0), 0xfd);
}

TEST(Kernel, TuplesAreFlattened) {
  const KernelRun ran = run({.text = R"($region0: #{k}
  %s0 = inlined_call_operand.<no memory space> [shape: s32[], index: 0, kind: input, shape index: {}]
  %s1 = inlined_call_operand.smem [shape: s32[], index: 1, kind: output, shape index: {0}]
  %s2 = inlined_call_operand.smem [shape: s32[2], index: 2, kind: output, shape index: {1}]
  %3 = sst [smem:[%s1]] %s0
  %4 = sst [smem:[%s2]] 7
  %5 = sst [smem:[%s2 + $0x1]] 8
)",
                             .operand_shapes = {"s32[]"},
                             .result_shape = "(s32[], s32[2]{0})"});
  ASSERT_EQ(ran.output.elements().size(), 2U);
  EXPECT_EQ(ran.output.elements()[0].integer_at(0), 1);
  EXPECT_EQ(ran.output.elements()[1].integer_at(1), 8);
}

TEST(Kernel, AResultThatSharesABufferStartsAsTheOperand) {
  const std::string text = R"($region0: #{k}
  %s0 = inlined_call_operand.hbm [shape: s32[8,128], index: 0, kind: input, shape index: {}, may-alias: {0,1}]
  %s1 = inlined_call_operand.hbm [shape: s32[8,128], index: 1, kind: output, shape index: {}, may-alias: {0,1}]
)";
  const KernelRun ran = run({.text = text, .operand_shapes = {kRow}, .result_shape = kRow});
  EXPECT_EQ(ran.output, counting(shape_of(kRow)));
  EXPECT_THAT(ran.findings, IsEmpty());
}

TEST(Kernel, OperandsThatShareABufferAreDefinedWhereAnyIs) {
  // A bitcast to the first column is the same buffer: the other columns stay what they are.
  const std::string text = R"($region0: #{k}
  %s0 = inlined_call_operand.vmem [shape: s32[3,128], index: 0, kind: input, shape index: {}, may-alias: {0,1}]
  %s1 = inlined_call_operand.vmem [shape: s32[1,128], index: 1, kind: input, shape index: {}, may-alias: {0,1}]
  %s2 = inlined_call_operand.vmem [shape: s32[3,128], index: 2, kind: output, shape index: {}]
  %v3 = vld [vmem:[%s0] sm:$0x7]
  %4 = vst [vmem:[%s2] sm:$0x7] /*vst_source=*/%v3
)";
  const std::string three = "s32[3,128]{1,0:T(4,128)}";
  const KernelRun ran =
      run({.text = text, .operand_shapes = {three, "s32[1,128]{1,0:T(4,128)}"}, .result_shape = three});
  EXPECT_EQ(ran.output, counting(shape_of(three)));
  EXPECT_THAT(ran.findings, IsEmpty());
}

TEST(Kernel, ArraysInVmemHaveRoomForARegister) {
  const auto store_at = [](const std::string& row) {
    return R"($region0: #{k}
  %s0 = inlined_call_operand.vmem [shape: s32[5], index: 0, kind: output, shape index: {}]
  %v1 = vlaneseq.b32
  %2 = vst [vmem:[%s0)" +
           row + R"(] sm:$0xff] /*vst_source=*/%v1
)";
  };
  const KernelRun ran = run({.text = store_at(""), .result_shape = "s32[5]{0:T(128)}"});
  EXPECT_EQ(ran.output, counting(shape_of("s32[5]{0:T(128)}"), 0));
  EXPECT_THAT(ran.findings, IsEmpty());
  const KernelRun beyond = run({.text = store_at(" + $0x1"), .result_shape = "s32[5]{0:T(128)}"});
  ASSERT_FALSE(beyond.findings.empty());
  EXPECT_EQ(beyond.findings[0].kind, FindingKind::OutOfBounds);
}

// As the indices of gathers on v4.
TEST(Kernel, DmaReadsTheRoomBehindAnArrayInCmem) {
  const KernelRun ran = run({.text = R"($region0: #{k}
  #allocation0 [shape = 'u8[1024]{0}', space=smem, size = 0x400, scoped]
  #allocation1 [shape = 's32[1]{0}', space=sflag, size = 0x4, scoped]
  %s0 = inlined_call_operand.cmem [shape: s32[128], index: 0, kind: input, shape index: {}]
  %s1 = inlined_call_operand.smem [shape: s32[1], index: 1, kind: output, shape index: {}]
  %2 = vsyncpa [#allocation1], 0
  %3 = dma.cmem_to_smem /*cmem=*/%s0, /*size_in_granules=*/2, /*smem=*/[#allocation0], /*dst_syncflagno=*/[#allocation1]
  %4 = dma.done [#allocation1], 2
  %s5 = sld [smem:[#allocation0 + $0x7f]]
  %6 = sst [smem:[%s1]] %s5
)",
                             .operand_shapes = {"s32[128]{0:T(128)}"},
                             .result_shape = "s32[1]{0}",
                             .generation = "v4"});
  EXPECT_EQ(ran.output.integer_at(0), 128);
  EXPECT_THAT(ran.findings, IsEmpty());
}

TEST(Kernel, UndefinedResultsAreFound) {
  const KernelRun ran = run({.text = R"($region0: #{k}
  %s0 = inlined_call_operand.vmem [shape: s32[8,128], index: 0, kind: output, shape index: {}]
  %v1 = vlaneseq.b32
  %2 = vst [vmem:[%s0] sm:$0xf7] /*vst_source=*/%v1
)",
                             .result_shape = kRow});
  ASSERT_THAT(kinds(ran), ElementsAre(FindingKind::UndefinedOutput));
  EXPECT_THAT(ran.findings[0].message, HasSubstr("128 of 1024 elements"));
  EXPECT_THAT(ran.findings[0].message, HasSubstr("[3,0]"));
}

// Predicates of v4, in what the decomposer makes of vpack.pseudo.pred: row 3 is padding.
TEST(Kernel, RowsPackedBesideUndefinedOnesAreDefined) {
  const KernelRun ran = run({.text = R"($region0: #{k}
  %s0 = inlined_call_operand.vmem [shape: s32[3,128], index: 0, kind: input, shape index: {}]
  %s1 = inlined_call_operand.vmem [shape: u8[3,128], index: 1, kind: output, shape index: {}]
  %v2 = vld [vmem:[%s0] sm:$0xf]
  %v3 = vshll.u32 %v2, 24
  %v4 = vpack.c.f32.bf16 0, %v3
  %v5 = vand.u32 65280, %v4
  %v6 = vand.u32 4278190080, %v4
  %v7 = vshll.u32 %v5, 8
  %v8 = vor.u32 %v6, %v7
  %v9 = vpack.c.f32.bf16 0, %v8
  %10 = vst [vmem:[%s1] sm:$0x1] /*vst_source=*/%v9
)",
                             .operand_shapes = {"s32[3,128]{1,0:T(4,128)}"},
                             .result_shape = "u8[3,128]{1,0:T(4,128)(4,1)}",
                             .generation = "v4"});
  EXPECT_THAT(ran.findings, IsEmpty());
  EXPECT_EQ(ran.output, counting(shape_of("u8[3,128]{1,0:T(4,128)(4,1)}")));
}

TEST(Kernel, TheTableOfOperandsHoldsWhatTheOthersAreBoundTo) {
  const KernelRun ran = run({.text = R"($region0: #{k}
  %s0 = inlined_call_operand.smem [shape: u32[2], index: -1, kind: input, shape index: {}]
  %s1 = inlined_call_operand.<no memory space> [shape: s32[], index: 0, kind: input, shape index: {}]
  %s2 = inlined_call_operand.smem [shape: s32[2], index: 1, kind: output, shape index: {}]
  %s3 = sld [smem:[%s0]]
  %4 = sst [smem:[%s2]] %s3
  %s5 = sld [smem:[%s0 + $0x1]]
  %6 = sst [smem:[%s5 + $0x1]] 9
)",
                             .operand_shapes = {"s32[]"},
                             .result_shape = "s32[2]{0}"});
  EXPECT_EQ(ran.output.integer_at(0), 1);
  EXPECT_EQ(ran.output.integer_at(1), 9);
}

TEST(Kernel, WhatIsFoundThroughTheTableLiesWhereItsLayoutSays) {
  const KernelRun ran = run({.text = R"($region0: #{k}
  %s0 = inlined_call_operand.smem [shape: u32[3], index: -1, kind: input, shape index: {}]
  %s1 = sld [smem:[%s0]]
  %s2 = sld [smem:[%s0 + $0x1]]
  %s3 = sld [smem:[%s0 + $0x2]]
  %s4 = sld [smem:[%s2]]
  %v5 = vld [vmem:[%s1] sm:$0xff]
  %v6 = vadd.s32 %v5, 1
  %7 = vst [vmem:[%s3] sm:$0xff] /*vst_source=*/%v6
)",
                             .operand_shapes = {"s32[8,128]{1,0:T(8,128)S(1)}", "s32[]{:T(128)S(6)}"},
                             .result_shape = "s32[8,128]{1,0:T(8,128)S(1)}"});
  EXPECT_THAT(ran.findings, IsEmpty());
  EXPECT_EQ(ran.output, counting(shape_of(kRow), 2));
}

TEST(Kernel, ElementsThatAreOpenMayBeUndefined) {
  const auto program = parse_program(R"($region0: #{k}
  %s0 = inlined_call_operand.vmem [shape: s32[8,128], index: 0, kind: output, shape index: {}]
)",
                                     "kernel.txt");
  const auto findings = [&](int64_t open) {
    Elements elements(1);
    for (int64_t i = 0; i < 1024; ++i) elements[0].push_back(i < open);
    return run_kernel(*program, nullptr, {}, {}, shape_of(kRow), {.generation = *generation_of("v5e")}, elements)
        ->findings;
  };
  EXPECT_THAT(findings(1024), IsEmpty());
  ASSERT_EQ(findings(1000).size(), 1U);
  EXPECT_THAT(findings(1000)[0].message, HasSubstr("24 of 1024 elements"));
}

TEST(Kernel, OlderReleasesStateNoKind) {
  const KernelRun ran = run({.text = R"($region0: #{k}
  %s0 = inlined_call_operand.<no memory space> [shape: s32[], index: 0]
  %s1 = inlined_call_operand.smem [shape: s32[], index: 1]
  %2 = sst [smem:[%s1]] %s0
)",
                             .operand_shapes = {"s32[]"},
                             .result_shape = "s32[]"});
  EXPECT_EQ(ran.output.integer_at(0), 1);
}

TEST(Kernel, TheNumberOfTheCoreIsZero) {
  const KernelRun ran = run({.text = R"($region0: #{k}
  #allocation0 [shape = 'u32[]', space=smem, size = 0x4, offset = 0x4, fixed_abs, tag = 'smem constant byte address 0x4 - core index']
  %s0 = inlined_call_operand.smem [shape: s32[], index: 0, kind: output, shape index: {}]
  %s1 = sld [smem:[#allocation0]] /* core id */
  %2 = sst [smem:[%s0]] %s1
)",
                             .result_shape = "s32[]"});
  EXPECT_EQ(ran.output.integer_at(0), 0);
  EXPECT_THAT(ran.findings, IsEmpty());
}

TEST(Kernel, WhatDoesNotFitIsTold) {
  const std::string declared = R"($region0: #{k}
  %s0 = inlined_call_operand.vmem [shape: s32[8,128], index: 0, kind: input, shape index: {}]
)";
  const auto other_shape =
      try_run({.text = declared, .operand_shapes = {"s32[4,128]{1,0:T(4,128)}"}, .result_shape = kRow});
  ASSERT_FALSE(other_shape);
  EXPECT_EQ(other_shape.error().kind, ErrorKind::BadInput);
  EXPECT_THAT(other_shape.error().describe(), HasSubstr("kernel.txt:2"));
  const auto no_result = try_run({.text = declared, .operand_shapes = {kRow}, .result_shape = kRow});
  ASSERT_FALSE(no_result);
  EXPECT_THAT(no_result.error().message, HasSubstr("no place for its result 0"));
  const auto too_many = try_run({.text = R"($region0: #{k}
  %s0 = inlined_call_operand.vmem [shape: s32[8,128], index: 5, kind: input, shape index: {}]
)",
                                 .operand_shapes = {kRow},
                                 .result_shape = kRow});
  ASSERT_FALSE(too_many);
  EXPECT_EQ(too_many.error().kind, ErrorKind::BadInput);
  EXPECT_FALSE(try_run({.text = declared, .operand_shapes = {"s64[8,128]{1,0:T(8,128)}"}, .result_shape = kRow}));
}

TEST(Kernel, DeclaredShapes) {
  const auto shapes_of = [](const std::string& text) {
    const auto program = parse_program("$region0: #{k}\n" + text, "kernel.txt");
    return declared_shapes(*program);
  };
  const auto shapes = shapes_of(R"(
  %s0 = inlined_call_operand.<no memory space> [shape: s32[], index: 0, kind: input, shape index: {}]
  %s1 = inlined_call_operand.vmem [shape: s32[8,128]{1,0:T(8,128)}, index: 1, kind: input, shape index: {}]
  %s2 = inlined_call_operand.vmem [shape: s32[8,128]{1,0:T(8,128)}, index: 2, kind: output, shape index: {0}]
)");
  ASSERT_TRUE(shapes) << shapes.error().describe();
  EXPECT_EQ(shapes->operands.size(), 2U);
  EXPECT_EQ(shapes->operands[1].to_text(), kRow);
  EXPECT_EQ(shapes->result.to_text(), std::string("(") + kRow + ")");
  const auto no_layout = shapes_of("  %s0 = inlined_call_operand.vmem [shape: s32[8,128], index: 0, kind: output]\n");
  ASSERT_FALSE(no_layout);
  EXPECT_THAT(no_layout.error().message, HasSubstr("lies in memory is not stated"));
  EXPECT_FALSE(shapes_of(""));
}

}  // namespace
}  // namespace sapper::llo::testing
