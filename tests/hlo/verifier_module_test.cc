// What the verifier says of whole modules: order of defects, recursion, aliasing, the entry's layout; and shape
// inference without a stated shape.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hlo/text.h"
#include "hlo/verifier.h"

namespace sapper::hlo {
namespace {

TEST(VerifierModule, NamesTheFirstDefectInOrder) {
  const auto module = parse_text(R"(HloModule m
ENTRY e {
  a = f32[2] parameter(0)
  b = f32[3] negate(a)
  ROOT c = f32[4] negate(b)
})");
  ASSERT_TRUE(module) << module.error().describe();
  const Status status = verify(*module);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().where.instruction, "b");
  EXPECT_EQ(status.error().where.line, 4);
}

TEST(VerifierModule, RejectsRecursion) {
  auto module = parse_text(R"(HloModule m
f { x = f32[] parameter(0)  ROOT r = f32[] negate(x) }
g { x = f32[] parameter(0)  ROOT r = f32[] call(x), to_apply=f }
ENTRY e { x = f32[] parameter(0)  ROOT r = f32[] call(x), to_apply=g })");
  ASSERT_TRUE(module) << module.error().describe();
  ASSERT_TRUE(verify(*module));
  Instruction& in_f = module->computations[0].instructions[1];
  in_f.opcode = Opcode::Call;
  in_f.called = {1};
  const Status status = verify(*module);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, testing::HasSubstr("recursion: 'f' calls 'g' calls 'f'"));
  in_f.called = {2};
  const Status entry = verify(*module);
  ASSERT_FALSE(entry);
  EXPECT_THAT(entry.error().message, testing::HasSubstr("the entry computation 'e' is called"));
}

TEST(VerifierModule, ChecksAliasingAndEntryLayout) {
  constexpr std::string_view body = "ENTRY e { x = f32[4]{0} parameter(0)  ROOT r = f32[4]{0} negate(x) }";
  const auto answer = [&](std::string_view attributes) {
    const auto module = parse_text(fmt::format("HloModule m{}\n{}", attributes, body));
    EXPECT_TRUE(module) << module.error().describe();
    const Status status = verify(*module);
    return status ? std::string() : status.error().message;
  };
  EXPECT_EQ(answer(", input_output_alias={ {}: (0, {}, may-alias) }"), "");
  EXPECT_THAT(answer(", input_output_alias={ {}: (1, {}, may-alias) }"), testing::HasSubstr("names parameter 1 of 1"));
  EXPECT_THAT(answer(", input_output_alias={ {0}: (0, {}, may-alias) }"), testing::HasSubstr("part of the result"));
  EXPECT_EQ(answer(", entry_computation_layout={(f32[4]{0})->f32[4]{0}}"), "");
  EXPECT_THAT(answer(", entry_computation_layout={(f32[5]{0})->f32[4]{0}}"),
              testing::HasSubstr("states f32[5] for parameter 0, expected f32[4]"));
}

TEST(InferShape, GivesTheShapeWithoutAStatedOne) {
  const auto module =
      parse_text("HloModule m\nENTRY e { x = f32[<=4,3]{0,1} parameter(0)  ROOT r = f32[] constant(0) }");
  ASSERT_TRUE(module) << module.error().describe();
  Instruction transpose;
  transpose.opcode = Opcode::Transpose;
  transpose.operands = {0};
  transpose.dimensions = {1, 0};
  const auto shape = infer_shape(*module, module->entry_computation(), transpose);
  ASSERT_TRUE(shape) << shape.error().describe();
  EXPECT_EQ(shape->to_text(), "f32[3,<=4]");
  transpose.opcode = Opcode::Reshape;  // its shape is part of the program
  EXPECT_FALSE(infer_shape(*module, module->entry_computation(), transpose));
}

}  // namespace
}  // namespace sapper::hlo
