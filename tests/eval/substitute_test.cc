// Instructions that somebody else runs.
#include "tests/eval/hlo_case.h"

namespace sapper::eval {
namespace {

using hlo::Computation;
using hlo::Instruction;
using hlo::Literal;

// Gives the operand (or a pair of it) plus 100 for every instruction named `theirs...`.
struct PlusHundred {
  std::vector<std::string> ran;

  Options options() {
    Options options;
    options.substitute.covers = [](const Computation&, const Instruction& it) { return it.name.starts_with("theirs"); };
    options.substitute.run = [this](const Computation&, const Instruction& it,
                                    std::vector<Literal> operands) -> Result<Literal> {
      ran.push_back(it.name);
      Literal value = operands[0];
      for (float& element : value.mutable_data<float>()) element += 100;
      return it.shape.is_tuple() ? Literal::tuple({value, operands[0]}) : value;
    };
    return options;
  }
};

TEST(Substitute, StandsInsideOfElementwiseChainsAndForWhatNeedsNoWork) {
  PlusHundred other;
  const Literal value = value_of(R"(
    a = f32[2] constant({1, 2})
    b = f32[2] negate(a)
    theirs.1 = f32[2] add(b, a)
    c = f32[2] multiply(theirs.1, a)
    theirs.2 = f32[2] copy(c)
    ROOT d = f32[2] add(theirs.2, c)
  )",
                                 {}, "", other.options());
  EXPECT_EQ(value, constant("f32[2] {298, 492}"));
  EXPECT_EQ(other.ran, (std::vector<std::string>{"theirs.1", "theirs.2"}));
}

TEST(Substitute, GivesTuplesAndRunsInLoops) {
  PlusHundred other;
  const Literal value = value_of(R"(
    zero = s32[] constant(0)
    a = f32[1] constant({1})
    start = (s32[], f32[1]) tuple(zero, a)
    loop = (s32[], f32[1]) while(start), condition=condition, body=body
    ROOT result = f32[1] get-tuple-element(loop), index=1
  )",
                                 {}, R"(
    condition {
      p = (s32[], f32[1]) parameter(0)
      i = s32[] get-tuple-element(p), index=0
      n = s32[] constant(3)
      ROOT less = pred[] compare(i, n), direction=LT
    }
    body {
      p = (s32[], f32[1]) parameter(0)
      i = s32[] get-tuple-element(p), index=0
      x = f32[1] get-tuple-element(p), index=1
      theirs = (f32[1], f32[1]) custom-call(x), custom_call_target="unknown"
      y = f32[1] get-tuple-element(theirs), index=0
      one = s32[] constant(1)
      j = s32[] add(i, one)
      ROOT t = (s32[], f32[1]) tuple(j, y)
    }
  )",
                                 other.options());
  EXPECT_EQ(value, constant("f32[1] {301}"));
  EXPECT_EQ(other.ran.size(), 3U);
}

TEST(Substitute, FailuresAndWrongShapesAreErrors) {
  const hlo::Module module = entry_module("ROOT theirs = f32[2] constant({1, 2})");
  PlusHundred other;
  Options options = other.options();
  options.substitute.run = [](const Computation&, const Instruction&, const std::vector<Literal>&) -> Result<Literal> {
    return fail(ErrorKind::Unsupported, "not today");
  };
  const Result<Literal> failed = evaluate(module, {}, options);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "not today");
  options.substitute.run = [](const Computation&, const Instruction&, const std::vector<Literal>&) -> Result<Literal> {
    return Literal(hlo::Shape::array(hlo::ElementType::F32, {3}));
  };
  EXPECT_FALSE(evaluate(module, {}, options));
}

}  // namespace
}  // namespace sapper::eval
