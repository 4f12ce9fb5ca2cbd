// Child processes: starting them (safely beside threads, without leaking descriptors) and saying how they ended.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace sapper::target {

// A file descriptor, closed at the end of its life.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor();
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_ = -1;
};

struct SpawnRequest {
  std::string program;                           // its path
  std::vector<std::string> arguments;            // [0] is the name that the process shows
  std::vector<std::string> environment;          // "NAME=value"
  std::vector<std::pair<int, int>> descriptors;  // (ours, the child's); 0 is /dev/null, and there are no others
};

// Starts a child in a process group of its own (a Ctrl-C at the terminal is for us to handle), with default signal
// handling, through posix_spawn.
[[nodiscard]] Result<pid_t> spawn(const SpawnRequest& request);

// Processor time of this process, all its threads.
[[nodiscard]] double processor_seconds();

// This process's environment as "NAME=value".
[[nodiscard]] std::vector<std::string> current_environment();

// "killed by SIGSEGV (Segmentation fault)", "exited with status 3": what waitpid's status means.
[[nodiscard]] std::string describe_exit(int wait_status);

// Two ends, closed on exec: a byte stream both ways, or (read end, write end).
[[nodiscard]] Result<std::pair<Descriptor, Descriptor>> socket_pair();
[[nodiscard]] Result<std::pair<Descriptor, Descriptor>> pipe_pair();

struct ProcessOutput {
  int status = 0;    // as of waitpid; 0: success
  std::string text;  // stdout and stderr together
};

// Runs a program with our environment to its end.
[[nodiscard]] Result<ProcessOutput> run_process(const std::vector<std::string>& arguments);

}  // namespace sapper::target
