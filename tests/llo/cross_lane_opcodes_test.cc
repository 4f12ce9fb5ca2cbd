// Rotates, permutes, reductions and transposes against plain index arithmetic; the queues of their results.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "llo/decode.h"
#include "llo/text.h"
#include "tests/llo/random_vreg.h"
#include "tests/llo/single_instruction.h"

namespace sapper::llo::testing {
namespace {

int place(int sublane, int lane) { return sublane * kLanes + lane; }

RC_GTEST_PROP(CrossLaneOpcodes, MovesFromLaneToLane, ()) {
  std::mt19937 random(*rc::gen::arbitrary<uint32_t>());
  const Vreg from = any_vreg(random);
  const uint32_t amount = random() % 300;
  Surroundings with;
  with.scalars = {amount};
  const Vreg rotated = result_of("vrot.lane.b32.xlu0", {from}, with);
  const Vreg spread = result_of("vbcast.lane.b32.xlu0", {from}, Surroundings{.scalars = {amount % kLanes}});
  const Vreg stepped = result_of("vbcast.lane.b32.xlu0", {from}, Surroundings{.scalars = {amount % kLanes | 256}});
  for (int s = 0; s < kSublanes; ++s)
    for (int l = 0; l < kLanes; ++l) {
      RC_ASSERT(rotated.word[place(s, static_cast<int>(l + amount) % kLanes)] == from.word[place(s, l)]);
      RC_ASSERT(spread.word[place(s, l)] == from.word[place(s, static_cast<int>(amount % kLanes))]);
      RC_ASSERT(stepped.word[place(s, l)] == from.word[place(s, static_cast<int>(amount + s) % kLanes)]);
    }
}

RC_GTEST_PROP(CrossLaneOpcodes, MovesFromSublaneToSublane, ()) {
  std::mt19937 random(*rc::gen::arbitrary<uint32_t>());
  const Vreg from = any_vreg(random);
  const Vreg other = any_vreg(random);
  Vreg pattern;
  for (uint32_t& word : pattern.word) word = random() % 8;
  const Vreg even = result_of("vrot.slane", {from, splat(3)});
  const Vreg uneven = result_of("vrot.slane", {from, pattern});
  const Vreg down = result_of("vrot.slane.down", {from});
  const Vreg words = result_of("vperm.slane", {from, pattern});
  const Vreg low = result_of("vcombine.low", {from, other});
  const Vreg high = result_of("vcombine.high", {from, other});
  for (int s = 0; s < kSublanes; ++s)
    for (int l = 0; l < kLanes; ++l) {
      const auto at = static_cast<int>(pattern.word[place(s, l)]);
      RC_ASSERT(even.word[place(s, l)] == from.word[place((s + 3) % kSublanes, l)]);
      RC_ASSERT(uneven.word[place(s, l)] == from.word[place((s + at) % kSublanes, l)]);
      RC_ASSERT(down.word[place(s, l)] == from.word[place((s + 1) % kSublanes, l)]);
      RC_ASSERT(words.word[place(s, l)] == from.word[place(at, l)]);
      RC_ASSERT(low.word[place(s, l)] == (s < 4 ? from : other).word[place(s % 4, l)]);
      RC_ASSERT(high.word[place(s, l)] == (s < 4 ? from : other).word[place(4 + s % 4, l)]);
    }
}

RC_GTEST_PROP(CrossLaneOpcodes, WideGenerationsPermuteBytes, ()) {
  std::mt19937 random(*rc::gen::arbitrary<uint32_t>());
  const Vreg from = any_vreg(random);
  const Vreg pattern = any_vreg(random);
  Surroundings with;
  with.options.generation.matrix_size = 256;
  const Vreg bytes = result_of("vperm.slane", {from, pattern}, with);
  for (int i = 0; i < kVregWords; ++i)
    for (int byte = 0; byte < 4; ++byte) {
      const uint32_t at = pattern.word[i] >> (8 * byte) & 31;
      const uint32_t want = from.word[place(static_cast<int>(at % 8), i % kLanes)] >> (at / 8 * 8) & 0xff;
      RC_ASSERT((bytes.word[i] >> (8 * byte) & 0xff) == want);
    }
}

TEST(CrossLaneOpcodes, ReductionsFillTheSublane) {
  Vreg from;
  for (int i = 0; i < kVregWords; ++i)
    from.word[i] = std::bit_cast<uint32_t>(static_cast<float>(i % kLanes + i / kLanes));
  const Vreg sum = result_of("vadd.xlane.f32.xlu0", {from});
  const Vreg largest = result_of("vmax.xlane.f32.xlu0", {from});
  const Vreg smallest = result_of("vmin.xlane.f32.xlu0", {from});
  for (int s = 0; s < kSublanes; ++s)
    for (int l = 0; l < kLanes; ++l) {
      EXPECT_EQ(std::bit_cast<float>(sum.word[place(s, l)]), static_cast<float>(127 * 64 + 128 * s));
      EXPECT_EQ(std::bit_cast<float>(largest.word[place(s, l)]), static_cast<float>(127 + s));
      EXPECT_EQ(std::bit_cast<float>(smallest.word[place(s, l)]), static_cast<float>(s));
    }
}

TEST(CrossLaneOpcodes, OneUndefinedLaneSpoilsTheSumOfItsSublane) {
  Value from{splat(0), {}};
  from.undefined.word[place(2, 77)] = 1;
  const std::vector<Value> sum = run("vadd.xlane.f32.xlu0", {from});
  for (int i = 0; i < kVregWords; ++i) EXPECT_EQ(sum[0].undefined.word[i], i / kLanes == 2 ? ~0U : 0U);
}

// --- programs: queues and transposes

// Runs SSA text whose operands are rows of VMEM, #allocation0 in and #allocation1 out.
struct TextRun {
  Program program;
  Code code;
  std::unique_ptr<Machine> machine;
};
std::unique_ptr<TextRun> run_text(const std::string& body, const std::vector<Vreg>& in, int out_rows) {
  const auto allocation = [](int number, size_t rows) {
    return fmt::format("  #allocation{} [shape = 'u8[{}]{{0}}', space=vmem, size = {:#x}, scoped, tag = 'room']\n",
                       number, rows * 512, rows * 512);
  };
  auto run = std::make_unique<TextRun>();
  auto program = parse_program(
      "$region0: #{test}\n" + allocation(0, in.size() * 8) + allocation(1, static_cast<size_t>(out_rows)) + body,
      "test.txt");
  EXPECT_TRUE(program) << program.error().describe();
  if (!program) return nullptr;
  run->program = std::move(*program);
  auto code = decode(run->program);
  EXPECT_TRUE(code) << code.error().describe();
  if (!code) return nullptr;
  run->code = std::move(*code);
  run->machine = std::make_unique<Machine>(MachineOptions{});
  EXPECT_TRUE(run->machine->load(run->code));
  Memory& vmem = run->machine->memory(Space::Vmem);
  const Memory::Piece* last = vmem.piece_below(UINT32_MAX);
  const uint64_t end = last == nullptr ? 0 : last->first_word;
  for (uint64_t word = 0; word < end; word += kRowWords) {  // the first piece, where the program uses one
    const Memory::Piece* piece = vmem.piece_at(word, 1);
    if (piece == nullptr) continue;
    for (size_t k = 0; k < in.size(); ++k) std::copy_n(in[k].word, kVregWords, vmem.words(word + k * kVregWords));
    for (uint64_t row = 0; row < in.size() * kSublanes; ++row)
      vmem.write_undefined(word + row * kRowWords, kRowWords, nullptr);
    break;
  }
  const Status status = run->machine->run();
  EXPECT_TRUE(status) << status.error().describe();
  return run;
}
uint32_t out_word(TextRun& run, uint64_t at) {
  Memory& vmem = run.machine->memory(Space::Vmem);
  return *vmem.words(vmem.piece_below(UINT32_MAX)->first_word + at);
}

TEST(CrossLaneOpcodes, InSsaProgramsATokenNamesItsResult) {
  std::mt19937 random(3);
  const Vreg from = any_vreg(random);
  const auto run = run_text(R"(
  %v0 = vld [vmem:[#allocation0] sm:$0xff]
  %1 = vrot.lane.b32.xlu0 %v0, 1
  %2 = vrot.lane.b32.xlu0 %v0, 2
  %v3 = vpop.permute.xlu0 %2
  %v4 = vpop.permute.xlu0 %1
  %5 = vst [vmem:[#allocation1] sm:$0x1] /*vst_source=*/%v3
  %6 = vst [vmem:[#allocation1 + $0x1] sm:$0x1] /*vst_source=*/%v4
)",
                            {from}, 8);
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(out_word(*run, 5), from.word[3]);
  EXPECT_EQ(out_word(*run, kRowWords + 5), from.word[4]);
  EXPECT_TRUE(run->machine->findings().empty());
}

TEST(CrossLaneOpcodes, APopOfNothingIsFound) {
  const auto run = run_text("  %v0 = vpop.xlane.xlu1\n", {Vreg{}}, 8);
  ASSERT_NE(run, nullptr);
  ASSERT_EQ(run->machine->findings().size(), 1U);
  EXPECT_EQ(run->machine->findings()[0].kind, FindingKind::EmptyQueue);
}

TEST(CrossLaneOpcodes, PermutesByTheirPattern) {
  std::mt19937 random(4);
  const Vreg from = any_vreg(random);
  Vreg pattern;
  for (uint32_t& word : pattern.word) word = random() % kLanes;
  const auto run = run_text(R"(
  %v0 = vld [vmem:[#allocation0] sm:$0xff]
  %v1 = vld [vmem:[#allocation0 + $0x8] sm:$0xff]
  %2 = vset.pattern.permute.xlu0 %v1
  %3 = vset.pattern.permute.xlu0 %v0
  %4 = vperm.lane.xlu0 /*pattern=*/%2, /*source=*/%v0
  %v5 = vpop.permute.xlu0 %4
  %6 = vst [vmem:[#allocation1] sm:$0xff] /*vst_source=*/%v5
)",
                            {from, pattern}, 8);
  ASSERT_NE(run, nullptr);
  for (int s = 0; s < kSublanes; ++s)
    for (int l = 0; l < kLanes; ++l)
      ASSERT_EQ(out_word(*run, static_cast<uint64_t>(place(s, l))),
                from.word[place(s, static_cast<int>(pattern.word[place(s, l)]))]);
}

// A transpose of `n` registers of `width` lanes.
void expect_transpose(int n, int width) {
  std::mt19937 random(5);
  std::vector<Vreg> in;
  std::string body;
  for (int k = 0; k < n; ++k) {
    in.push_back(any_vreg(random));
    body += fmt::format("  %v{} = vld [vmem:[#allocation0 + ${:#x}] sm:$0xff]\n", k, 8 * k);
  }
  for (int k = 0; k < n; ++k)
    body += fmt::format("  %{} = vxpose.xlu1.b32.{} [{}/{}] /*vx=*/%v{}, /*width=*/{}\n", 100 + k,
                        n == 1       ? "start.end"
                        : k == n - 1 ? "end"
                        : k == 0     ? "start"
                                     : "cont",
                        k + 1, n, k, width);
  for (int k = 0; k < width / 8; ++k)
    body +=
        fmt::format("  %v{} = vpop.trf.xlu1\n  %{} = vst [vmem:[#allocation1 + ${:#x}] sm:$0xff] /*vst_source=*/%v{}\n",
                    200 + k, 300 + k, 8 * k, 200 + k);
  const auto run = run_text(body, in, width);
  ASSERT_NE(run, nullptr);
  for (int row = 0; row < width; ++row)
    for (int column = 0; column < 8 * n; ++column)
      ASSERT_EQ(out_word(*run, static_cast<uint64_t>(place(row, column))),
                in[static_cast<size_t>(column / 8)].word[place(column % 8, row)]);
  EXPECT_TRUE(run->machine->findings().empty());
}

TEST(TransposeOpcodes, Words) {
  expect_transpose(16, 128);
  expect_transpose(8, 128);
  expect_transpose(13, 40);
  expect_transpose(2, 64);
  expect_transpose(1, 16);
}

TEST(TransposeOpcodes, PairsOfPackedHalves) {
  std::mt19937 random(6);
  std::vector<Vreg> in;
  for (int k = 0; k < 4; ++k) in.push_back(any_vreg(random));
  const auto run = run_text(R"(
  %v0 = vld [vmem:[#allocation0] sm:$0xff]
  %v1 = vld [vmem:[#allocation0 + $0x8] sm:$0xff]
  %v2 = vld [vmem:[#allocation0 + $0x10] sm:$0xff]
  %v3 = vld [vmem:[#allocation0 + $0x18] sm:$0xff]
  %4 = vxpose.binary.xlu0.c.b16.start [1/16] (narrow) %v0, %v2, 16
  %5 = vxpose.binary.xlu0.c.b16.end [2/16] (narrow) %v1, %v3, 16
  %v6 = vpop.trf.xlu0
  %v7 = vpop.trf.xlu0
  %8 = vst [vmem:[#allocation1] sm:$0xff] /*vst_source=*/%v6
  %9 = vst [vmem:[#allocation1 + $0x8] sm:$0xff] /*vst_source=*/%v7
)",
                            in, 16);
  ASSERT_NE(run, nullptr);
  const auto half = [](uint32_t word, int row) { return word >> (row % 2 * 16) & 0xffff; };
  for (int which = 0; which < 2; ++which)  // the second operand's comes first
    for (int row = 0; row < 16; ++row)
      for (int column = 0; column < 32; ++column) {
        const Vreg& from = in[static_cast<size_t>((which == 0 ? 2 : 0) + column / 16)];
        const uint32_t want = half(from.word[place(column % 16 / 2, row)], column);
        const auto at = static_cast<uint64_t>(which * kVregWords + place(row / 2, column));
        ASSERT_EQ(half(out_word(*run, at), row), want) << which << " " << row << " " << column;
      }
}

TEST(TransposeOpcodes, LanesWithoutRowsAreZero) {
  Surroundings with;
  with.scalars = {8};
  const std::vector<Value> results = run("vxpose.xlu0.b32.end", {Value{splat(1), {}}}, with);
  ASSERT_EQ(results.size(), 1U);
  for (int i = 0; i < kVregWords; ++i) {
    EXPECT_EQ(results[0].undefined.word[i], 0U);
    EXPECT_EQ(results[0].bits.word[i], i % kLanes < 8 ? 1U : 0U);
  }
}

}  // namespace
}  // namespace sapper::llo::testing
