#include "target/process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "target/worker_log.h"

namespace sapper::target {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(RunProcess, GivesOutputAndStatus) {
  const auto output = run_process({"/bin/sh", "-c", "echo out; echo err >&2; exit 3"});
  ASSERT_TRUE(output);
  EXPECT_EQ(output->text, "out\nerr\n");
  EXPECT_EQ(describe_exit(output->status), "exited with status 3");
}

TEST(RunProcess, NamesTheSignal) {
  const auto output = run_process({"/bin/sh", "-c", "kill -SEGV $$"});
  ASSERT_TRUE(output);
  EXPECT_EQ(describe_exit(output->status), "killed by SIGSEGV (Segmentation fault)");
}

TEST(RunProcess, NoSuchProgram) {
  const auto output = run_process({"/no/such/program"});
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().kind, ErrorKind::BadInput);
  EXPECT_THAT(output.error().message, HasSubstr("/no/such/program"));
}

TEST(RunProcess, ChildrenInheritNoDescriptors) {
  const int leak = dup(1);  // without close-on-exec
  const auto output = run_process({"/bin/sh", "-c", "echo /proc/$$/fd/*"});
  close(leak);
  ASSERT_TRUE(output);
  const size_t count = static_cast<size_t>(std::ranges::count(output->text, ' ')) + 1;
  EXPECT_LE(count, 4) << output->text;  // 0, 1, 2, and the shell's own for the glob
}

WorkerLog log_of(std::string_view text) {
  auto ends = pipe_pair().value();
  std::string_view rest = text;
  WorkerLog log(std::move(ends.first));
  while (!rest.empty()) {
    const ssize_t n = write(ends.second.get(), rest.data(), std::min<size_t>(rest.size(), 4096));
    rest.remove_prefix(static_cast<size_t>(n));
    log.drain();
  }
  return log;
}

TEST(WorkerLog, LastWordsLeaveStackTracesOut) {
  std::string text = "F0000 00:00:17.1 30501 file.cc:906] Check failed: a == b\n*** Check failure stack trace: ***\n";
  for (int i = 0; i < 50; ++i) text += "    @     0x7f0000000000  frame\n";
  for (int i = 0; i < 20; ++i) text += "chatter " + std::to_string(i) + "\n";
  const std::string words = log_of(text).last_words();
  EXPECT_THAT(words, HasSubstr("Check failed: a == b"));
  EXPECT_THAT(words, HasSubstr("chatter 19"));
  EXPECT_THAT(words, Not(HasSubstr("frame")));
  EXPECT_THAT(words, Not(HasSubstr("chatter 3\n")));
}

TEST(WorkerLog, KeepsABoundedTail) {
  WorkerLog log = log_of(std::string(1 << 20, 'x') + "end");
  const std::string text = log.take();
  EXPECT_LE(text.size(), 128 << 10);
  EXPECT_TRUE(text.ends_with("end"));
  EXPECT_EQ(log.take(), "");
  EXPECT_EQ(log.descriptor(), -1);
}

}  // namespace
}  // namespace sapper::target
