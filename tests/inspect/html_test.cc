// Reports as text: they need nothing else, and whatever is in a module does not end the data. What they do in a browser
// is in tests/inspect/browser_test.py.
#include "inspect/html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "inspect/packed_tensor.h"
#include "tests/inspect/inspections.h"

namespace sapper::inspect {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

nlohmann::json data_in(const std::string& html) {
  const std::string begin = R"(id="data">)";
  const size_t from = html.find(begin) + begin.size();
  return nlohmann::json::parse(html.substr(from, html.find("</script>", from) - from));
}

TEST(Html, NeedsNothingElse) {
  const std::string html = to_html(testing::small_inspection());
  for (const char* reference : {"https://", "src=", "href=", "url(", "@import", "fetch("})
    EXPECT_THAT(html, Not(HasSubstr(reference)));
  EXPECT_THAT(html, Not(HasSubstr("/*SCRIPT*/")));
  EXPECT_THAT(html, Not(HasSubstr("/*STYLE*/")));
}

TEST(Html, HoldsWhatWasSeen) {
  const nlohmann::json data = data_in(to_html(testing::small_inspection()));
  EXPECT_EQ(data["kernel"], "kernel");
  EXPECT_EQ(data["first"], 1);
  EXPECT_EQ(data["inspected"].size(), 4);
  EXPECT_EQ(data["inspected"][1]["standing"], "diverges");
  EXPECT_EQ(data["inspected"][1]["worst"]["line"], 200);
  EXPECT_EQ(data["inspected"][3]["liberty"], "not rounded");
  EXPECT_EQ(data["code"].size(), 300);
  EXPECT_THAT(data["inspected"][1]["tensor"]["cells"], ElementsAre(8, 16, 130));
}

TEST(Html, NamesCannotEndTheData) {
  Inspection inspection = testing::small_inspection();
  inspection.notes = {"</script><script>alert(1)</script>", "<!--", "\xff\xfe is no UTF-8"};
  const std::string html = to_html(inspection);
  EXPECT_THAT(html, Not(HasSubstr("alert(1)</script>")));
  EXPECT_EQ(data_in(html)["notes"][0], inspection.notes[0]);
}

TEST(Html, InfinitiesAndNanAreText) {
  Inspection inspection = testing::small_inspection();
  inspection.instructions[1].worst->got = std::numeric_limits<double>::infinity();
  inspection.instructions[1].max_absolute = std::nan("");
  const nlohmann::json item = data_in(to_html(inspection))["inspected"][1];
  EXPECT_EQ(item["worst"]["got"], "inf");
  EXPECT_EQ(item["maxAbsolute"], "nan");
}

InspectedInstruction item_of(const hlo::Literal& expected, const hlo::Literal& got) {
  InspectedInstruction item;
  item.expected_value = expected;
  item.got_value = got;
  item.seen_elements.assign(static_cast<size_t>(expected.element_count()), true);
  return item;
}

TEST(PackedTensor, SmallOnesAreWhole) {
  const hlo::Literal expected(hlo::Shape::array(hlo::ElementType::F32, {3, 5}));
  const PackedTensor packed = pack(item_of(expected, expected), 15);
  EXPECT_THAT(packed.cells, ElementsAre(3, 5));
  EXPECT_TRUE(packed.element.empty());
}

TEST(PackedTensor, ABlockShowsTheElementThatDiffersMost) {
  const hlo::Literal expected(hlo::Shape::array(hlo::ElementType::F32, {100, 70}));
  hlo::Literal got = expected;
  got.set_real(51 * 70 + 33, 2);
  got.set_real(51 * 70 + 34, -7);
  const PackedTensor packed = pack(item_of(expected, got), 100);
  EXPECT_THAT(packed.block, ElementsAre(16, 8));
  EXPECT_THAT(packed.cells, ElementsAre(7, 9));
  const size_t cell = 51 / 16 * 9 + 34 / 8;
  EXPECT_EQ(packed.got[cell], -7);
  EXPECT_EQ(packed.element[cell], 51 * 70 + 34);
}

TEST(PackedTensor, WhatIsNoNumberIsShownBeforeAll) {
  const hlo::Literal expected(hlo::Shape::array(hlo::ElementType::F32, {64}));
  hlo::Literal got = expected;
  got.set_real(3, 1e30);
  got.set_real(5, std::nan(""));
  const PackedTensor packed = pack(item_of(expected, got), 1);
  EXPECT_EQ(packed.element[0], 5U);
}

TEST(PackedTensor, WithoutMarksEverythingWasSeen) {
  const hlo::Literal expected(hlo::Shape::array(hlo::ElementType::F32, {3}));
  InspectedInstruction item = item_of(expected, expected);
  item.seen_elements.clear();
  EXPECT_THAT(pack(item, 3).seen, ElementsAre(true, true, true));
}

TEST(PackedTensor, SeenElementsAreShownBeforeOthers) {
  const hlo::Literal expected(hlo::Shape::array(hlo::ElementType::F32, {8}));
  InspectedInstruction item = item_of(expected, expected);
  item.seen_elements.assign(8, false);
  item.seen_elements[6] = true;
  const PackedTensor packed = pack(item, 1);
  EXPECT_EQ(packed.element[0], 6U);
  EXPECT_TRUE(packed.seen[0]);
}

}  // namespace
}  // namespace sapper::inspect
