// The search: finds the smallest program by a predicate, the same one however many are tried at a time.
#include "reduce/search.h"

#include <algorithm>
#include <atomic>

#include "eval/evaluator.h"
#include "tests/reduce/programs.h"

namespace sapper::reduce {
namespace {

using hlo::Instruction;
using hlo::Opcode;

// Whether some instruction of the first opcode takes the result of one of the second.
bool has_pair(const Program& program, Opcode user, Opcode used) {
  for (const hlo::Computation& computation : program.module.computations)
    for (const Instruction& instruction : computation.instructions)
      if (instruction.opcode == user && std::ranges::any_of(instruction.operands, [&](hlo::InstructionIndex operand) {
            return computation.instructions[operand].opcode == used;
          }))
        return true;
  return false;
}

Searched search_for(Opcode user, Opcode used, int jobs) {
  return search(program_of(varied), [=](const Program& program) { return has_pair(program, user, used); },
                {.jobs = jobs});
}

TEST(Search, FindsWhatIsLeftOfADefect) {
  const Searched broadcast = search_for(Opcode::Broadcast, Opcode::Reduce, 1);
  EXPECT_LE(broadcast.program.module.instruction_count(), 7) << hlo::to_text(broadcast.program.module);
  const Searched fused = search_for(Opcode::Tanh, Opcode::Multiply, 1);
  EXPECT_LE(fused.program.module.instruction_count(), 3) << hlo::to_text(fused.program.module);
  const Searched convolution = search_for(Opcode::ReduceWindow, Opcode::Convolution, 1);
  EXPECT_LE(convolution.program.module.instruction_count(), 8) << hlo::to_text(convolution.program.module);
  EXPECT_LE(size_of(convolution.program).elements, 20) << hlo::to_text(convolution.program.module);
}

TEST(Search, DoesNotDependOnTheNumberOfJobs) {
  const Searched one = search_for(Opcode::Concatenate, Opcode::Transpose, 1);
  const Searched four = search_for(Opcode::Concatenate, Opcode::Transpose, 4);
  EXPECT_EQ(hlo::to_text(one.program.module), hlo::to_text(four.program.module));
  EXPECT_EQ(one.program.arguments, four.program.arguments);
  ASSERT_EQ(one.steps.size(), four.steps.size());
  for (size_t k = 0; k < one.steps.size(); ++k) EXPECT_EQ(one.steps[k].what, four.steps[k].what);
}

TEST(Search, StepsBecomeSmaller) {
  Size last = size_of(program_of(varied));
  std::vector<Step> steps;
  SearchOptions options;
  options.on_step = [&](const Step& step, const Program& program) {
    EXPECT_LT(step.size, last) << step.what;
    EXPECT_EQ(step.size, size_of(program));
    last = step.size;
    steps.push_back(step);
  };
  const Searched result = search(
      program_of(varied), [](const Program& program) { return has_pair(program, Opcode::Tanh, Opcode::Multiply); },
      options);
  EXPECT_EQ(steps.size(), result.steps.size());
  EXPECT_GT(steps.size(), 0U);
  EXPECT_GE(result.tried, steps.size());
}

// The value decides: a sum that is wrong above 100.
TEST(Search, KeepsTheNumbersThatMatterAndNoOthers) {
  const Searched result =
      search(program_of("HloModule m\nENTRY e {\n  x = f32[16] parameter(0)\n  y = f32[16] parameter(1)\n"
                        "  s = f32[16] multiply(x, y)\n  ROOT t = f32[16] negate(s)\n}"),
             [](const Program& program) {
               const auto value = eval::evaluate(program.module, program.arguments);
               if (!value) return false;
               double least = 0;
               for (int64_t i = 0; i < value->element_count(); ++i) least = std::min(least, value->real_at(i));
               return least < -20;
             },
             {});
  EXPECT_EQ(result.program.module.instruction_count(), 2) << "the product itself is what matters";
  EXPECT_EQ(size_of(result.program).elements, 2) << "one number in each array";
}

TEST(Search, TriesAgainWhatComesAndGoes) {
  std::atomic<int> calls = 0;
  const Interesting flaky = [&](const Program& program) {
    return calls++ % 3 == 0 && has_pair(program, Opcode::Tanh, Opcode::Multiply);
  };
  const Searched result = search(program_of(varied), flaky, {.tries = 6});
  EXPECT_LE(result.program.module.instruction_count(), 4) << hlo::to_text(result.program.module);
}

}  // namespace
}  // namespace sapper::reduce
