// Parallel loops cover their range once. Under the preset `tsan` these say, too, that what is before, in and after a
// loop does not race.
#include "base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

namespace sapper {
namespace {

constexpr int64_t count = 200'000;

TEST(ParallelFor, BlocksCoverTheRangeOnce) {
  std::vector<int> visits(count, 1);
  parallel_for(count, 100, [&](int64_t begin, int64_t end) {
    ASSERT_LT(begin, end);
    for (int64_t i = begin; i < end; ++i) ++visits[static_cast<size_t>(i)];
  });
  EXPECT_EQ(visits, std::vector<int>(count, 2));
}

TEST(ParallelFor, NothingIsNoBlock) {
  parallel_for(0, 100, [](int64_t, int64_t) { FAIL(); });
}

TEST(ParallelFor, LeavesOutWhatTheDeadlineCutsOff) {
  std::atomic<int64_t> visited = 0;
  const DeadlineScope scope(deadline_in(0.02));
  parallel_for(int64_t{1} << 40, 1, [&](int64_t begin, int64_t end) {
    visited += end - begin;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  EXPECT_TRUE(deadline_passed());
  EXPECT_LT(visited, 1'000'000);
  parallel_for_each(100, [](int64_t) { FAIL(); });
}

TEST(ParallelFor, HandsTheDeadlineOnAndTakesItBack) {
  const Deadline deadline = deadline_in(3600);
  {
    const DeadlineScope scope(deadline);
    parallel_for_each(1000, [&](int64_t) {
      EXPECT_EQ(current_deadline(), deadline);
      const DeadlineScope lifted(Deadline::max());
      EXPECT_FALSE(deadline_passed());
    });
  }
  EXPECT_EQ(current_deadline(), Deadline::max());
  parallel_for_each(1000, [](int64_t) { EXPECT_EQ(current_deadline(), Deadline::max()); });
  EXPECT_FALSE(deadline_passed());
}

TEST(ParallelForEach, LoopsFollowEachOther) {
  std::vector<int64_t> values(1000);
  for (int round = 0; round < 20; ++round) {
    std::vector<int64_t> next(values.size());
    parallel_for_each(std::ssize(next), [&](int64_t i) {
      const auto at = static_cast<size_t>(i);
      next[at] = values[at] + values[(at + 500) % values.size()] + 1;
    });
    values = std::move(next);
  }
  EXPECT_EQ(values, std::vector<int64_t>(1000, (1 << 20) - 1));
}

TEST(ParallelForEach, LoopsNest) {
  std::vector<std::vector<int64_t>> rows(50);
  parallel_for_each(std::ssize(rows), [&](int64_t r) {
    std::vector<int64_t>& row = rows[static_cast<size_t>(r)];
    row.resize(500);
    parallel_for_each(std::ssize(row), [&](int64_t i) { row[static_cast<size_t>(i)] = r * i; });
    row.push_back(std::accumulate(row.begin(), row.end(), int64_t{0}));
  });
  for (int64_t r = 0; r < 50; ++r) EXPECT_EQ(rows[static_cast<size_t>(r)].back(), r * 500 * 499 / 2);
}

}  // namespace
}  // namespace sapper
