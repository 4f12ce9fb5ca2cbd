// Literals of HLO text: every element of every type reads back to the same bits.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "hlo/text.h"

namespace sapper::hlo {
namespace {

// The literal as the one instruction of a module, written and read.
Result<Literal> through_text(const Literal& literal) {
  const std::string text =
      "HloModule m\nENTRY e {\n  ROOT c = " + literal.shape().to_text() + " constant(" + to_text(literal) + ")\n}\n";
  SAPPER_TRY(const Module module, parse_text(text));
  const auto& read = module.entry_computation().root_instruction().literal;
  if (read == nullptr) return fail(ErrorKind::Internal, "the literal is elided in {}", text);
  return *read;
}

Literal read(const std::string& shape, const std::string& value) {
  const auto module = parse_text("HloModule m\nENTRY e {\n ROOT c = " + shape + " constant(" + value + ")\n}\n");
  EXPECT_TRUE(module) << module.error().describe();
  return module ? *module->entry_computation().root_instruction().literal : Literal();
}

std::string problem_of(const std::string& shape, const std::string& value) {
  const auto module = parse_text("HloModule m\nENTRY e {\nROOT c = " + shape + " constant(" + value + ")\n}\n");
  return module ? "none" : module.error().message;
}

// Every pattern of the types of up to 16 bits. NaNs that a format tells apart keep their payload; others, their sign.
class TextLiteralPatterns : public ::testing::TestWithParam<ElementType> {};

TEST_P(TextLiteralPatterns, AllReadBack) {
  const ElementType type = GetParam();
  const int width = type == ElementType::Pred ? 1 : bit_width(type);
  const int64_t count = int64_t{1} << width;
  Literal literal(Shape::array(type, {count}));
  for (int64_t i = 0; i < count; ++i) {
    if (is_float(type)) {
      std::memcpy(literal.mutable_bytes().data() + i * host_bytes(type), &i, static_cast<size_t>(host_bytes(type)));
    } else {
      literal.set_integer(i, i);
    }
  }
  const auto again = through_text(literal);
  ASSERT_TRUE(again) << again.error().describe();
  EXPECT_EQ(*again, literal);
}

INSTANTIATE_TEST_SUITE_P(Types, TextLiteralPatterns,
                         ::testing::Values(ElementType::Pred, ElementType::S1, ElementType::S2, ElementType::S4,
                                           ElementType::S8, ElementType::S16, ElementType::U1, ElementType::U2,
                                           ElementType::U4, ElementType::U8, ElementType::U16, ElementType::F16,
                                           ElementType::BF16, ElementType::F8E5M2, ElementType::F8E4M3,
                                           ElementType::F8E4M3FN, ElementType::F8E4M3B11FNUZ, ElementType::F8E3M4,
                                           ElementType::F8E5M2FNUZ, ElementType::F8E4M3FNUZ, ElementType::F4E2M1FN,
                                           ElementType::F8E8M0FNU),
                         [](const auto& tested) { return std::string(to_string(tested.param)); });

template <class Bits>
void expect_patterns_read_back(ElementType type, const std::vector<Bits>& patterns) {
  Literal literal(Shape::array(type, {static_cast<int64_t>(patterns.size())}));
  std::ranges::copy(std::as_bytes(std::span(patterns)), literal.mutable_bytes().begin());
  const auto again = through_text(literal);
  RC_ASSERT(again);
  RC_ASSERT(*again == literal);
}

RC_GTEST_PROP(TextLiteral, AnyF32ReadsBack, (const std::vector<uint32_t>& patterns)) {
  expect_patterns_read_back(ElementType::F32, patterns);
}
RC_GTEST_PROP(TextLiteral, AnyF64ReadsBack, (const std::vector<uint64_t>& patterns)) {
  expect_patterns_read_back(ElementType::F64, patterns);
}
RC_GTEST_PROP(TextLiteral, AnyC64ReadsBack, (const std::vector<uint64_t>& patterns)) {
  expect_patterns_read_back(ElementType::C64, patterns);
}
RC_GTEST_PROP(TextLiteral, AnyS64ReadsBack, (const std::vector<uint64_t>& patterns)) {
  expect_patterns_read_back(ElementType::S64, patterns);
  expect_patterns_read_back(ElementType::U64, patterns);
}

RC_GTEST_PROP(TextLiteral, AnyRankReadsBack, ()) {
  const auto dimensions = *rc::gen::container<std::vector<int64_t>>(rc::gen::inRange<int64_t>(0, 4));
  RC_PRE(element_count(dimensions) <= 4096);
  Literal literal(Shape::array(ElementType::S32, dimensions));
  for (int64_t i = 0; i < literal.element_count(); ++i) literal.set_integer(i, i * i - 7);
  const auto again = through_text(literal);
  RC_ASSERT(again);
  RC_ASSERT(*again == literal);
}

TEST(TextLiteral, WritesAsXlaDoes) {
  const auto written = [](const std::string& shape, const std::string& value) { return to_text(read(shape, value)); };
  EXPECT_EQ(written("f32[]", "1"), "1");
  EXPECT_EQ(written("f32[]", "1.0"), "1");
  EXPECT_EQ(written("f32[]", "-0"), "-0.0");  // XLA would read -0 as an integer
  EXPECT_EQ(written("f32[]", "16777216"), "16777216");
  EXPECT_EQ(written("f32[]", "1e+30"), "1e+30");
  EXPECT_EQ(written("f64[]", "18446744073709551616"), "1.8446744073709552e+19");
  EXPECT_EQ(written("f32[3]", "{inf, -inf, nan}"), "{inf, -inf, nan}");
  EXPECT_EQ(written("f32[2]", "{-nan, nan(0x123)}"), "{-nan, nan(0x123)}");
  EXPECT_EQ(written("bf16[2]", "{0.1, 3.14}"), "{0.1, 3.14}");
  EXPECT_EQ(written("pred[]", "true"), "true");
  EXPECT_EQ(written("pred[2]", "{true, 0}"), "{1, 0}");
  EXPECT_EQ(written("u64[]", "18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(written("c64[2]", "{(1, -2), (inf, 0.5)}"), "{(1, -2), (inf, 0.5)}");
  EXPECT_EQ(written("s32[2,2]", "{{1,2},{3,4}}"), "{ { 1, 2 }, { 3, 4 } }");
  EXPECT_EQ(written("f32[0,2]", "{}"), "{  }");
  EXPECT_EQ(written("s32[2,0]", "{{},{}}"), "{ {  }, {  } }");
  EXPECT_EQ(written("(f32[], (s32[2], pred[]))", "(1, ({2, 3}, false))"), "(1, ({2, 3}, false))");
}

TEST(TextLiteral, RoundsAsXlaDoes) {
  EXPECT_EQ(read("f32[]", "0.1").data<float>()[0], 0.1F);
  // To double first, where it is a tie that goes to even.
  EXPECT_EQ(read("f32[]", "1.00000005960464477540").data<float>()[0], 1.0F);
  EXPECT_EQ(read("f32[]", "1e-60").data<float>()[0], 0.0F);
  EXPECT_EQ(read("f64[]", "1e-400").data<double>()[0], 0.0);
  EXPECT_EQ(read("f64[]", "4.9e-324").data<double>()[0], 4.9e-324);
}

TEST(TextLiteral, AcceptsCommentsAndBlanks) {
  EXPECT_EQ(to_text(read("f32[2,1]", "{ /*i0=0*/ {1}, // one\n {2 } }")), "{ { 1 }, { 2 } }");
}

TEST(TextLiteral, ElidedIsNull) {
  const auto module = parse_text("HloModule m\nENTRY e {\nROOT c = f32[100000000000] constant({...})\n}\n");
  ASSERT_TRUE(module) << module.error().describe();
  EXPECT_EQ(module->entry_computation().root_instruction().literal, nullptr);
  const auto again = parse_text(to_text(*module));
  ASSERT_TRUE(again) << again.error().describe();
  EXPECT_EQ(again->entry_computation().root_instruction().literal, nullptr);
}

TEST(TextLiteral, ElidesWhatHasManyElements) {
  const auto module = parse_text("HloModule m\nENTRY e {\nROOT c = f32[3] constant({1, 2, 3})\n}\n");
  ASSERT_TRUE(module);
  PrintOptions options;
  options.elide_constants_over = 2;
  EXPECT_NE(to_text(*module, options).find("constant({...})"), std::string::npos);
  options.elide_constants_over = 3;
  EXPECT_NE(to_text(*module, options).find("constant({1, 2, 3})"), std::string::npos);
}

TEST(TextLiteral, EmptyArraysOfAnySizeAreShort) {
  const Literal literal(Shape::array(ElementType::F32, {1'000'000'000, 0}));
  EXPECT_EQ(to_text(literal), "{...}");
  const auto again = through_text(literal);
  ASSERT_TRUE(again) << again.error().describe();
  EXPECT_EQ(*again, literal);
}

TEST(TextLiteral, IntegersAtTheEdgesOfTheirTypes) {
  for (const char* text :
       {"s64[2] {-9223372036854775808,9223372036854775807}", "u64[2] {0,18446744073709551615}", "s1[2] {-1,0}",
        "u1[2] {0,1}", "s2[2] {-2,1}", "u4[2] {0,15}", "s32[2] {-2147483648,2147483647}"}) {
    const std::string_view shape(text, std::string_view(text).find(' '));
    EXPECT_EQ(problem_of(std::string(shape), text + shape.size() + 1), "none") << text;
  }
}

TEST(TextLiteral, SaysWhatIsWrong) {
  EXPECT_EQ(problem_of("s8[]", "128"), "128 is out of the range of s8");
  EXPECT_EQ(problem_of("u8[]", "-1"), "-1 is out of the range of u8");
  EXPECT_EQ(problem_of("s64[]", "9223372036854775808"), "9223372036854775808 is out of the range of s64");
  EXPECT_EQ(problem_of("u64[]", "18446744073709551616"), "this integer does not fit in 64 bits");
  EXPECT_EQ(problem_of("s32[]", "1.5"), "expected an integer, found '1.5'");
  EXPECT_EQ(problem_of("f16[]", "65520"), "65520 is out of the range of f16");
  EXPECT_EQ(problem_of("f64[]", "1e400"), "1e400 is out of the range of f64");
  EXPECT_EQ(problem_of("f32[]", "nan(0x800000)"), "nan(0x800000) is out of the range of f32");
  EXPECT_EQ(problem_of("s32[]", "true"), "s32 elements are numbers");
  EXPECT_EQ(problem_of("f32[2]", "{1}"),
            "expected ',': dimension 0 of a literal f32[2] has 2 elements, but only 1 are here, found '}'");
  EXPECT_EQ(problem_of("f32[2]", "{1,2,3}"),
            "expected '}' after the 2 elements of dimension 0 of a literal f32[2], found ','");
  EXPECT_EQ(problem_of("f32[2]", "1"), "expected '{' to start dimension 0 of a literal f32[2], found '1'");
  EXPECT_EQ(problem_of("f32[1000000000]", "{1}"),
            "expected 1000000000 elements of f32[1000000000], found the end of the text");
  EXPECT_EQ(problem_of("(f32[], s32[])", "(1)"), "the tuple (f32[], s32[]) has 2 elements, but 1 are here");
  EXPECT_EQ(problem_of("(f32[])", "(1, 2)"), "the tuple (f32[]) has only 1 elements");
  EXPECT_EQ(problem_of("token[]", "1"), "a literal cannot have the shape token[]");
}

}  // namespace
}  // namespace sapper::hlo
