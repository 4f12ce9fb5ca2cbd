// The pool under everything that goes wrong: plugins that are none, workers that are killed, stopped, or grow.
#include <dirent.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/file.h"
#include "target/compiler.h"
#include "target/process.h"
#include "tests/target/environment.h"
#include "tests/target/programs.h"

namespace sapper::target {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const Target cpu = parse_target("cpu").value();
const Shape four_floats = Shape::array(ElementType::F32, {4});

// Processes whose parent is `parent`, zombies included.
std::vector<pid_t> children(pid_t parent = getpid()) {
  std::vector<pid_t> result;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    std::ifstream stat(entry.path() / "stat");
    std::string id;
    std::string name;
    std::string state;
    pid_t its_parent = 0;
    if (pid > 0 && stat >> id >> name >> state >> its_parent && its_parent == parent) result.push_back(pid);
  }
  return result;
}

size_t open_descriptors() {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

// Of this process, or of another.
size_t dump_folders(pid_t owner = getpid()) {
  const std::string prefix = "sapper-dump-" + std::to_string(owner) + "-";
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
    count += entry.path().filename().string().starts_with(prefix) ? 1 : 0;
  return count;
}

template <class Condition>
bool eventually(Condition condition) {
  for (int i = 0; i < 1000; ++i, std::this_thread::sleep_for(10ms))
    if (condition()) return true;
  return false;
}

Result<CompileResult> double_four_floats(CompilerPool& pool) {
  return pool.compile(cpu, {.module = doubling(four_floats), .argument_sets = {{filled(four_floats, 1)}}});
}

class Pool : public testing::Test {
 protected:
  void SetUp() override { SKIP_WITHOUT_PLUGIN(cpu); }
};

Error failure_with_plugin(const std::string& path) {
  const Environment plugin("SAPPER_PLUGIN_CPU", path);
  CompilerPool pool({.workers = 1});
  const auto result = pool.compile(cpu, {.module = doubling(four_floats)});
  EXPECT_FALSE(result);
  return result ? Error() : result.error();
}

TEST(Plugin, Missing) {
  const Error error = failure_with_plugin("/no/such/plugin.so");
  EXPECT_EQ(error.kind, ErrorKind::BadInput);
  EXPECT_EQ(error.message, "/no/such/plugin.so: no such plugin");
}

TEST(Plugin, ProbeDoesNotFetch) {
  const Environment cache("SAPPER_CACHE", testing::TempDir() + "no-cache");
  CompilerPool pool({.workers = 1});
  const auto info = pool.probe(cpu);
  ASSERT_FALSE(info);
  EXPECT_EQ(info.error().kind, ErrorKind::BadInput);
  EXPECT_THAT(info.error().message, HasSubstr("not in the cache"));
}

TEST(Plugin, NotALibrary) {
  const Error error = failure_with_plugin(SAPPER_SOURCE_DIR "/CMakeLists.txt");
  EXPECT_EQ(error.kind, ErrorKind::BadInput);
  EXPECT_THAT(error.message, HasSubstr("CMakeLists.txt: cannot be loaded as a plugin"));
}

TEST(Plugin, ALibraryButNoPlugin) {
  const Error error = failure_with_plugin("/lib/x86_64-linux-gnu/libm.so.6");
  EXPECT_EQ(error.kind, ErrorKind::BadInput);
  EXPECT_THAT(error.message, HasSubstr("a shared library, but not a PJRT plugin"));
}

TEST(Plugin, TooOld) {
  const Error error = failure_with_plugin(OLD_PLUGIN);
  EXPECT_EQ(error.kind, ErrorKind::BadInput);
  EXPECT_THAT(error.message, HasSubstr("PJRT plugin of version 0.7 lacks PJRT_Error_Destroy: too old"));
}

TEST_F(Pool, KilledInTheMiddleOfACompile) {
  CompilerPool pool({.workers = 1});
  ASSERT_OK(pool.probe(cpu));
  const pid_t worker = children().at(0);
  std::jthread killer([worker] {
    std::this_thread::sleep_for(500ms);
    kill(worker, SIGKILL);
  });
  const auto result = pool.compile(cpu, {.module = slow_to_compile(), .dump_passes = true});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::Interrupted);  // no fault of the compiler's
  EXPECT_THAT(result.error().message, HasSubstr("SIGKILL"));
  EXPECT_EQ(dump_folders(), 0);
  ASSERT_OK(double_four_floats(pool));  // in a new worker
  EXPECT_NE(children().at(0), worker);
}

TEST_F(Pool, CrashInTheMiddleOfACompile) {
  CompilerPool pool({.workers = 1});
  ASSERT_OK(pool.probe(cpu));
  std::jthread killer([worker = children().at(0)] {
    std::this_thread::sleep_for(500ms);
    kill(worker, SIGSEGV);
  });
  const auto result = pool.compile(cpu, {.module = slow_to_compile()});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::Crash);
  EXPECT_THAT(result.error().message, HasSubstr("the compiler crashed: killed by SIGSEGV (Segmentation fault)"));
}

TEST_F(Pool, KilledWhileIdleIsReplacedUnnoticed) {
  CompilerPool pool({.workers = 1});
  ASSERT_OK(pool.probe(cpu));
  const pid_t worker = children().at(0);
  kill(worker, SIGKILL);
  siginfo_t ended;
  waitid(P_PID, static_cast<id_t>(worker), &ended, WEXITED | WNOWAIT);
  ASSERT_OK(double_four_floats(pool));
}

TEST_F(Pool, TimeLimit) {
  CompilerPool pool({.workers = 1, .compile_seconds = 1});
  const auto start = std::chrono::steady_clock::now();
  const auto result = pool.compile(cpu, {.module = slow_to_compile()});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::Timeout);
  EXPECT_THAT(result.error().message, HasSubstr("within 1 s"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, 10s);
  EXPECT_TRUE(children().empty());
}

TEST_F(Pool, AStoppedWorkerRunsIntoTheTimeLimit) {
  CompilerPool pool({.workers = 1, .compile_seconds = 1});
  ASSERT_OK(pool.probe(cpu));
  kill(children().at(0), SIGSTOP);
  // More than a socket buffers: even sending must give up.
  const Shape large = Shape::array(ElementType::F32, {8 << 20});
  const auto result = pool.compile(cpu, {.module = doubling(large), .argument_sets = {{Literal(large)}}});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::Timeout);
  ASSERT_OK(pool.probe(cpu));
}

TEST_F(Pool, MemoryLimit) {
  const Shape large = Shape::array(ElementType::F32, {64 << 20});
  CompilerPool pool({.workers = 1, .memory_bytes = int64_t{64} << 20});
  const auto result = pool.compile(cpu, {.module = doubling(large), .argument_sets = {{Literal(large)}}});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::Interrupted);
  EXPECT_THAT(result.error().message, HasSubstr("more than 64 MiB"));
  ASSERT_OK(double_four_floats(pool));
}

TEST_F(Pool, LargeValuesPass) {
  const Shape large = Shape::array(ElementType::F32, {32 << 20});  // 128 MiB each way
  Literal x(large);
  x.set_real(large.element_count() - 1, 3);
  CompilerPool pool({.workers = 1});
  const auto result = pool.compile(cpu, {.module = doubling(large), .argument_sets = {{x}}});
  ASSERT_OK(result);
  EXPECT_EQ(result->outputs[0].real_at(0), 0);
  EXPECT_EQ(result->outputs[0].real_at(large.element_count() - 1), 6);
}

TEST_F(Pool, ManyThreadsOnFewWorkers) {
  CompilerPool pool({.workers = 2});
  std::atomic<int> good = 0;
  {
    std::vector<std::jthread> threads;
    threads.reserve(4);
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 8; ++i) {
          const Shape shape = Shape::array(ElementType::F32, {1 + t * 8 + i});
          const auto result = pool.compile(cpu, {.module = doubling(shape), .argument_sets = {{filled(shape, t)}}});
          if (result && result->outputs[0].shape() == shape && result->outputs[0].real_at(0) == 2 * t) ++good;
        }
      });
  }
  EXPECT_EQ(good, 32);
  EXPECT_LE(children().size(), 2);
}

TEST_F(Pool, LeastRecentlyUsedWorkerMakesRoom) {
  const Target older = parse_target("cpu@0.106").value();
  const Target oldest = parse_target("cpu@0.81").value();
  SKIP_WITHOUT_PLUGIN(older);
  SKIP_WITHOUT_PLUGIN(oldest);
  CompilerPool pool({.workers = 2});
  ASSERT_OK(pool.probe(cpu));
  const pid_t first = children().at(0);
  ASSERT_OK(pool.probe(older));
  ASSERT_OK(pool.probe(cpu));
  ASSERT_OK(pool.probe(oldest));  // in place of `older`
  const std::vector<pid_t> workers = children();
  EXPECT_EQ(workers.size(), 2);
  EXPECT_TRUE(std::ranges::count(workers, first));
}

TEST_F(Pool, LeavesNothingBehind) {
  const size_t before = open_descriptors();
  {
    CompilerPool pool({.workers = 2});
    ASSERT_OK(pool.compile(cpu, {.module = residual(), .dump_passes = true}));
    ASSERT_FALSE(pool.compile(cpu, {.module = "garbage", .dump_passes = true}));
    CompilerPool impatient({.workers = 2, .compile_seconds = 1});
    ASSERT_FALSE(impatient.compile(cpu, {.module = slow_to_compile(), .dump_passes = true}));
  }
  EXPECT_TRUE(children().empty());
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_EQ(dump_folders(), 0);
}

// Not a test: what the parent in the next test does until it is killed.
TEST(Doomed, DISABLED_Compiles) {
  CompilerPool pool({.workers = 1});
  (void)pool.compile(cpu, {.module = slow_to_compile(), .dump_passes = true});
}

TEST_F(Pool, WorkersEndWithTheirParent) {
  const auto parent = spawn({"/proc/self/exe",
                             {"target_test", "--gtest_filter=Doomed.*", "--gtest_also_run_disabled_tests"},
                             current_environment(),
                             {}});
  ASSERT_OK(parent);
  ASSERT_TRUE(eventually([&] { return !children(*parent).empty() && dump_folders(*parent) == 1; }));
  const std::vector<pid_t> workers = children(*parent);
  std::this_thread::sleep_for(500ms);
  kill(*parent, SIGKILL);
  waitpid(*parent, nullptr, 0);
  EXPECT_TRUE(
      eventually([&] { return std::ranges::none_of(workers, [](pid_t worker) { return kill(worker, 0) == 0; }); }));
  EXPECT_EQ(dump_folders(*parent), 0);
}

TEST_F(Pool, AProgramThatIsNoWorkerSaysSo) {
  CompilerPool pool({.workers = 1, .compile_seconds = 2, .worker_program = "/bin/true"});
  const auto result = pool.probe(cpu);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::Crash);
}

}  // namespace
}  // namespace sapper::target
