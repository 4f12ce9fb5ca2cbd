// From programs to code: slots, phis, bundles, delay slots. Programs are small texts; what they do is seen by running.
#include "llo/decode.h"

#include <gtest/gtest.h>

#include "llo/generation.h"
#include "llo/machine.h"
#include "llo/text.h"

namespace sapper::llo {
namespace {

// A program with its code on a machine that ran it.
struct Ran {
  Program program;
  Code code;
  std::unique_ptr<Machine> machine;
  Status status;
};

std::unique_ptr<Ran> run(const std::string& text, std::string_view generation = "v5e") {
  auto ran = std::make_unique<Ran>();
  auto program = parse_program(text, "test.txt");
  EXPECT_TRUE(program) << program.error().describe();
  if (!program) return ran;
  ran->program = std::move(*program);
  auto code = decode(ran->program, *generation_of(generation));
  EXPECT_TRUE(code) << code.error().describe();
  if (!code) return ran;
  ran->code = std::move(*code);
  ran->machine = std::make_unique<Machine>(MachineOptions{.step_limit = 100000});
  const Status loaded = ran->machine->load(ran->code);
  EXPECT_TRUE(loaded) << loaded.error().describe();
  ran->status = ran->machine->run();
  EXPECT_TRUE(ran->status) << ran->status.error().describe();
  return ran;
}

// The word at `offset` of the first piece of SMEM.
uint32_t word(const Ran& ran, uint64_t offset) {
  const Memory& memory = ran.machine->memory(Space::Smem);
  const Memory::Piece* piece = memory.piece_below(UINT32_MAX);
  return *memory.words(piece->first_word + offset);
}

Error decoding_error(const std::string& text) {
  auto program = parse_program(text, "test.txt");
  EXPECT_TRUE(program) << program.error().describe();
  const auto code = decode(*program);
  EXPECT_FALSE(code);
  return code ? Error() : code.error();
}

constexpr const char* kRoom = "  #allocation0 [shape = 'u32[8]{0}', space=smem, size = 0x20, scoped, tag = 'room']\n";

TEST(Decode, ValuesAndImmediates) {
  const auto ran = run(std::string("$region0:\n") + kRoom + R"(
  %s0 = sadd.s32 20, 22
  %1 = sst [smem:[#allocation0]] %s0
  %s2 = sadd.s32 %s0, -2
  %3 = sst [smem:[#allocation0 + $0x1]] %s2
)");
  EXPECT_EQ(word(*ran, 0), 42);
  EXPECT_EQ(word(*ran, 1), 40);
  EXPECT_TRUE(ran->machine->findings().empty());
}

// Two phis that swap their values each time round: they are copied at once.
TEST(Decode, PhisAreParallel) {
  const auto ran = run(std::string("$region0:\n") + kRoom + R"(
  $region1: parent=0 // loop_pre_header
    _
  $region2: parent=0 // loop_header
    %s0 = sphi 0, %s4
    %s1 = sphi 10, %s2
    %s2 = sphi 20, %s1
    %p3 = scmp.ge.s32.totalorder %s0, 3
  $region3: parent=0 // loop_header_branch
    %5 = sbr.rel (%p3) target = $region6
  $region4: parent=0 // loop_body
    %s4 = sadd.s32 %s0, 1
  $region5: parent=0 // loop_footer_branch
    %6 = sbr.rel target = $region2
  $region6: parent=0 // loop_exit
    %7 = sst [smem:[#allocation0]] %s1
    %8 = sst [smem:[#allocation0 + $0x1]] %s2
)");
  EXPECT_EQ(word(*ran, 0), 20);
  EXPECT_EQ(word(*ran, 1), 10);
}

// All reads of a bundle come before its writes: registers are swapped.
TEST(Decode, ABundleReadsBeforeItWrites) {
  const auto ran = run(R"(
     0   :  { %s0_s0 = smov.u32 7  ;;  %s1_s1 = smov.u32 8  ;;  %s9_s3 = smov.u32 [#allocation0_spill] }
   0x1   :  { %s2_s1 = smov.u32 %s0_s0  ;;  %s3_s0 = smov.u32 %s1_s1 }
   0x2   :  { %4 = sst [smem:[#allocation0_spill]] %s3_s0 }
   0x3   :  { %5 = sst [smem:[#allocation0_spill + $0x1]] %s2_s1 }
)");
  EXPECT_EQ(word(*ran, 0), 8);
  EXPECT_EQ(word(*ran, 1), 7);
}

// A reloaded address in another register than its first one: int_to_ptr moves it. Else it is no move, and names what
// its own bundle writes.
TEST(Decode, AnAliasInAnotherRegisterMoves) {
  const auto ran = run(R"(
     0   :  { %s0_s0 = smov.u32 7  ;;  %s9_s3 = smov.u32 [#allocation0_spill] }
   0x1   :  { %s1_s5 = int_to_ptr.vmem [resolvable:$true] %s0_s0  ;;  %s2_s0 = smov.u32 9 }
   0x2   :  { %s3_s0 = sadd.s32 %s2_s0, 1  ;;  %s4_s0 = int_to_ptr.vmem [resolvable:$true] %s3_s0 }
   0x3   :  { %5 = sst [smem:[#allocation0_spill]] %s1_s5 }
   0x4   :  { %6 = sst [smem:[#allocation0_spill + $0x1]] %s4_s0 }
)");
  EXPECT_EQ(word(*ran, 0), 7);
  EXPECT_EQ(word(*ran, 1), 10);
}

// The four bundles behind a branch still run.
TEST(Decode, FourDelaySlots) {
  const char* const text = R"(
     0   :  { %s0_s0 = smov.u32 0 }
   0x1   :  { %1 = sbr.rel target = $region2 }
   0x2   :  { %s2_s0 = sadd.s32 %s0_s0, 1 }
   0x3   :  { %s3_s0 = sadd.s32 %s2_s0, 1 }
   0x4   :  { }
   0x5   :  { %s4_s0 = sadd.s32 %s3_s0, 1 }
   0x6   :  { %s5_s0 = sadd.s32 %s4_s0, 1 }
   0x7   :  { %6 = sst [smem:[#allocation0_spill]] %s0_s0 } /* Start region 2 :: End region 2 */
)";
  EXPECT_EQ(word(*run(text), 0), 3);
}

// Of the empty bundles at the end of a branch's six delay slots on tpu7x one is left, and the end of the branch's
// region is lost with the others. An empty bundle before it is a slot like any other.
TEST(Decode, MergedDelaySlotsOfABranchForward) {
  const char* const text = R"(
     0   :  { %s0_s0 = smov.u32 0  ;;  %p1_p0 = scmp.lt.s32.totalorder 1, 2 } /* Start region 1 */
   0x1   :  { %2 = sbr.rel (%p1_p0) target = $region3 }
   0x2   :  { }
   0x3   :  { %s3_s0 = sadd.s32 %s0_s0, 1 }
   0x4   :  { }
   0x5   :  { %s4_s0 = sadd.s32 %s3_s0, 8 } /* Start region 2 :: End region 2 */
   0x6   :  { %6 = sst [smem:[#allocation0_spill]] %s0_s0 } /* Start region 3 :: End region 3 */
   0x7   :  { %s7_s1 = smov.u32 0 }
   0x8   :  { %s8_s1 = smov.u32 0 }
)";
  EXPECT_EQ(word(*run(text, "tpu7x"), 0), 1);
}

// What follows a loop runs once, though it stands where the slots of the branch back would be.
TEST(Decode, MergedDelaySlotsOfABranchBack) {
  const char* const text = R"(
     0   :  { %s0_s0 = smov.u32 0  ;;  %s1_s1 = smov.u32 0 }
   0x1   :  { %s2_s0 = sadd.s32 %s0_s0, 1 } /* Start region 1 */
   0x2   :  { %p3_p0 = scmp.lt.s32.totalorder %s2_s0, 3 }
   0x3   :  { %4 = sbr.rel (%p3_p0) target = $region1 }
   0x4   :  { }
   0x5   :  { %s5_s1 = sadd.s32 %s1_s1, 1 }
   0x6   :  { }
   0x7   :  { %s6_s1 = sadd.s32 %s5_s1, 16 }
   0x8   :  { %7 = sst [smem:[#allocation0_spill]] %s6_s1 }
   0x9   :  { %s8_s2 = smov.u32 0 }
)";
  EXPECT_EQ(word(*run(text, "tpu7x"), 0), 3 + 16);
}

// Nothing is merged where the last of the six slots ends the branch's region, be it full or, behind the program's last
// branch, empty.
TEST(Decode, DelaySlotsThatAreNotMerged) {
  const char* const text = R"(
     0   :  { %s0_s0 = smov.u32 0  ;;  %s1_s1 = smov.u32 0 } /* Start region 1 :: End region 1 */
   0x1   :  { %2 = sbr.rel target = $region4 } /* Start region 2 */
   0x2   :  { %s3_s0 = sadd.s32 %s0_s0, 1 }
   0x3   :  { }
   0x4   :  { %s4_s0 = sadd.s32 %s3_s0, 1 }
   0x5   :  { %s5_s0 = sadd.s32 %s4_s0, 1 }
   0x6   :  { %s6_s0 = sadd.s32 %s5_s0, 1 }
   0x7   :  { %s7_s0 = sadd.s32 %s6_s0, 1 } /* End region 2 */
   0x8   :  { %s8_s0 = sadd.s32 %s7_s0, 64 } /* Start region 3 :: End region 3 */
   0x9   :  { %s9_s1 = sadd.s32 %s1_s1, 1 } /* Start region 4 */
   0xa   :  { %p10_p0 = scmp.lt.s32.totalorder %s9_s1, 3 }
   0xb   :  { %11 = sbr.rel (%p10_p0) target = $region4 }
   0xc   :  { }
   0xd   :  { }
   0xe   :  { }
   0xf   :  { }
  0x10   :  { }
  0x11   :  { } /* End region 4 */
  0x12   :  { %12 = sst [smem:[#allocation0_spill]] %s8_s0 }
  0x13   :  { %13 = sst [smem:[#allocation0_spill + $0x1]] %s9_s1 }
)";
  const auto ran = run(text, "tpu7x");
  EXPECT_EQ(word(*ran, 0), 5);
  EXPECT_EQ(word(*ran, 1), 3);
}

// The slot that is left of one branch is not taken for that of the branch before it.
TEST(Decode, MergedDelaySlotsOfTwoBranches) {
  const char* const text = R"(
     0   :  { %s0_s0 = smov.u32 0  ;;  %p1_p0 = scmp.lt.s32.totalorder 1, 2 } /* Start region 1 */
   0x1   :  { %2 = sbr.rel (%p1_p0) target = $region4 }
   0x2   :  { }
   0x3   :  { %s3_s0 = sadd.s32 %s0_s0, 1  ;;  %4 = sbr.rel (%p1_p0) target = $region4 } /* Start region 2 */
   0x4   :  { }
   0x5   :  { %s5_s0 = sadd.s32 %s3_s0, 8 } /* Start region 3 */
   0x6   :  { %6 = sst [smem:[#allocation0_spill]] %s0_s0 } /* Start region 4 */
   0x7   :  { %s7_s1 = smov.u32 0 }
   0x8   :  { %s8_s1 = smov.u32 0 }
)";
  EXPECT_EQ(word(*run(text, "tpu7x"), 0), 0);
}

TEST(Decode, GuardsDecide) {
  const auto ran = run(std::string("$region0:\n") + kRoom + R"(
  %p0 = scmp.lt.s32.totalorder 1, 2
  %1 = sst [smem:[#allocation0]] 1 (%p0)
  %2 = sst [smem:[#allocation0 + $0x1]] 1
  %3 = sst [smem:[#allocation0 + $0x1]] 2 (!%p0)
)");
  EXPECT_EQ(word(*ran, 0), 1);
  EXPECT_EQ(word(*ran, 1), 1);
}

TEST(Decode, WhatIsUndefinedIsReportedWhereItDecides) {
  const auto ran = run(std::string("$region0:\n") + kRoom + R"(
  %s0 = sld [smem:[#allocation0]]
  %p1 = scmp.lt.s32.totalorder %s0, 2
  %2 = sst [smem:[#allocation0]] 1 (%p1)
)");
  ASSERT_EQ(ran->machine->findings().size(), 1);
  EXPECT_EQ(ran->machine->findings()[0].kind, FindingKind::UndefinedControl);
  EXPECT_EQ(ran->program.instructions[ran->machine->findings()[0].instruction].opcode, "sst");
}

TEST(Decode, AnUnknownOpcodeIsNamedWithItsLine) {
  const Error error = decoding_error("$region0:\n  %v0 = vfrobnicate.f32 1.0\n");
  EXPECT_EQ(error.kind, ErrorKind::Unsupported);
  EXPECT_EQ(error.where.line, 2);
  EXPECT_NE(error.message.find("vfrobnicate.f32"), std::string::npos);
}

TEST(Decode, AValueMustBeDefined) {
  const Error error = decoding_error("$region0:\n  %s0 = sadd.s32 %s7, 1\n");
  EXPECT_EQ(error.kind, ErrorKind::BadInput);
  EXPECT_NE(error.message.find("%s7"), std::string::npos);
}

TEST(Decode, AnEndlessLoopEndsAtTheLimit) {
  auto program =
      parse_program("$region0:\n  $region1: parent=0 // loop_header\n  %0 = sbr.rel target = $region1\n", "test.txt");
  ASSERT_TRUE(program);
  const auto code = decode(*program);
  ASSERT_TRUE(code) << code.error().describe();
  Machine machine(MachineOptions{.step_limit = 100000});
  ASSERT_TRUE(machine.load(*code));
  const Status status = machine.run();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::Resource);
}

}  // namespace
}  // namespace sapper::llo
