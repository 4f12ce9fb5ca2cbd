// Other processes that use a store: forked, without threads or connections to take along.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <vector>

namespace sapper::store {

// Runs `body`, whose result is the exit code, in a process of its own.
template <class Body>
pid_t start_process(const Body& body) {
  const pid_t pid = fork();
  if (pid < 0) throw std::runtime_error("fork failed");
  if (pid != 0) return pid;
  int code = 99;
  try {
    code = body();
  } catch (const std::exception&) {
    code = 98;
  }
  _exit(code);
}

// The same for body(0) to body(count - 1), all at a time.
template <class Body>
std::vector<pid_t> start_processes(int count, const Body& body) {
  std::vector<pid_t> processes(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) processes[static_cast<size_t>(i)] = start_process([&] { return body(i); });
  return processes;
}

// The exit code; the signal that ended it, negated.
inline int wait_for(pid_t pid) {
  int status = 0;
  if (waitpid(pid, &status, 0) != pid) throw std::runtime_error("waitpid failed");
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

template <class Body>
int run_process(const Body& body) {
  return wait_for(start_process(body));
}

}  // namespace sapper::store
