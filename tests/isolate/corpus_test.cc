// Every model of the corpus is cut, each at one granularity in turn, the optimized ones at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "hlo/proto.h"
#include "tests/isolate/testing.h"

namespace sapper::isolate {
namespace {

constexpr std::string_view models = SAPPER_SOURCE_DIR "/../shared/corpus/models";
constexpr uintmax_t largest_file = 3 << 20;  // larger ones are bench/isolate_cut_bench.cc's

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  if (!std::filesystem::exists(folder)) return files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.is_regular_file() && entry.file_size() <= largest_file) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

// Nothing but what says how devices share data is left out, and every piece is legal.
void expect_good_cut(const std::filesystem::path& file, Granularity granularity) {
  SCOPED_TRACE(fmt::format("{} by {}", file.filename().string(), to_string(granularity)));
  const auto module = hlo::read_module(file.string());
  ASSERT_TRUE(module) << module.error().describe();
  const Cut pieces = cut(*module, {.granularity = granularity});
  EXPECT_GT(pieces.pieces.size(), 0U);
  EXPECT_EQ(covered(pieces.coverage), module->instruction_count());
  for (const auto& [reason, count] : pieces.coverage.skipped_by_reason())
    EXPECT_THAT(reason, testing::StartsWith("exchanges data between devices"));
  for (size_t k = 0; k < pieces.pieces.size(); k += 16) {
    const Piece& piece = pieces.pieces[k];
    const Status legal = hlo::verify(piece.module);
    EXPECT_TRUE(legal) << legal.error().describe();
    EXPECT_EQ(piece_fingerprint(piece.module), piece.fingerprint) << hlo::to_text(piece.module);
    EXPECT_GE(piece.cost, 0);
    const auto again = hlo::parse_proto(hlo::to_proto(piece.module));
    ASSERT_TRUE(again) << again.error().describe();
    EXPECT_EQ(piece_fingerprint(*again), piece.fingerprint) << "after a round trip";
  }
}

TEST(CorpusCut, Models) {
  const auto files = files_in(models);
  if (files.empty()) GTEST_SKIP() << "no corpus";
  for (size_t k = 0; k < files.size(); ++k) expect_good_cut(files[k], every_granularity[k % every_granularity.size()]);
}

TEST(CorpusCut, OptimizedModels) {
  const auto files = files_in(std::filesystem::path(models) / "opt");
  if (files.empty()) GTEST_SKIP() << "no corpus";
  for (const auto& file : files)
    for (const Granularity granularity : every_granularity) expect_good_cut(file, granularity);
}

}  // namespace
}  // namespace sapper::isolate
