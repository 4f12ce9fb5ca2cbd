// HLO text of the corpus: what is written reads back to the same module.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "hlo/fingerprint.h"
#include "hlo/proto.h"
#include "hlo/text.h"

namespace sapper::hlo {
namespace {

namespace fs = std::filesystem;

const fs::path shared = SAPPER_SOURCE_DIR "/../shared";

std::vector<fs::path> files(const char* folder, const char* extension, size_t largest) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(shared / folder))
    if (entry.path().extension() == extension && entry.file_size() <= largest) found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

// Optimized modules of 2026 state in another way than those before how floats compare, and leave out default
// precisions; text says it in the older way. So their fingerprint is that of their text only from the second round on.
enum class Forms { AsText, Newer };

void expect_texts_agree(const Module& module, const fs::path& path, Forms forms) {
  for (const bool operand_shapes : {false, true}) {
    PrintOptions options;
    options.operand_shapes = operand_shapes;
    const std::string text = to_text(module, options);
    const auto again = parse_text(text);
    ASSERT_TRUE(again) << path << ": " << again.error().describe();
    EXPECT_EQ(to_text(*again, options), text) << path;
    if (operand_shapes) continue;
    const Module expected = forms == Forms::AsText ? module : *parse_text(to_text(*again));
    EXPECT_EQ(fingerprint(*again), fingerprint(expected)) << path;
  }
}

TEST(TextCorpus, Texts) {
  if (!fs::exists(shared)) GTEST_SKIP() << "no corpus";
  for (const char* folder : {"cases/zoo", "cases", "bench/ops"}) {
    for (const fs::path& path : files(folder, ".hlo", SIZE_MAX)) {
      const auto module = parse_text(*read_file(path));
      ASSERT_TRUE(module) << path << ": " << module.error().describe();
      expect_texts_agree(*module, path, Forms::AsText);
    }
  }
}

TEST(TextCorpus, Protos) {
  if (!fs::exists(shared)) GTEST_SKIP() << "no corpus";
  constexpr size_t largest = 30'000;  // of compressed models: the others say nothing new and take long
  auto paths = files("corpus/ops", ".pb", SIZE_MAX);
  for (const char* folder : {"corpus/ops2", "corpus/models"})
    for (const char* extension : {".pb", ".zst"})
      for (const fs::path& path : files(folder, extension, largest)) paths.push_back(path);
  for (const fs::path& path : files("corpus/models/opt", ".zst", 2 * largest)) paths.push_back(path);
  for (const fs::path& path : paths) {
    const auto module = parse_proto(*read_file(path));
    ASSERT_TRUE(module) << path << ": " << module.error().describe();
    expect_texts_agree(*module, path, path.native().ends_with(".opt.pb.zst") ? Forms::Newer : Forms::AsText);
  }
}

}  // namespace
}  // namespace sapper::hlo
