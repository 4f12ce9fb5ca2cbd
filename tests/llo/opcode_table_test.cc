// What holds for every row of the vector opcodes: definedness, aliasing of result and operand, and that every SIMD
// instruction set gives the same bits.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <random>

// The sets that the rows are compiled for.
#include "eval/simd_targets.h"
#include "hwy/targets.h"
#include "tests/llo/random_vreg.h"
#include "tests/llo/single_instruction.h"

namespace sapper::llo::testing {
namespace {

std::vector<OpcodeInfo> vector_rows() {
  std::vector<OpcodeInfo> rows;
  for (const auto subject : {vector_opcodes, compare_opcodes, mask_opcodes, convert_opcodes, pack_opcodes,
                             cross_lane_opcodes, transpose_opcodes, transcendental_opcodes, pseudo_opcodes})
    for (const OpcodeInfo& row : subject()) {
      const std::string_view name = row.name;
      if (!name.starts_with("v")) continue;
      // These need other instructions before them, or another core.
      if (name.find("ccrf") != name.npos || name.starts_with("vpop") || name.starts_with("vextract.high")) continue;
      rows.push_back(row);
    }
  return rows;
}

// A fifth of the rows, a different one for each seed: the properties below take many seeds.
std::vector<OpcodeInfo> some_rows(uint32_t seed) {
  std::vector<OpcodeInfo> rows;
  for (const OpcodeInfo& row : vector_rows())
    if (seed++ % 5 == 0) rows.push_back(row);
  return rows;
}

int count(std::string_view operands, std::string_view letters) {
  const std::string_view after = operands.substr(operands.find('=') + 1);
  return static_cast<int>(
      std::count_if(after.begin(), after.end(), [&](char c) { return letters.find(c) != letters.npos; }));
}

struct Case {
  std::vector<Value> vectors;
  Surroundings with;
};

// Operands and surroundings for a row; `undefined`: some of their bits are.
Case draw_case(const OpcodeInfo& row, uint32_t seed, bool undefined) {
  std::mt19937 random(seed);
  Case drawn;
  for (int k = 0; k < count(row.operands, "vm"); ++k) {
    Value value;
    const bool mask = row.operands.substr(row.operands.find('=') + 1).find('m') != std::string_view::npos && k == 0;
    value.bits = mask ? any_mask(random) : telling_vreg(random);
    if (undefined && random() % 4 != 0)
      for (int i = 0; i < kVregWords; ++i)
        if (random() % 4 == 0) value.undefined.word[i] = random() & random();
    drawn.vectors.push_back(value);
  }
  for (int k = 0; k < count(row.operands, "s"); ++k) drawn.with.scalars.push_back(random());
  if (row.name == "vpack.c.f32.eXmY") drawn.with.scalars[0] = 0xf15c;
  for (uint16_t& choice : drawn.with.choice) choice = 0;
  if (row.name.starts_with("vunpack")) drawn.with.choice[0] = random() % 2;
  if (row.name.starts_with("vxpose")) {
    drawn.with.choice[1] = 2;                         // end
    drawn.with.scalars[0] = 8 * (1 + random() % 16);  // the width
  }
  if (random() % 2 != 0) drawn.with.options.generation.matrix_size = 256;
  return drawn;
}

TEST(OpcodeTable, EveryRowHasADocumentationLine) {
  for (const OpcodeInfo& row : vector_rows()) EXPECT_GT(row.documentation.size(), 8U) << row.name;
}

// What is undefined in the operands changes only what is undefined in the results.
RC_GTEST_PROP(OpcodeTable, UndefinedBitsDoNotReachDefinedOnes, ()) {
  const auto seed = *rc::gen::arbitrary<uint32_t>();
  for (const OpcodeInfo& row : some_rows(seed)) {
    const Case one = draw_case(row, seed, /*undefined=*/true);
    Case other = one;
    std::mt19937 random(seed + 1);
    for (Value& value : other.vectors)
      for (int i = 0; i < kVregWords; ++i) value.bits.word[i] ^= value.undefined.word[i] & random();
    const std::vector<Value> a = run(row, one.vectors, one.with);
    const std::vector<Value> b = run(row, other.vectors, other.with);
    RC_ASSERT(a.size() == b.size());
    for (size_t k = 0; k < a.size(); ++k)
      for (int i = 0; i < kVregWords; ++i) {
        const uint32_t changed = (a[k].bits.word[i] ^ b[k].bits.word[i]) & ~a[k].undefined.word[i];
        if (changed != 0) RC_LOG() << row.name << " word " << i << std::hex << " changes in " << changed;
        RC_ASSERT(changed == 0U);
        RC_ASSERT(a[k].undefined.word[i] == b[k].undefined.word[i]);
      }
  }
}

// Defined operands give the same values whether or not the slow path with undefined bits is taken, and defined results.
RC_GTEST_PROP(OpcodeTable, DefinednessDoesNotChangeValues, ()) {
  const auto seed = *rc::gen::arbitrary<uint32_t>();
  for (const OpcodeInfo& row : some_rows(seed)) {
    Case drawn = draw_case(row, seed, /*undefined=*/true);
    const std::vector<Value> tracked = run(row, drawn.vectors, drawn.with);
    for (Value& value : drawn.vectors) value.undefined = {};
    const std::vector<Value> clean = run(row, drawn.vectors, drawn.with);
    RC_ASSERT(tracked.size() == clean.size());
    for (size_t k = 0; k < clean.size(); ++k) {
      if (!(tracked[k].bits == clean[k].bits)) RC_LOG() << row.name;
      RC_ASSERT(tracked[k].bits == clean[k].bits);
      if (row.name.starts_with("vxpose")) continue;  // lanes without rows are undefined
      if (!(clean[k].undefined == Vreg{})) RC_LOG() << row.name;
      RC_ASSERT(clean[k].undefined == Vreg{});
    }
  }
}

// Physical registers: the result may replace an operand.
RC_GTEST_PROP(OpcodeTable, TheResultMayReplaceAnOperand, ()) {
  const auto seed = *rc::gen::arbitrary<uint32_t>();
  for (const OpcodeInfo& row : some_rows(seed)) {
    if (row.operands[0] == 't' || count(row.operands, "vm") == 0) continue;
    Case drawn = draw_case(row, seed, /*undefined=*/true);
    const std::vector<Value> apart = run(row, drawn.vectors, drawn.with);
    drawn.with.result_in_first = true;
    const std::vector<Value> replaced = run(row, drawn.vectors, drawn.with);
    if (!(apart == replaced)) RC_LOG() << row.name;
    RC_ASSERT(apart == replaced);
  }
}

// Runs `body` as if the processor had only the instruction set `target` and those below it.
template <class Body>
void on_target(int64_t target, Body body) {
  hwy::SetSupportedTargetsForTest(target);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  body();
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

// Which of two NaNs an operation on floats gives is left to the compiler, who may exchange its operands.
bool gives_either_nan(const OpcodeInfo& row, const Case& drawn, int word, uint32_t a, uint32_t b) {
  const auto is_nan = [&](uint32_t bits, uint32_t lane, uint32_t infinity) {
    return (bits & lane) > (infinity & lane);
  };
  const auto lane_may_differ = [&](uint32_t lane, uint32_t infinity) {
    const auto nans = std::count_if(drawn.vectors.begin(), drawn.vectors.end(),
                                    [&](const Value& value) { return is_nan(value.bits.word[word], lane, infinity); });
    return nans >= 2 && is_nan(a, lane, infinity) && is_nan(b, lane, infinity);
  };
  if (row.name.ends_with(".f32")) return lane_may_differ(0x7fffffff, 0x7f800000);
  if (!row.name.ends_with(".bf16")) return false;
  const uint32_t differs = a ^ b;
  return ((differs & 0xffff) == 0 || lane_may_differ(0x7fff, 0x7f80)) &&
         (differs >> 16 == 0 || lane_may_differ(0x7fff0000, 0x7f800000));
}

RC_GTEST_PROP(OpcodeTable, EveryInstructionSetGivesTheSameBits, ()) {
  const auto seed = *rc::gen::arbitrary<uint32_t>();
  const auto flush = *rc::gen::arbitrary<bool>();
  const auto rows = some_rows(seed);
  std::vector<Case> cases;
  for (const OpcodeInfo& row : rows) {
    Case& drawn = cases.emplace_back(draw_case(row, seed, /*undefined=*/true));
    drawn.with.options.flush_subnormals = flush;
    drawn.with.options.perturb_transcendentals = seed % 2;
  }
  std::vector<std::vector<std::vector<Value>>> results;  // by set, row, result
  for (const int64_t target : hwy::SupportedAndGeneratedTargets())
    on_target(target, [&] {
      auto& of_rows = results.emplace_back();
      for (size_t row = 0; row < rows.size(); ++row)
        of_rows.push_back(run(rows[row], cases[row].vectors, cases[row].with));
    });
  RC_ASSERT(results.size() > 1U);
  for (size_t set = 1; set < results.size(); ++set)
    for (size_t row = 0; row < rows.size(); ++row)
      for (size_t k = 0; k < results[0][row].size(); ++k) {
        const Value& one = results[0][row][k];
        const Value& other = results[set][row][k];
        RC_ASSERT(one.undefined == other.undefined);
        for (int i = 0; i < kVregWords; ++i) {
          const uint32_t a = one.bits.word[i];
          const uint32_t b = other.bits.word[i];
          if (a == b || gives_either_nan(rows[row], cases[row], i, a, b)) continue;
          RC_LOG() << rows[row].name << " word " << i << std::hex << ": " << a << ", " << b;
          for (const Value& value : cases[row].vectors) RC_LOG() << std::hex << " of " << value.bits.word[i];
          RC_FAIL("instruction sets differ");
        }
      }
}

}  // namespace
}  // namespace sapper::llo::testing
