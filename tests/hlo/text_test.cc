// HLO text: what is read, what is written, and that reading and writing undo each other.
#include "hlo/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"

namespace sapper::hlo {
namespace {

using ::testing::HasSubstr;

TEST(Text, ReadsAndWritesAModule) {
  const auto module = parse_text(R"(HloModule m
ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] add(x, x), metadata={op_name="twice"}
})");
  ASSERT_TRUE(module) << module.error().describe();
  EXPECT_EQ(to_text(*module), R"(HloModule m

ENTRY %main (x: f32[4]) -> f32[4] {
  %x = f32[4] parameter(0)
  ROOT %y = f32[4] add(f32[4] %x, f32[4] %x), metadata={op_name="twice"}
}
)");
}

TEST(Text, ReadsTheCorpusTexts) {
  const std::filesystem::path shared = SAPPER_SOURCE_DIR "/../shared";
  if (!std::filesystem::exists(shared)) GTEST_SKIP() << "no corpus";
  for (const char* folder : {"cases/zoo", "cases", "bench/ops"}) {
    for (const auto& entry : std::filesystem::directory_iterator(shared / folder)) {
      if (entry.path().extension() != ".hlo") continue;
      const auto module = parse_text(*read_file(entry.path()));
      ASSERT_TRUE(module) << entry.path() << ": " << module.error().describe();
      const std::string text = to_text(*module);
      const auto again = parse_text(text);
      ASSERT_TRUE(again) << again.error().describe();
      EXPECT_EQ(to_text(*again), text);
    }
  }
}

}  // namespace
}  // namespace sapper::hlo
