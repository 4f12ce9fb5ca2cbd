#include "fuzz/compiled_features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hlo/proto.h"
#include "hlo/text.h"
#include "llo/dump.h"

namespace sapper::fuzz {
namespace {

using testing::ElementsAre;

const std::string plain = R"(HloModule m
ENTRY main {
  x = f32[4] parameter(0)
  y = f32[4] multiply(x, x)
  ROOT z = f32[4] add(y, x)
}
)";

const std::string fused = R"(HloModule m
body {
  p = f32[4] parameter(0)
  y = f32[4] multiply(p, p)
  ROOT z = f32[4] add(y, p)
}
ENTRY main {
  x = f32[4] parameter(0)
  f = f32[4] fusion(x), kind=kLoop, calls=body
  ROOT t = f32[4] custom-call(f), custom_call_target="Tail"
}
)";

const std::string bundles = R"(     0   :  { %s1_s0 = smov.u32 0  ;;  %v2_v1 = vadd.f32 1.0, 2.0 }
   0x1   :  { %v3_v2 = vmul.f32 %v2_v1, %v2_v1 }
)";

TEST(CompiledFeatures, NameWhatThePassesAndTheEmitterDid) {
  target::CompileResult compiled;
  compiled.stages = {{.index = 0, .pass = "input", .module = plain},
                     {.index = 1, .pass = "idle", .module = plain},
                     {.index = 2, .pass = "fusion", .module = fused},
                     {.index = 3, .pass = "broken", .module = "no module"}};
  compiled.optimized = hlo::to_proto(*hlo::parse_text(fused));
  EXPECT_THAT(compiled_features(compiled),
              ElementsAre("custom call Tail", "multiply into add in a fusion of add", "pass fusion"));
}

TEST(CompiledFeatures, NameTheOpcodesOfTheLastBundles) {
  target::CompileResult compiled;
  compiled.llo = {{llo::to_file_name({"fusion", 70, "final_bundles"}), bundles},
                  {llo::to_file_name({"fusion", 71, "final_bundles"}), "nothing to read"}};
  EXPECT_THAT(compiled_features(compiled), ElementsAre("llo smov.u32", "llo vadd.f32", "llo vmul.f32"));
}

TEST(CompiledFeatures, ComeBackFromTheirText) {
  const CompiledFeatures features = {"llo vadd.f32", "pass algsimp"};
  EXPECT_EQ(compiled_features_from_text(to_text(features)), features);
  EXPECT_TRUE(compiled_features_from_text(to_text({})).empty());
}

}  // namespace
}  // namespace sapper::fuzz
