// Workers that misbehave, played by shell scripts.
#include "target/worker_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/file.h"

namespace sapper::target {
namespace {

using testing::HasSubstr;

// Starts a worker that runs `script`, and says what came of it.
Error start_failure(const std::string& script, const Limits& limits = {5, int64_t{1} << 30}) {
  const std::string program = testing::TempDir() + fmt::format("worker_{}.sh", getpid());
  EXPECT_TRUE(write_file(program, "#!/bin/sh\n" + script));
  chmod(program.c_str(), 0755);
  const auto worker = WorkerProcess::start({program, current_environment(), {}}, limits);
  std::filesystem::remove(program);
  EXPECT_FALSE(worker);
  return worker ? Error() : worker.error();
}

TEST(WorkerProcess, CrashTellsSignalAndLastWords) {
  const Error error = start_failure("echo about to die >&2; kill -SEGV $$");
  EXPECT_EQ(error.kind, ErrorKind::Crash);
  EXPECT_EQ(error.message,
            "the compiler crashed: killed by SIGSEGV (Segmentation fault). Its last words:\n  about to die");
}

TEST(WorkerProcess, ExitIsACrashToo) {
  const Error error = start_failure("exit 7");
  EXPECT_EQ(error.kind, ErrorKind::Crash);
  EXPECT_EQ(error.message, "the compiler crashed: exited with status 7");
}

TEST(WorkerProcess, KilledFromOutside) {
  EXPECT_THAT(start_failure("kill -KILL $$").message, HasSubstr("from outside"));
}

TEST(WorkerProcess, GarbageEndsTheWorker) {
  const Error error = start_failure("echo 'this is not a frame, whatever it is' >&3; exec sleep 100");
  EXPECT_EQ(error.kind, ErrorKind::Crash);
  EXPECT_THAT(error.message, HasSubstr("garbage"));
}

TEST(WorkerProcess, SilenceEndsWithTheTimeLimit) {
  const Error error = start_failure("echo thinking; exec sleep 100", {0.2, int64_t{1} << 30});
  EXPECT_EQ(error.kind, ErrorKind::Timeout);
  EXPECT_THAT(error.message, HasSubstr("within 0.2 s"));
  EXPECT_THAT(error.message, HasSubstr("thinking"));
}

TEST(WorkerProcess, ClosedOutputIsNoReasonToHurry) {
  const Error error = start_failure("exec >&- 2>&-; sleep 0.3; exit 4");
  EXPECT_EQ(error.message, "the compiler crashed: exited with status 4");
}

TEST(WorkerProcess, AFloodOfOutputIsReadAndBounded) {
  const Error error = start_failure("head -c 20000000 /dev/zero | tr '\\0' x; echo; echo last line; exit 1");
  EXPECT_EQ(error.kind, ErrorKind::Crash);
  EXPECT_THAT(error.message, HasSubstr("last line"));
  EXPECT_LT(error.message.size(), 200000);
}

TEST(WorkerProcess, TooMuchMemory) {
  const Error error =
      start_failure("x=$(head -c 300000000 /dev/zero | tr '\\0' x); sleep 100", {20, int64_t{100} << 20});
  EXPECT_EQ(error.kind, ErrorKind::Interrupted);
  EXPECT_THAT(error.message, HasSubstr("more than 100 MiB"));
}

TEST(WorkerProcess, NoSuchProgram) {
  const auto worker = WorkerProcess::start({"/no/such/worker", {}, {}}, {1, 1 << 20});
  ASSERT_FALSE(worker);
  EXPECT_THAT(worker.error().message, HasSubstr("/no/such/worker"));
}

}  // namespace
}  // namespace sapper::target
