// Programs whose meaning is left open, whatever the arguments or on some.
#include "check/litmus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hlo/text.h"

namespace sapper::check {
namespace {

using ::testing::HasSubstr;

hlo::Module parsed(const std::string& text) {
  auto module = hlo::parse_text(text);
  EXPECT_TRUE(module) << module.error().describe();
  return *module;
}

hlo::Literal integers(const hlo::Shape& shape, const std::vector<int64_t>& values) {
  hlo::Literal literal(shape);
  for (size_t i = 0; i < values.size(); ++i) literal.set_integer(static_cast<int64_t>(i), values[i]);
  return literal;
}

std::string why_on(const hlo::Module& module, const std::vector<hlo::Literal>& arguments) {
  const auto open = open_meaning_on(module, arguments, {});
  return open ? open->why : "";
}

const std::string scatter = R"(HloModule m
combine {
  a = s32[] parameter(0)
  ROOT b = s32[] parameter(1)
}
ENTRY e {
  x = s32[9] parameter(0)
  i = s32[3,1] parameter(1)
  u = s32[3] parameter(2)
  ROOT r = s32[9] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=combine)";

TEST(Litmus, ScattersThatOverwriteTwiceOrBreakAPromise) {
  const auto on = [&](const std::string& attributes, const std::vector<int64_t>& indices) {
    const hlo::Module module = parsed(scatter + attributes + "\n}\n");
    const auto s32 = [](std::vector<int64_t> sizes) {
      return hlo::Shape::array(hlo::ElementType::S32, std::move(sizes));
    };
    return why_on(module, {hlo::Literal(s32({9})), integers(s32({3, 1}), indices), hlo::Literal(s32({3}))});
  };
  EXPECT_EQ(on("", {1, 2, 3}), "");
  EXPECT_THAT(on("", {1, 2, 1}), HasSubstr("overwrites an element twice"));
  EXPECT_THAT(on(", unique_indices=true", {1, 2, 1}), HasSubstr("says that its indices are unique"));
  EXPECT_THAT(on(", indices_are_sorted=true", {3, 2, 1}), HasSubstr("says that its indices are sorted"));
}

TEST(Litmus, DivisionsOfIntegersThatTheDeviceDecides) {
  const hlo::Module module = parsed(
      "HloModule m\nENTRY e {\n  x = s8[2] parameter(0)\n  y = s8[2] parameter(1)\n  ROOT r = s8[2] divide(x, y)\n}\n");
  const hlo::Shape shape = hlo::Shape::array(hlo::ElementType::S8, {2});
  EXPECT_EQ(why_on(module, {integers(shape, {-128, 5}), integers(shape, {1, -1})}), "");
  EXPECT_THAT(why_on(module, {integers(shape, {1, 5}), integers(shape, {1, 0})}), HasSubstr("divides by 0"));
  EXPECT_THAT(why_on(module, {integers(shape, {-128, 5}), integers(shape, {-1, 1})}),
              HasSubstr("the least number by -1"));
}

TEST(Litmus, NumbersThatDoNotFitAnInteger) {
  const hlo::Module module =
      parsed("HloModule m\nENTRY e {\n  x = f32[1] parameter(0)\n  ROOT r = u8[1] convert(x)\n}\n");
  const auto on = [&](double value) {
    hlo::Literal x(hlo::Shape::array(hlo::ElementType::F32, {1}));
    x.set_real(0, value);
    return why_on(module, {x});
  };
  EXPECT_EQ(on(255.5), "");
  EXPECT_EQ(on(-0.5), "");
  EXPECT_THAT(on(256), HasSubstr("does not fit"));
  EXPECT_THAT(on(-1), HasSubstr("does not fit"));
}

TEST(Litmus, GathersThatAreMadeForIndicesInBounds) {
  const auto on = [](const std::string& indices, const std::vector<int64_t>& values) {
    const hlo::Module module = parsed(
        "HloModule m\nENTRY e {\n  x = f32[5] parameter(0)\n  i = s32[2] parameter(1)\n"
        "  k = s32[2] custom-call(i), custom_call_target=\"AssumeGatherIndicesInBound\"\n"
        "  ROOT r = f32[2] gather(x, " +
        indices +
        "), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}\n}\n");
    return why_on(module, {hlo::Literal(hlo::Shape::array(hlo::ElementType::F32, {5})),
                           integers(hlo::Shape::array(hlo::ElementType::S32, {2}), values)});
  };
  EXPECT_EQ(on("k", {0, 4}), "");
  EXPECT_THAT(on("k", {0, 5}), HasSubstr("made for indices in bounds, and 5 is not"));
  EXPECT_THAT(on("k", {-1, 0}), HasSubstr("made for indices in bounds"));
  EXPECT_EQ(on("i", {0, 5}), "") << "without the mark they are clamped";
}

TEST(Litmus, ScattersThatAreMadeForIndicesInBounds) {
  const auto on = [&](const std::string& mark, const std::vector<int64_t>& values) {
    const hlo::Module module = parsed(
        "HloModule m\nadd {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n"
        "ENTRY e {\n  x = f32[6,4] parameter(0)\n  i = s32[2] parameter(1)\n  u = f32[2,2,4] parameter(2)\n"
        "  k = s32[2] custom-call(i), custom_call_target=\"" +
        mark +
        "\"\n  ROOT r = f32[6,4] scatter(x, k, u), update_window_dims={1,2}, inserted_window_dims={}, "
        "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add\n}\n");
    const auto f32 = [](std::vector<int64_t> sizes) {
      return hlo::Literal(hlo::Shape::array(hlo::ElementType::F32, std::move(sizes)));
    };
    return why_on(module,
                  {f32({6, 4}), integers(hlo::Shape::array(hlo::ElementType::S32, {2}), values), f32({2, 2, 4})});
  };
  for (const char* const mark : {"AssumeGatherIndicesInBound", "GatherScatterIndicesBitpacked"}) {
    EXPECT_EQ(on(mark, {0, 4}), "");
    EXPECT_THAT(on(mark, {0, 5}), HasSubstr("made for indices in bounds, and 5 is not"));
  }
  EXPECT_EQ(on("Sharding", {0, 5}), "") << "without the mark the update is dropped";
}

TEST(Litmus, ComparisonsThatOrderNothing) {
  const auto sorted_by = [](const std::string& direction) {
    return parsed(
        "HloModule m\nc {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT r = pred[] compare(a, b), "
        "direction=" +
        direction +
        "\n}\nENTRY e {\n  x = s32[4] parameter(0)\n  ROOT r = s32[4] sort(x), dimensions={0}, to_apply=c\n}\n");
  };
  EXPECT_FALSE(open_meaning(sorted_by("LT")));
  const auto open = open_meaning(sorted_by("LE"));
  ASSERT_TRUE(open);
  EXPECT_EQ(open->opcode, hlo::Opcode::Sort);
}

}  // namespace
}  // namespace sapper::check
