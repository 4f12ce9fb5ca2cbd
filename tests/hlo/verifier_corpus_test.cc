// Every module of the corpus is one that XLA accepts or wrote itself: the verifier must accept it too.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "hlo/proto.h"
#include "hlo/verifier.h"

namespace sapper::hlo {
namespace {

namespace fs = std::filesystem;

class VerifierCorpus : public testing::TestWithParam<const char*> {};

TEST_P(VerifierCorpus, Accepts) {
  const fs::path folder = fs::path(SAPPER_SOURCE_DIR) / "../shared/corpus" / GetParam();
  if (!fs::exists(folder)) GTEST_SKIP() << "no corpus";
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".pb" && entry.path().extension() != ".zst") continue;
    SCOPED_TRACE(entry.path().filename().string());
    const auto bytes = read_file(entry.path());
    ASSERT_TRUE(bytes) << bytes.error().describe();
    const auto module = parse_proto(*bytes);
    ASSERT_TRUE(module) << module.error().describe();
    const Status status = verify(*module);
    EXPECT_TRUE(status) << status.error().describe();
  }
}

INSTANTIATE_TEST_SUITE_P(Corpus, VerifierCorpus, testing::Values("ops", "ops2", "models", "models/opt"));

// What a rule infers is what the corpus states, element types and dynamism included, where precision is not mixed.
TEST(VerifierCorpusShapes, AreInferredAsStated) {
  const fs::path folder = fs::path(SAPPER_SOURCE_DIR) / "../shared/corpus/ops";
  if (!fs::exists(folder)) GTEST_SKIP() << "no corpus";
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".pb") continue;
    SCOPED_TRACE(entry.path().filename().string());
    const auto bytes = read_file(entry.path());
    ASSERT_TRUE(bytes);
    const auto module = parse_proto(*bytes);
    ASSERT_TRUE(module);
    for_each_instruction(*module, [&](const Computation& computation, const Instruction& instruction) {
      const Result<Shape> inferred = infer_shape(*module, computation, instruction);
      ASSERT_TRUE(inferred) << inferred.error().describe();
      EXPECT_EQ(inferred->to_text(), instruction.shape.to_text(false)) << instruction.name;
    });
  }
}

}  // namespace
}  // namespace sapper::hlo
