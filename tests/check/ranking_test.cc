// Which mismatch comes first, and how much was decided.
#include "check/ranking.h"

#include <gtest/gtest.h>

#include <limits>

namespace sapper::check {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Report mismatch(const std::string& path, double excess, double relative) {
  Report report;
  report.path = path;
  report.verdict = Verdict::Mismatch;
  OutputReport output;
  output.verdict = Verdict::Mismatch;
  output.difference.elements = 10;
  output.difference.max_excess = excess;
  output.difference.worst_relative = relative;
  report.outputs = {output};
  return report;
}

TEST(Ranking, PutsTheLargestExcessFirst) {
  const std::string text =
      ranking({*ranked_mismatch(mismatch("small", 2, 9)), *ranked_mismatch(mismatch("exact", infinity, 1)),
               *ranked_mismatch(mismatch("large", 50, 1))});
  EXPECT_LT(text.find("exact: where nothing may deviate"), text.find("large: 50 times its bound"));
  EXPECT_LT(text.find("large"), text.find("small"));
}

TEST(Ranking, IsForSeveralMismatches) {
  EXPECT_EQ(ranked_mismatch(Report{}), std::nullopt);
  EXPECT_EQ(ranking({*ranked_mismatch(mismatch("one", 2, 9))}), "");
}

TEST(Ranking, NothingIsDecidedWhereNothingWasCompared) {
  EXPECT_EQ(decided_share(Report{}), std::nullopt);
  Report report = mismatch("m", 2, 9);
  EXPECT_EQ(decided_share(report), 1);
  report.outputs[0].difference.undetermined = 4;
  EXPECT_DOUBLE_EQ(*decided_share(report), 0.6);
}

}  // namespace
}  // namespace sapper::check
