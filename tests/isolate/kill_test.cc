// Campaigns that are killed: `sapper isolate` as a process of its own, again and again, on each kind of store. Nothing
// is lost or doubled, and no process of its compilers stays behind.
#include <fmt/ranges.h>
#include <sys/prctl.h>

#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include "isolate/campaign_report.h"
#include "target/target.h"
#include "tests/store/backends.h"
#include "tests/store/processes.h"

namespace sapper::isolate {
namespace {

using std::chrono::milliseconds;

constexpr const char* campaign = "killed";
constexpr int workers_stayed = 99;  // exit codes of `isolate` below
constexpr int was_killed = 100;     // and so many workers were there to end by themselves

int exec_isolate(const std::string& store) {
  freopen("/dev/null", "w", stdout);
  freopen("/dev/null", "w", stderr);
  execl(SAPPER_BINARY, "sapper", "isolate", SAPPER_SOURCE_DIR "/examples", "--on", "cpu", "--seeds", "1", "--campaign",
        campaign, "--store", store.c_str(), nullptr);
  return 127;
}

// How many children there were to wait for; nullopt: some have not ended in time.
std::optional<int> wait_for_all(milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  for (int ended = 0; std::chrono::steady_clock::now() < until;) {
    const pid_t pid = waitpid(-1, nullptr, WNOHANG);
    if (pid < 0) return ended;
    if (pid > 0) ++ended;
    if (pid == 0) std::this_thread::sleep_for(milliseconds(5));
  }
  return std::nullopt;
}

// Runs the campaign, killing sapper after `delay` (0: not); what it says, or one of the codes above. A process in
// between inherits the workers that sapper leaves behind, and waits for their end.
int isolate(const std::string& store, milliseconds delay) {
  return store::run_process([&] {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    const pid_t sapper = store::start_process([&] { return exec_isolate(store); });
    if (delay.count() > 0) {
      std::this_thread::sleep_for(delay);
      kill(sapper, SIGKILL);
    }
    const int code = store::wait_for(sapper);
    const std::optional<int> orphans = wait_for_all(milliseconds(20'000));
    if (!orphans) return workers_stayed;
    return code < 0 ? was_killed + *orphans : code;
  });
}

std::string number(const std::optional<double>& value) { return value ? fmt::format("{:a}", *value) : "none"; }

// All that a campaign holds but times, a line each: results with their numbers, where pieces stand, findings.
std::vector<std::string> contents(const std::string& url) {
  auto store = store::Store::open(url, store::Access::Read);
  EXPECT_TRUE(store) << store.error().describe();
  std::vector<std::string> lines;
  const std::vector<store::Run> runs = store->runs(campaign).value();
  for (const store::Run& run : runs) {
    lines.push_back(fmt::format("run {} {} {} {} {} {} {} {}", run.key.piece, run.key.configuration, run.key.seed,
                                run.verdict, run.reason, number(run.max_excess), number(run.max_relative),
                                number(run.decided)));
    const store::Piece piece = store->piece(campaign, run.key.piece).value();
    for (const store::Occurrence& at : piece.occurrences)
      lines.push_back(fmt::format("{} at {} {} {} {} {}", run.key.piece, at.module, at.computation, at.instruction,
                                  at.source, at.times));
  }
  const std::vector<store::RankedFinding> findings = store->findings(campaign).value();
  for (const store::RankedFinding& finding : findings)
    lines.push_back(fmt::format("finding {} {} {}", finding.id, finding.finding.stage, finding.finding.signature));
  const store::Summary summary = store->summary(campaign).value();
  lines.push_back(
      fmt::format("{} pieces, {} run, {} occurrences", summary.pieces, summary.pieces_run, summary.occurrences));
  std::ranges::sort(lines);
  return lines;
}

class Killed : public store::OnEachDatabase {
 protected:
  void SetUp() override {
    if (!target::plugin_present(*target::parse_target("cpu"))) GTEST_SKIP() << "no XLA:CPU here";
    OnEachDatabase::SetUp();
  }
};
SAPPER_ON_EACH_DATABASE(Killed);

TEST_P(Killed, AtAnyInstantItEndsTheSame) {
  const auto undisturbed = make_database(GetParam());
  const auto began = std::chrono::steady_clock::now();
  const int expected = isolate(undisturbed->url(), milliseconds(0));
  ASSERT_EQ(expected, 1) << "there are findings to be lost";
  const std::chrono::duration<double, std::milli> duration = std::chrono::steady_clock::now() - began;
  const std::vector<std::string> whole = contents(undisturbed->url());

  const int kills = std::getenv("SAPPER_SLOW_TESTS") != nullptr ? 200 : 6;
  std::mt19937 random(20261130);
  // Mostly early, when the store is opened and the first results come; at times so late that what takes longest is
  // done.
  const auto instant = [&] {
    const double share = std::uniform_real_distribution<>(0, 1)(random);
    return milliseconds(10) + std::chrono::round<milliseconds>(duration * share * share * share);
  };
  int orphans = 0;
  int ended = 0;
  for (int killed = 0; killed < kills;) {
    const int code = isolate(database->url(), instant());
    ASSERT_NE(code, workers_stayed);
    if (code >= was_killed) {
      ++killed;
      orphans += code - was_killed;
      continue;
    }
    // It was done before. What was killed so often must be the whole; then from the beginning again.
    ++ended;
    ASSERT_EQ(code, expected);
    ASSERT_EQ(contents(database->url()), whole);
    database = make_database(GetParam());
  }
  EXPECT_EQ(isolate(database->url(), milliseconds(0)), expected);
  EXPECT_EQ(contents(database->url()), whole);
  EXPECT_GT(orphans, 0);
  fmt::print("{} kills, {} workers left behind by them ended, {} campaigns ended meanwhile\n", kills, orphans, ended);
}

}  // namespace
}  // namespace sapper::isolate
