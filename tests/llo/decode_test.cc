// From programs to code: slots, phis, bundles, delay slots. Programs are small texts; what they do is seen by running.
#include "llo/decode.h"

#include <gtest/gtest.h>

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

std::unique_ptr<Ran> run(const std::string& text) {
  auto ran = std::make_unique<Ran>();
  auto program = parse_program(text, "test.txt");
  EXPECT_TRUE(program) << program.error().describe();
  if (!program) return ran;
  ran->program = std::move(*program);
  auto code = decode(ran->program);
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
