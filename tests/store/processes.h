// Other processes that use a store: forked, without threads or connections to take along.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

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
