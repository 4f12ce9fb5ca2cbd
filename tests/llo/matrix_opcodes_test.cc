// The matrix opcodes, by small programs of every generation. The numbers are constants in all lanes: where what stands
// is tested with the unit itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <memory>
#include <string>
#include <vector>

#include "llo/decode.h"
#include "llo/machine.h"
#include "llo/text.h"

namespace sapper::llo {
namespace {

using ::testing::ElementsAre;

struct Outcome {
  std::vector<float> stored;  // the first word of each register that was stored, in the order of their addresses
  std::vector<int32_t> stored_integers;
  std::vector<bool> defined;
  std::vector<FindingKind> findings;
  Status status;
};

constexpr int registers = 8;

// Runs `lines` on one core of a generation. Registers are stored to [vmem:[#allocation0 + $0x..]], 8 rows each.
Outcome run(const std::string& generation, const std::string& lines, MachineOptions options = {}) {
  Outcome outcome;
  const std::string text =
      "$region0: #{kernel}\n"
      "  #allocation0 [shape = 'f32[64,128]', space=vmem, size = 0x8000, scoped, tag = 'out']\n" +
      lines;
  auto program = parse_program(text, "test.txt");
  EXPECT_TRUE(program) << program.error().describe();
  if (!program) return outcome;
  auto code = decode(*program);
  EXPECT_TRUE(code) << code.error().describe();
  if (!code) return outcome;
  options.generation = *generation_of(generation);
  Machine machine(options);
  const Status loaded = machine.load(*code);
  EXPECT_TRUE(loaded) << loaded.error().describe();
  outcome.status = machine.run();
  const Memory& memory = machine.memory(Space::Vmem);
  const Memory::Piece* piece = memory.piece_below(UINT32_MAX);  // null: the program does not use it
  for (int i = 0; piece != nullptr && i < registers; ++i) {
    const uint64_t word = piece->first_word + static_cast<uint64_t>(i) * kVregWords;
    outcome.stored.push_back(std::bit_cast<float>(*memory.words(word)));
    outcome.stored_integers.push_back(static_cast<int32_t>(*memory.words(word)));
    outcome.defined.push_back(memory.defined(word, 1));
  }
  for (const Finding& finding : machine.findings()) outcome.findings.push_back(finding.kind);
  return outcome;
}

// `count` times the same line.
std::string repeat(int count, const std::string& line) {
  std::string lines;
  for (int i = 0; i < count; ++i) lines += line;
  return lines;
}

std::vector<float> first(const Outcome& outcome, size_t count) {
  return {outcome.stored.begin(), outcome.stored.begin() + static_cast<std::ptrdiff_t>(count)};
}

TEST(MatrixOpcodes, GainsAreLatchedAfterVdwgAndResultsComeFirstInFirstOut) {
  const Outcome outcome = run("v5e", R"(
  %1 = vmatpush.msra.mxu0 2.0
  %2 = vmatmul.f32.gmra.mxu0 1.0
  %3 = vmatmul.f32.gmra.mxu0 3.0
  %4 = vdwg.mxu0
  %5 = vmatpush.msra.mxu0 5.0
  %6 = vmatmul.f32.gmra.mxu0 1.0
  %v7 = vpop.f32.mrf.mxu0
  %v8 = vpop.f32.mrf.mxu0
  %v9 = vpop.f32.mrf.mxu0
  %10 = vst [vmem:[#allocation0] sm:$0xff] %v7
  %11 = vst [vmem:[#allocation0 + $0x8] sm:$0xff] %v8
  %12 = vst [vmem:[#allocation0 + $0x10] sm:$0xff] %v9
)");
  EXPECT_THAT(first(outcome, 3), ElementsAre(16, 48, 40));
  EXPECT_TRUE(outcome.findings.empty());
}

TEST(MatrixOpcodes, StagingRegistersAreNamedInFinalCode) {
  const Outcome outcome = run("v5p", R"(
  %1 = vmatpush.msra.mxu2 2.0
  %2 = vmatpush.msrb.mxu2 3.0
  %3 = vmatmul.f32.vlgmr.msrb.gmra.mxu2 1.0
  %4 = vmatpush.msrb.mxu2 7.0
  %5 = vmatmul.f32.gmra.mxu2 1.0
  %6 = vmatmul.f32.vlgmr.msra.gmra.mxu2 1.0
  %v7 = vpop.f32.mrf.mxu2
  %v8 = vpop.f32.mrf.mxu2
  %v9 = vpop.f32.mrf.mxu2
  %10 = vst [vmem:[#allocation0] sm:$0xff] %v7
  %11 = vst [vmem:[#allocation0 + $0x8] sm:$0xff] %v8
  %12 = vst [vmem:[#allocation0 + $0x10] sm:$0xff] %v9
)");
  EXPECT_THAT(first(outcome, 3), ElementsAre(24, 24, 16));
}

TEST(MatrixOpcodes, UnitsAreApart) {
  const Outcome outcome = run("v5e", R"(
  %1 = vmatpush.msra.mxu0 2.0
  %2 = vmatpush.msra.mxu3 3.0
  %3 = vmatmul.f32.gmra.mxu0 1.0
  %4 = vmatmul.f32.gmra.mxu3 1.0
  %v5 = vpop.f32.mrf.mxu3
  %v6 = vpop.f32.mrf.mxu0
  %7 = vst [vmem:[#allocation0] sm:$0xff] %v5
  %8 = vst [vmem:[#allocation0 + $0x8] sm:$0xff] %v6
)");
  EXPECT_THAT(first(outcome, 2), ElementsAre(24, 16));
}

// v2 pushes the next weights between the products by the present ones.
TEST(MatrixOpcodes, LeftOperandsComeThroughAStagingRegisterToo) {
  const Outcome outcome = run("v5e", R"(
  %1 = vmatpush.msra.mxu0 2.0
  %v2 = vlaneseq.b32
  %v3 = vand.u32 %v2, 127
  %v4 = vcvt.s32.f32 %v3
  %5 = vmatpush.lsf.msrb.mxu0 %v4
  %6 = vllmr.2.mxu0
  %7 = vmatmul.lmr.bf16.vlgmr.msra.gmra.2.mxu0
  %8 = vmatmul.lmr.bf16.gmra.2.mxu0
  %v9 = vpop.f32.mrf.mxu0
  %v10 = vpop.f32.mrf.mxu0
  %11 = vst [vmem:[#allocation0] sm:$0xff] %v9
  %12 = vst [vmem:[#allocation0 + $0x8] sm:$0xff] %v10
)");
  EXPECT_TRUE(outcome.status) << outcome.status.error().describe();
  EXPECT_THAT(first(outcome, 2), ElementsAre(0, 8 * 2 * 8));  // lane 0, then lane 8, eight times, by two
  EXPECT_FALSE(run("v5e", "  %1 = vllmr.2.mxu0\n").status);
}

TEST(MatrixOpcodes, PushesDoNotDisturbTheGains) {
  const Outcome outcome = run("v2", R"(
  %1 = vmatpush.hi.msra.mxu0 2.0
  %2 = vmatmul.hi.f32.gmra.mxu0 1.0
  %3 = vmatpush.hi.msra.mxu0 3.0
  %4 = vmatmul.hi.f32.gmra.mxu0 1.0
  %5 = vdwg.mxu0
  %6 = vmatmul.hi.f32.gmra.mxu0 1.0
  %v7 = vpop.f32.mrf.mxu0
  %v8 = vpop.f32.mrf.mxu0
  %v9 = vpop.f32.mrf.mxu0
  %10 = vst [vmem:[#allocation0] sm:$0xff] %v7
  %11 = vst [vmem:[#allocation0 + $0x8] sm:$0xff] %v8
  %12 = vst [vmem:[#allocation0 + $0x10] sm:$0xff] %v9
)");
  EXPECT_THAT(first(outcome, 3), ElementsAre(16, 16, 24));
}

TEST(MatrixOpcodes, LowIsTheSecondPart) {  // 1 + 2^-9: 1 and 2^-9
  const Outcome outcome = run("v3", R"(
  %1 = vmatpush.low.msra.mxu1 1.001953125
  %2 = vmatmul.hi.f32.gmra.mxu1 1.001953125
  %v3 = vpop.f32.mrf.mxu1
  %4 = vst [vmem:[#allocation0] sm:$0xff] %v3
)");
  EXPECT_THAT(first(outcome, 1), ElementsAre(8 * 0x1p-9F));
}

TEST(MatrixOpcodes, DwgIsTheLastProductByTheGains) {
  const Outcome outcome = run("v4", R"(
  %1 = vmatpush.bf16.msra.mxu0 2.0|2.0
  %2 = vmatmul.f32.dwg.msra.gmra.mxu0 1.0
  %3 = vmatpush.byte.msra.mxu0 0x01010101
  %4 = vmatmul.bf16.gmra.mxu0 1.0|1.0
  %v5 = vpop.f32.mrf.mxu0
  %v6 = vpop.f32.mrf.mxu0
  %v7 = vpop.f32.mrf.mxu0
  %8 = vst [vmem:[#allocation0] sm:$0xff] %v5
  %9 = vst [vmem:[#allocation0 + $0x8] sm:$0xff] %v6
  %10 = vst [vmem:[#allocation0 + $0x10] sm:$0xff] %v7
)");
  EXPECT_THAT(first(outcome, 3), ElementsAre(32, 32, 32));  // 16 rows of 2, then twice 32 rows of 1
}

TEST(MatrixOpcodes, BytesGiveIntegers) {
  const Outcome outcome = run("v5e", R"(
  %1 = vmatpush.s8.msra.mxu0 0xffffffff
  %2 = vmatmul.u8.gmra.mxu0 0xffffffff
)" + repeat(4, "  %v3 = vpop.s32.mrf.mxu0\n") +
                                         "  %4 = vst [vmem:[#allocation0] sm:$0xff] %v3\n");
  EXPECT_EQ(outcome.stored_integers[0], 32 * -1 * 255);
}

TEST(MatrixOpcodes, EightBitFloats) {
  const Outcome outcome = run("v5e", R"(
  %1 = vmatpush.bf8.bf16.msra.mxu0 0x40404040
  %2 = vmatmul.f8e5m2.bf16.gmra.mxu0 0x3c3c3c3c
)" + repeat(4, "  %v3 = vpop.f32.mrf.mxu0\n") +
                                         "  %4 = vst [vmem:[#allocation0] sm:$0xff] %v3\n");
  EXPECT_EQ(outcome.stored[0], 64);
}

TEST(MatrixOpcodes, AMaskLeavesElementsOut) {
  const Outcome outcome = run("v5e", R"(
  %vm0 = vcmask 31744
  %1 = vmatpush.msra.mxu0 2.0
  %2 = vmatmul.msk.f32.gmra.mxu0 %vm0, 1.0
  %v3 = vpop.f32.mrf.mxu0
  %4 = vst [vmem:[#allocation0] sm:$0xff] %v3
)");
  EXPECT_THAT(first(outcome, 1), ElementsAre(8));  // lanes 0 to 3
}

// Columns 1 to 128 from the push, the others from what was prepared; lanes 1 to 128 from the product, the others
// prepared.
constexpr const char* store_both = R"(
  %20 = vst [vmem:[#allocation0] sm:$0xff] %v10
  %21 = vst [vmem:[#allocation0 + $0x8] sm:$0xff] %v11
)";

TEST(MatrixOpcodes, WideProductsTakeTwoRegistersEach) {
  const Outcome outcome = run("v6e", std::string(R"(
  %1 = vmatprep.subr.mxu0 3.0
  %2 = vmatpush1.msra.mxu0 2.0
  %3 = vmatprep.subr.mxu0 7.0
  %4 = vmatpush2.msra.mxu0 5.0
  %5 = vmatprep.mubr.f32.mxu0 10.0
  %6 = vmatmul.mubr.f32.gmra.mxu0 1.0
  %v10 = vpop.f32.mrf.mxu0
  %v11 = vpop.f32.mrf.mxu0
)") + store_both);
  EXPECT_THAT(first(outcome, 2), ElementsAre(8 * 2 + 80 * 5, 8 * 3 + 80 * 7));
}

TEST(MatrixOpcodes, TwoProductsSideBySide) {
  const Outcome outcome = run("v6e", std::string(R"(
  %1 = vmatprep.subr.mxu0 3.0
  %2 = vmatpush3.msra.mxu0 2.0
  %5 = vmatprep.mubr.f32.mxu0 10.0
  %6 = vmatmul.mubr.f32.vlgmr.msra.gmra.mxu0 1.0
  %v10 = vpop.f32.mrf.mxu0
  %v11 = vpop.f32.mrf.mxu0
)") + store_both);
  EXPECT_THAT(first(outcome, 2), ElementsAre(16, 240));
}

TEST(MatrixOpcodes, TheResultBufferAddsUntilItIsPopped) {
  const Outcome outcome = run("tpu7x", std::string(R"(
  %1 = vmatprep.subr.mxu0 3.0
  %2 = vmatpush1.msra.mxu0 2.0
  %3 = vmatprep.mubr.f32.mxu0 0.0
  %4 = vmatmul.mubr.f32.vlgmr.msra.gmra.mrb[4].mxu0 1.0
  %5 = vmatmul.mubr.f32.gmra.mrb[4].mxu0 10.0
  %v10 = vpop.f32.mrb[5].mxu0
  %6 = vmatmul.mubr.f32.gmra.mrb[5].mxu0 1.0
  %v11 = vpop.f32.mrb[5].mxu0
)") + store_both);
  EXPECT_THAT(first(outcome, 2), ElementsAre(11 * 24, 16));
  EXPECT_TRUE(outcome.findings.empty());
}

TEST(MatrixOpcodes, WithoutNumbersTheResultBufferIsAQueue) {
  const Outcome outcome = run("tpu7x", std::string(R"(
  %1 = vmatprep.subr.mxu0 3.0
  %2 = vmatpush1.msra.mxu0 2.0
  %3 = vmatprep.mubr.f32.mxu0 0.0
  %4 = vmatmul.mubr.f32.gmra.mrb[0].mxu0 1.0
  %v10 = vpop.f32.mrb[0].mxu0
  %v11 = vpop.f32.mrb[0].mxu0
)") + store_both);
  EXPECT_THAT(first(outcome, 2), ElementsAre(16, 24));
}

TEST(MatrixOpcodes, F32IsRoundedToBf16UnlessTheOptionSaysNot) {
  const std::string lines = R"(
  %1 = vmatpush.msra.mxu0 1.001953125
  %2 = vmatmul.f32.gmra.mxu0 1.0
  %v3 = vpop.f32.mrf.mxu0
  %4 = vst [vmem:[#allocation0] sm:$0xff] %v3
)";
  EXPECT_EQ(run("v4", lines).stored[0], 8);
  EXPECT_EQ(run("v4", lines, {.round_matmul_operands = false}).stored[0], 8 * 1.001953125F);
}

// --- programs that no compiler should make

TEST(MatrixOpcodes, APopOfNothingIsFound) {
  const Outcome queue = run("v5e", R"(
  %v1 = vpop.f32.mrf.mxu0
  %2 = vst [vmem:[#allocation0] sm:$0xff] %v1
)");
  EXPECT_THAT(queue.findings, ElementsAre(FindingKind::EmptyQueue));
  EXPECT_FALSE(queue.defined[0]);
  const Outcome buffer = run("tpu7x", R"(
  %v1 = vpop.f32.mrb[9].mxu0
  %2 = vst [vmem:[#allocation0] sm:$0xff] %v1
)");
  EXPECT_THAT(buffer.findings, ElementsAre(FindingKind::EmptyQueue));
  EXPECT_FALSE(buffer.defined[0]);
}

TEST(MatrixOpcodes, AProductWithoutWeightsIsUndefined) {
  const Outcome outcome = run("v5e", R"(
  %1 = vmatmul.f32.gmra.mxu0 1.0
  %v2 = vpop.f32.mrf.mxu0
  %3 = vst [vmem:[#allocation0] sm:$0xff] %v2
)");
  EXPECT_FALSE(outcome.defined[0]);
}

TEST(MatrixOpcodes, MoreWeightsThanThereAreRowsAreNotModelled) {
  const Outcome outcome = run("v5e", repeat(17, "  %1 = vmatpush.msra.mxu0 1.0\n"));
  ASSERT_FALSE(outcome.status);
  EXPECT_EQ(outcome.status.error().kind, ErrorKind::Unsupported);
}

// --- every name that the seven generations' dumps have

class MatrixNames : public ::testing::TestWithParam<const char*> {};

TEST_P(MatrixNames, AreKnown) {
  const OpcodeMatch match = find_opcode(GetParam());
  ASSERT_NE(match.info, nullptr);
  EXPECT_EQ(match.info->unit, Unit::Matrix);
  EXPECT_LE(match.choice.size(), static_cast<size_t>(kMaxChoices));
}

INSTANTIATE_TEST_SUITE_P(
    MatrixOpcodes, MatrixNames,
    ::testing::Values(
        "vmatpush.msra.mxu0", "vmatpush.msrb.mxu3", "vmatpush.hi.xpose.msk.msra.mxu1", "vmatpush.low.msra.mxu0",
        "vmatpush.bf16.xpose.msk.msra.mxu2", "vmatpush.s8.xpose.msra.mxu0", "vmatpush.u8.xpose.msk.msra.mxu0",
        "vmatpush.byte.msra.mxu1", "vmatpush.bf8.bf16.xpose.msk.msra.mxu0", "vmatpush.f8e4m3.xpose.msra.mxu0",
        "vmatpush1.xpose.msk.msra.mxu0", "vmatpush2.u8.xpose.msra.mxu1", "vmatpush3.f8e5m2.xpose.msk.msra.mxu0",
        "vmatpush3.bf8.bf16.xpose.msra.mxu0", "vmatprep.subr.mxu0", "vmatprep.subr.msk.bf16.mxu0",
        "vmatprep.subr.bf8.bf16.mxu0", "vmatprep.subr.f8e4m3.mxu1", "vmatprep.mubr.f32.mxu0",
        "vmatprep.mubr.msk.f8e5m2.bf16.mxu0", "vmatprep.mubr.f8e4m3fn.mxu0", "vmatmul.bf16.gmra.mxu0",
        "vmatmul.msk.f32.vlgmr.msrb.gmra.mxu2", "vmatmul.hi.msk.f32.dwg.msra.gmra.mxu0",
        "vmatmul.low.f32.dwg.msra.gmra.mxu1", "vmatmul.f8e5m2.bf16.vlgmr.msra.gmra.mxu0", "vmatmul.msk.u8.gmra.mxu0",
        "vmatmul.mubr.msk.s8.vlgmr.msra.gmra.mxu1", "vmatmul.mubr.f8e5m2.bf16.gmra.mxu0",
        "vmatmul.f32.gmra.mrb[0].mxu0", "vmatmul.mubr.msk.f8e4m3fn.vlgmr.msra.gmra.mrb[252].mxu1",
        "vmatpush.lsf.bf16.msk.msk.msrb.mxu1", "vllmr.16.mxu2", "vmatmul.lmr.bf16.vlgmr.msra.gmra.16.mxu2", "vdwg.mxu3",
        "vpop.f32.mrf.mxu0", "vpop.s32.mrf.mxu3", "vpop.f32.mrb[255].mxu1"));

TEST(MatrixOpcodes, OtherNamesAreNot) {
  for (const char* name : {"vmatpush.msrc.mxu0", "vmatmul.f64.gmra.mxu0", "vmatmul.f32.gmra.mrb[].mxu0",
                           "vmatmul.f32.gmra.mrb[1.mxu0", "vmatmul.f32.gmra", "vmatpush4.msra.mxu0"})
    EXPECT_EQ(find_opcode(name).info, nullptr) << name;
}

}  // namespace
}  // namespace sapper::llo
