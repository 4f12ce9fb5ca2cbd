// Edits: what they make is well-formed, runs on its arguments, and does what the edit says.
#include "reduce/edits.h"

#include <algorithm>
#include <map>

#include "eval/evaluator.h"
#include "reduce/dimensions.h"
#include "tests/reduce/programs.h"

namespace sapper::reduce {
namespace {

using hlo::Opcode;

std::vector<Pass> all_passes() {
  std::vector<Pass> all(passes_for_size().begin(), passes_for_size().end());
  all.insert(all.end(), passes_for_plainness().begin(), passes_for_plainness().end());
  return all;
}

int64_t count(const Program& program, Opcode opcode) {
  int64_t found = 0;
  hlo::for_each_instruction(program.module, [&](const hlo::Computation&, const hlo::Instruction& instruction) {
    found += instruction.opcode == opcode ? 1 : 0;
  });
  return found;
}

// The first edit of the pass whose description holds `what`, applied.
Program after(Program program, const std::vector<Edit>& edits, std::string_view what) {
  for (const Edit& edit : edits) {
    if (edit.what.find(what) == std::string::npos || !edit.apply(program)) continue;
    clean(program);
    const Status legal = hlo::verify(program.module);
    EXPECT_TRUE(legal) << edit.what << ": " << legal.error().describe() << "\n" << hlo::to_text(program.module);
    return program;
  }
  ADD_FAILURE() << "no edit: " << what;
  return program;
}

// Edits may not apply; most must, and what they make runs on the arguments that they leave.
TEST(Edits, MakeProgramsThatRun) {
  const Program program = program_of(varied);
  for (const Pass& pass : all_passes()) {
    const size_t things = pass.things(program);
    std::map<bool, int> legal;
    for (size_t chunk = std::max<size_t>(1, things / 2);; chunk /= 2) {
      for (const Edit& edit : pass.edits(program, chunk)) {
        Program edited = program;
        if (!edit.apply(edited)) continue;
        clean(edited);
        const bool is_legal = hlo::verify(edited.module).has_value();
        ++legal[is_legal];
        if (!is_legal) continue;
        const auto value = eval::evaluate(edited.module, edited.arguments, {.iteration_limit = 1000});
        if (!value && value.error().kind == ErrorKind::Resource) continue;  // a loop that does not end
        EXPECT_TRUE(value) << pass.name << ": " << edit.what << ": " << value.error().describe() << "\n"
                           << hlo::to_text(edited.module);
      }
      if (chunk == 1) break;
    }
    EXPECT_GE(legal[true], 4 * legal[false]) << pass.name;
    if (std::string_view(pass.name) != "flags" && std::string_view(pass.name) != "rank") {
      EXPECT_GT(legal[true], 0) << pass.name;
    }
  }
}

// Cutting changes nothing of the values that come after the cut.
TEST(Edits, CutValuesAreTheSame) {
  const Program program = program_of(varied);
  const auto whole = eval::evaluate(program.module, program.arguments);
  ASSERT_TRUE(whole);
  int compared = 0;
  for (const Edit& edit : cut(program, 1)) {
    Program edited = program;
    if (!edit.apply(edited)) continue;
    clean(edited);
    ASSERT_TRUE(hlo::verify(edited.module)) << edit.what;
    const auto value = eval::evaluate(edited.module, edited.arguments, {.iteration_limit = 1000});
    ASSERT_TRUE(value) << edit.what << value.error().describe();
    EXPECT_EQ(*value, *whole) << edit.what;
    ++compared;
  }
  EXPECT_GT(compared, 20);
}

TEST(Edits, LoopsLoseWhatIsIdle) {
  const Program program = program_of(varied);
  const Program edited = after(program, drop_state(program, 1), "without element 2");
  EXPECT_EQ(edited.arguments.size(), program.arguments.size() - 1) << "what the loop only carried";
}

TEST(Edits, BodiesComeInThePlaceOfCalls) {
  const Program program = program_of(varied);
  EXPECT_EQ(count(after(program, enter(program, 1), "enters fusion"), Opcode::Fusion), 0);
  EXPECT_EQ(count(after(program, enter(program, 1), "enters loop"), Opcode::While), 0);
  EXPECT_EQ(count(after(program, enter(program, 1), "enters chosen"), Opcode::Conditional), 0);
}

TEST(Edits, FlagsGoOneByOne) {
  Program program = program_of("HloModule m\nENTRY e {\n  ROOT x = f32[] parameter(0)\n}");
  program.configuration.options["xla_a"] = true;
  program.configuration.init_flags = "--b=1  --c=2";
  EXPECT_EQ(size_of(program).flags, 3);
  Program edited = after(program, drop_flags(program, 1), "--b=1");
  EXPECT_EQ(edited.configuration.init_flags, "--c=2");
  EXPECT_TRUE(after(program, drop_flags(program, 1), "xla_a").configuration.options.empty());
}

TEST(Edits, DimensionsOfOneGoEverywhere) {
  Program program = program_of(R"(HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY e {
  x = f32[4,1,3] parameter(0)
  zero = f32[] constant(0)
  izero = s32[] constant(0)
  t = f32[1,3,4] transpose(x), dimensions={1,2,0}
  s = f32[1,2,4] slice(t), slice={[0:1], [1:3], [0:4]}
  d = f32[1,2,2] dynamic-slice(s, izero, izero, izero), dynamic_slice_sizes={1,2,2}
  r = f32[1,2] reduce(d, zero), dimensions={2}, to_apply=sum
  ROOT o = f32[5,1,2] broadcast(r), dimensions={1,2}
})");
  const auto before = eval::evaluate(program.module, program.arguments);
  program = after(program, drop_ranks(program, 1), "without a dimension of 1");
  const auto value = eval::evaluate(program.module, program.arguments);
  ASSERT_TRUE(before && value) << hlo::to_text(program.module);
  EXPECT_EQ(value->shape().to_text(false), "f32[5,2]");
  EXPECT_EQ(in_shape(*value, before->shape()), *before);
}

TEST(Dimensions, AreEqualThroughLoopsFusionsAndDots) {
  const Program program = program_of(varied);
  const Dimensions dimensions(program.module);
  const auto place = [&](const std::string& name, uint32_t leaf, uint32_t dimension) {
    for (hlo::ComputationIndex c = 0; c < program.module.computations.size(); ++c)
      for (hlo::InstructionIndex i = 0; i < program.module.computations[c].instructions.size(); ++i)
        if (program.module.computations[c].instructions[i].name == name)
          return dimensions.group({c, i, leaf, dimension});
    ADD_FAILURE() << name;
    return 0U;
  };
  EXPECT_EQ(place("x", 0, 1), place("twice", 0, 1)) << "through the loop";
  EXPECT_EQ(place("x", 0, 1), place("y", 0, 0)) << "contracted";
  EXPECT_EQ(place("rows", 0, 0), place("wide", 0, 1)) << "broadcast";
  EXPECT_NE(place("x", 0, 0), place("x", 0, 1));
  EXPECT_NE(place("turned", 0, 0), place("both", 0, 0)) << "concatenated";
}

TEST(Dimensions, ReshapesFallApart) {
  const auto text = [](const std::vector<int64_t>& from, const std::vector<int64_t>& to) {
    std::string all;
    for (const ReshapeGroup& group :
         reshape_groups(hlo::Shape::array(hlo::ElementType::F32, from), hlo::Shape::array(hlo::ElementType::F32, to)))
      all += fmt::format("{}-{} ", group.from.size(), group.to.size());
    return all;
  };
  EXPECT_EQ(text({4, 6}, {24}), "2-1 ");
  EXPECT_EQ(text({1, 8, 3}, {8, 3}), "1-0 1-1 1-1 ");
  EXPECT_EQ(text({8}, {1, 8, 1}), "0-1 1-1 0-1 ");
  EXPECT_EQ(text({6, 4}, {2, 3, 4}), "1-2 1-1 ");
}

TEST(Literals, PartsAreRows) {
  hlo::Literal array(hlo::Shape::array(hlo::ElementType::S32, {3, 4}));
  for (int64_t i = 0; i < 12; ++i) array.set_integer(i, i);
  const hlo::Literal part = part_of(array, 1, 2, 2);
  EXPECT_EQ(hlo::to_text(part), "{ { 2, 3 }, { 6, 7 }, { 10, 11 } }");
  EXPECT_EQ(hlo::to_text(part_of(array, 0, 1, 1)), "{ { 4, 5, 6, 7 } }");
}

}  // namespace
}  // namespace sapper::reduce
