// Templates: variables, blocks, holes; errors that say where; and all of the library.
#include "fuzz/template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "fuzz/expression.h"
#include "hlo/text.h"
#include "hlo/verifier.h"

namespace sapper::fuzz {
namespace {

using ::testing::HasSubstr;

std::string value_of(std::string_view text, const TemplateValues& values = {}) {
  const auto value = evaluate(text, values);
  return value ? to_text(*value) : "error: " + value.error().message;
}

TEST(Expression, Arithmetic) {
  EXPECT_EQ(value_of("1 + 2 * 3"), "7");
  EXPECT_EQ(value_of("(a - 1) / 2", {{"a", int64_t{9}}}), "4");
  EXPECT_EQ(value_of("max(a, 3) % 4", {{"a", int64_t{6}}}), "2");
  EXPECT_EQ(value_of("T", {{"T", std::string("bf16")}}), "bf16");
}

TEST(Expression, LimitsOfTypes) {
  EXPECT_EQ(value_of("lowest(s8)", {{"s8", std::string("s8")}}), "-128");
  EXPECT_EQ(value_of("highest(T)", {{"T", std::string("u16")}}), "65535");
  EXPECT_EQ(value_of("lowest(T)", {{"T", std::string("s64")}}), "-9223372036854775808");
  EXPECT_EQ(value_of("lowest(T)", {{"T", std::string("bf16")}}), "-inf");
}

TEST(Expression, ErrorsSayWhere) {
  const auto error = evaluate("1 + b", {});
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().where.column, 5);
  EXPECT_THAT(error.error().message, HasSubstr("nothing is called 'b'"));
  EXPECT_THAT(value_of("1 / 0"), HasSubstr("no such result"));
  EXPECT_THAT(value_of("9223372036854775807 + 1"), HasSubstr("no such result"));
  EXPECT_THAT(value_of("1 +"), HasSubstr("missing"));
  EXPECT_THAT(value_of("(1"), HasSubstr("')' is missing"));
  EXPECT_THAT(value_of("odd(1)"), HasSubstr("there is no function 'odd'"));
  EXPECT_THAT(value_of(std::string(1000, '(')), HasSubstr("too many parentheses"));
}

std::string describe(const std::string& text) {
  const auto parsed = parse_template(text, "t.hlo");
  return parsed ? "" : parsed.error().describe();
}

constexpr const char* simple = R"(let n = 2..9
let T = {f32, s32}
HloModule simple
ENTRY main {
  x0 = $T[$n,${2*n}] parameter(0)
repeat k = 1..3 {
  x$k = $T[$n,${2*n}] add(x${k-1}, x0)
}
  ROOT r = $T[$n] hole(x$k), ops={reduce, slice}, depth=2
}
)";

TEST(Template, MakesProgramsThatDiffer) {
  const auto skeleton = parse_template(simple, "simple.hlo");
  ASSERT_TRUE(skeleton) << skeleton.error().describe();
  EXPECT_EQ(skeleton->name, "simple");
  std::set<std::string> texts;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const auto program = instantiate(*skeleton, Grammar(), Choices(seed));
    ASSERT_TRUE(program) << program.error().describe();
    EXPECT_TRUE(hlo::verify(program->module));
    const auto again = instantiate(*skeleton, Grammar(), Choices(program->choices));
    ASSERT_TRUE(again);
    EXPECT_EQ(hlo::to_text(program->module), hlo::to_text(again->module));
    texts.insert(hlo::to_text(program->module));
  }
  EXPECT_GT(texts.size(), 30U);
}

TEST(Template, ErrorsSayWhatAndWhere) {
  EXPECT_THAT(describe("let n 3\nHloModule m\n"), HasSubstr("t.hlo:1:4: expected NAME = VALUES"));
  EXPECT_THAT(describe("let n = 5..2\nHloModule m\n"), HasSubstr("t.hlo:1: 5..2 is no range"));
  EXPECT_THAT(describe("HloModule m\nENTRY e {\n  ROOT x = f32[$n] parameter(0)\n}\n"),
              HasSubstr("t.hlo:3:17: nothing is called 'n'"));
  EXPECT_THAT(describe("HloModule m\nENTRY e {\n  ROOT x = f32[2] hole(), ops={slices}\n}\n"),
              HasSubstr("t.hlo:3: no rule makes 'slices'"));
  EXPECT_THAT(describe("repeat k = 1..2 {\nHloModule m\n"), HasSubstr("t.hlo:1: this block has no end"));
  EXPECT_THAT(describe("let T = type odd\nHloModule m\n"), HasSubstr("'odd' is no class of types"));
  EXPECT_THAT(
      describe("let n = 3\nHloModule m\nENTRY e {\n  x = f32[$n] parameter(0)\n  ROOT r = f32[2] negate(x)\n}\n"),
      HasSubstr("t.hlo:5"));
  EXPECT_THAT(describe("HloModule m\nENTRY e {\n  ROOT r = f32[2] negat(x)\n}\n"), HasSubstr("t.hlo:3"));
}

TEST(Template, EveryOneOfTheLibraryMakesWellFormedPrograms) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(SAPPER_SOURCE_DIR "/templates")) {
    const auto skeleton = read_template(entry.path());
    ASSERT_TRUE(skeleton) << skeleton.error().describe();
    for (uint64_t seed = 0; seed < 100; ++seed) {
      const auto program = instantiate(*skeleton, Grammar(), Choices(seed));
      ASSERT_TRUE(program) << "seed " << seed << ": " << program.error().describe();
    }
    ++count;
  }
  EXPECT_GE(count, 25);
}

}  // namespace
}  // namespace sapper::fuzz
