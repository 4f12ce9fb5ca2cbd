// What is generated is well-formed, comes again from its choices, and covers the table.
#include "fuzz/generator.h"

#include <gtest/gtest.h>

#include <map>

#include "base/file.h"
#include "fuzz/rule.h"
#include "hlo/text.h"
#include "hlo/verifier.h"

namespace sapper::fuzz {
namespace {

TEST(Generator, EveryProgramIsWellFormed) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    const Program program = generate(Grammar(), Choices(seed));
    const Status verified = hlo::verify(program.module);
    ASSERT_TRUE(verified) << "seed " << seed << ": " << verified.error().describe() << "\n"
                          << hlo::to_text(program.module);
  }
}

TEST(Generator, ChoicesMakeTheProgramAgain) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Program program = generate(Grammar(), Choices(seed));
    const Program again = generate(Grammar(), Choices(program.choices));
    ASSERT_EQ(hlo::to_text(program.module), hlo::to_text(again.module)) << "seed " << seed;
    ASSERT_EQ(program.choices, again.choices);
  }
}

TEST(Generator, MutatedChoicesMakeWellFormedPrograms) {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    Choices how(seed);
    ChoiceSequence sequence = generate(Grammar(), Choices(seed)).choices;
    for (int i = 0; i < 3; ++i) sequence = mutated(std::move(sequence), how);
    const Program program = generate(Grammar(), Choices(sequence, seed));
    ASSERT_TRUE(hlo::verify(program.module)) << hlo::to_text(program.module);
  }
}

TEST(Generator, CoversTheTable) {
  std::map<hlo::Opcode, int> opcodes;
  std::map<hlo::ElementType, int> types;
  for (uint64_t seed = 0; seed < 4000; ++seed)
    hlo::for_each_instruction(generate(Grammar(), Choices(seed)).module,
                              [&](const hlo::Computation&, const hlo::Instruction& instruction) {
                                ++opcodes[instruction.opcode];
                                if (instruction.shape.is_array()) ++types[instruction.shape.element_type()];
                              });
  for (const Rule& rule : rules()) EXPECT_GT(opcodes[rule.opcode], 0) << to_string(rule.opcode);
  for (const WeightedType& type : Grammar::all_types()) EXPECT_GT(types[type.type], 0) << to_string(type.type);
}

TEST(Generator, TheTableIsDocumented) {
  const std::string page = *read_file(SAPPER_SOURCE_DIR "/docs/fuzzing.md");
  for (const Rule& rule : rules()) {
    const std::string row = fmt::format("| {} | {} | {} |", to_string(rule.opcode), rule.sampled, rule.precondition);
    EXPECT_NE(page.find(row), std::string::npos) << "missing in docs/fuzzing.md: " << row;
  }
}

TEST(Generator, ShrinksToTheSimplestThatKeepsAProperty) {
  const auto sorts = [](const ChoiceSequence& sequence) {
    bool found = false;
    hlo::for_each_instruction(generate(Grammar(), Choices(sequence)).module,
                              [&](const hlo::Computation&, const hlo::Instruction& instruction) {
                                found = found || instruction.opcode == hlo::Opcode::Sort;
                              });
    return found;
  };
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const Program program = generate(Grammar(), Choices(seed));
    if (!sorts(program.choices) || program.module.instruction_count() < 20) continue;
    const ChoiceSequence small = shrunk(program.choices, sorts, 2000);
    EXPECT_TRUE(sorts(small));
    EXPECT_LT(generate(Grammar(), Choices(small)).module.instruction_count(), program.module.instruction_count());
    return;
  }
  FAIL() << "no program with a sort";
}

}  // namespace
}  // namespace sapper::fuzz
