#include "llo/missing_tiles.h"

#include <gtest/gtest.h>

#include "hlo/text.h"

namespace sapper::llo {
namespace {

std::string result_of_product(const std::string& user) {
  auto module =
      hlo::parse_text("HloModule m\nENTRY e {\n  x = bf16[17,32]{0,1} parameter(0)\n  ROOT y = " + user + "\n}\n");
  EXPECT_TRUE(module) << module.error().describe();
  state_missing_tiles(*module);
  return module->entry_computation().instructions[0].shape.to_text();
}

TEST(MissingTiles, AreThoseOfTheBitcast) {
  EXPECT_EQ(result_of_product("bf16[17,2,16]{0,2,1:T(8,128)(2,1)} bitcast(x)"), "bf16[17,32]{0,1:T(8,128)(2,1)}");
}

TEST(MissingTiles, StayAwayWhereNothingSaysThem) {
  EXPECT_EQ(result_of_product("bf16[17,2,16]{0,2,1} bitcast(x)"), "bf16[17,32]{0,1}");
  EXPECT_EQ(result_of_product("bf16[17,32]{0,1:T(8,128)(2,1)} copy(x)"), "bf16[17,32]{0,1}");
  EXPECT_EQ(result_of_product("bf16[17,32]{1,0:T(8,128)(2,1)} bitcast(x)"), "bf16[17,32]{0,1}") << "other bytes";
}

}  // namespace
}  // namespace sapper::llo
