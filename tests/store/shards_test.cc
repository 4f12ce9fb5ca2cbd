// Many writers on one store, some of them killed: what is there in the end is what one undisturbed writer leaves.
#include <array>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <random>
#include <thread>

#include "store/store.h"
#include "tests/store/backends.h"
#include "tests/store/dump.h"
#include "tests/store/processes.h"
#include "tests/store/samples.h"

namespace sapper::store {
namespace {

class Shards : public OnEachDatabase {};
SAPPER_ON_EACH_DATABASE(Shards);

struct Shard {
  int index = 0;
  int count = 1;
};

// How a shard meets its end: a byte goes to the pipe `recording` when it begins to record, and where it has recorded
// `most` it waits to be killed.
struct Doom {
  int recording;
  int most;
};

// A campaign over `pieces` sample pieces as isolate makes one: all that it does may be done again. 0: done.
int run_campaign(const std::string& url, int pieces, Shard shard, std::optional<Doom> doom = {}) {
  auto store = Store::open(url);
  if (!store || !store->begin_campaign("c", "{}")) return 1;
  std::vector<Piece> own;
  std::vector<int> numbers;
  std::vector<RunKey> keys;
  for (int i = shard.index; i < pieces; i += shard.count) {
    own.push_back(sample_piece(i));
    numbers.push_back(i);
    keys.push_back(sample_key(i));
  }
  if (!store->add_pieces("c", own)) return 2;
  const auto known = store->adopt("c", keys);
  if (!known || (doom && write(doom->recording, "r", 1) != 1)) return 3;
  int recorded = 0;
  for (size_t i = 0; i < keys.size(); ++i) {
    if ((*known)[i]) continue;
    if (doom && recorded == doom->most) pause();
    if (!store->record("c", sample_record(numbers[i]))) return 4;
    ++recorded;
  }
  return 0;
}

// What a campaign that nothing disturbs leaves in a database of this kind.
std::string undisturbed(Backend backend, int pieces) {
  const auto database = make_database(backend);
  EXPECT_EQ(run_campaign(database->url(), pieces, {}), 0);
  return dump(database->url());
}

TEST_P(Shards, MakeOneStoreTogether) {
  constexpr int pieces = 200;
  constexpr int count = 6;
  const auto processes = start_processes(count, [&](int i) {
    return run_campaign(database->url(), pieces, {i, count});
  });
  for (const pid_t process : processes) EXPECT_EQ(wait_for(process), 0);
  EXPECT_EQ(dump(database->url()), undisturbed(GetParam(), pieces));
}

TEST_P(Shards, OfTheSameWorkRecordItOnce) {
  constexpr int pieces = 200;
  const auto processes = start_processes(4, [&](int) { return run_campaign(database->url(), pieces, {}); });
  for (const pid_t process : processes) EXPECT_EQ(wait_for(process), 0);
  EXPECT_EQ(dump(database->url()), undisturbed(GetParam(), pieces));
}

TEST_P(Shards, ThreadsShareAStore) {
  constexpr int pieces = 120;
  {
    Store store = open();
    ASSERT_TRUE(store.begin_campaign("c", "{}"));
    ASSERT_TRUE(store.add_pieces("c", sample_pieces(pieces)));
    std::vector<std::jthread> threads;
    threads.reserve(4);
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int i = t / 2; i < pieces; i += 2) EXPECT_TRUE(store.record("c", sample_record(i)));
      });
  }
  EXPECT_EQ(dump(database->url()), undisturbed(GetParam(), pieces));
}

// Two shards are killed at the same random instant, again and again, and then left to finish: every other time from the
// start on, while they make tables and add pieces; else while they record.
TEST_P(Shards, KilledAtAnyInstantLoseAndDoubleNothing) {
  const int kills = std::getenv("SAPPER_SLOW_TESTS") != nullptr ? 200 : 20;
  const int most = GetParam() == Backend::Sqlite ? 48 : 14;
  const int pieces = (2 * most + 2) * kills;  // some are left, however fast the machine
  std::mt19937 random(1);
  for (int round = 0; round < kills; ++round) {
    std::array<int, 2> recording{};
    ASSERT_EQ(pipe(recording.data()), 0);
    const auto shards = start_processes(2, [&](int i) {
      return run_campaign(database->url(), pieces, {i, 2}, Doom{recording[1], most});
    });
    close(recording[1]);
    char byte = 0;
    const ssize_t begun = round % 2 == 1 ? read(recording[0], &byte, 1) : 1;
    EXPECT_EQ(begun, 1);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 40'000));
    for (const pid_t shard : shards) kill(shard, SIGKILL);
    for (const pid_t shard : shards) ASSERT_EQ(wait_for(shard), -SIGKILL);
    close(recording[0]);
  }
  const int64_t recorded = open(Access::Read).summary("c")->runs;
  EXPECT_GT(recorded, 0);
  EXPECT_LT(recorded, pieces);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(run_process([&] { return run_campaign(database->url(), pieces, {i, 2}); }), 0);
  EXPECT_EQ(dump(database->url()), undisturbed(GetParam(), pieces));
}

TEST(ShardsOnPostgresql, OutliveALostConnection) {
  const auto database = make_database(Backend::Postgresql);
  if (database == nullptr) GTEST_SKIP() << "PostgreSQL is not installed";
  auto store = Store::open(database->url());
  ASSERT_TRUE(store) << store.error().describe();
  ASSERT_TRUE(store->begin_campaign("c", "{}"));
  ASSERT_TRUE(store->add_pieces("c", sample_pieces(3)));
  const auto other = connect(database->url(), Access::Write);
  ASSERT_TRUE(other);
  const auto cut = [&] {
    const auto rows = (*other)->run(
        "SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid <> pg_backend_pid()");
    return rows && std::get<int64_t>((*rows)[0][0]) == 1;
  };
  ASSERT_TRUE(cut());
  const auto recorded = store->record("c", sample_record(1));
  ASSERT_TRUE(recorded) << recorded.error().describe();
  EXPECT_TRUE(*recorded);
  ASSERT_TRUE(cut());
  const auto summary = store->summary("c");
  ASSERT_TRUE(summary) << summary.error().describe();
  EXPECT_EQ(summary->runs, 1);
}

}  // namespace
}  // namespace sapper::store
