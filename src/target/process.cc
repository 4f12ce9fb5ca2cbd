#include "target/process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>

namespace sapper::target {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (const std::string& s : strings) result.push_back(const_cast<char*>(s.c_str()));  // posix_spawn does not write
  result.push_back(nullptr);
  return result;
}

// What posix_spawn is told besides program and arguments; freed at the end of its life.
struct SpawnSettings {
  SpawnSettings() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
};

// The child's descriptors are numbered from 0: ours lie above, so that making one of them never overwrites another.
Descriptor lifted(int fd) {
  constexpr int first_free = 8;
  Descriptor low(fd);
  return fd >= first_free ? std::move(low) : Descriptor(fcntl(fd, F_DUPFD_CLOEXEC, first_free));
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) close(fd_);
}

Result<pid_t> spawn(const SpawnRequest& request) {
  SpawnSettings settings;
  posix_spawn_file_actions_addopen(&settings.actions, 0, "/dev/null", O_RDONLY, 0);
  int highest = 2;
  for (const auto& [ours, theirs] : request.descriptors) {
    posix_spawn_file_actions_adddup2(&settings.actions, ours, theirs);  // also clears close-on-exec when both are equal
    highest = std::max(highest, theirs);
  }
  posix_spawn_file_actions_addclosefrom_np(&settings.actions, highest + 1);

  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&settings.attributes, &none);
  posix_spawnattr_setsigdefault(&settings.attributes, &all);
  posix_spawnattr_setpgroup(&settings.attributes, 0);
  posix_spawnattr_setflags(&settings.attributes,
                           POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);

  pid_t child = 0;
  const int error = posix_spawn(&child, request.program.c_str(), &settings.actions, &settings.attributes,
                                pointers(request.arguments).data(), pointers(request.environment).data());
  if (error != 0)
    return fail(error == ENOENT || error == EACCES ? ErrorKind::BadInput : ErrorKind::Interrupted,
                "{}: cannot start: {}", request.program, std::strerror(error));
  return child;
}

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::vector<std::string> current_environment() {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) result.emplace_back(*entry);
  return result;
}

std::string describe_exit(int wait_status) {
  if (WIFEXITED(wait_status)) return fmt::format("exited with status {}", WEXITSTATUS(wait_status));
  const int signal = WTERMSIG(wait_status);
  const char* name = sigabbrev_np(signal);
  const char* meaning = sigdescr_np(signal);
  return fmt::format("killed by SIG{} ({})", name == nullptr ? std::to_string(signal) : name,
                     meaning == nullptr ? "?" : meaning);
}

Result<std::pair<Descriptor, Descriptor>> socket_pair() {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return fail(ErrorKind::Interrupted, "cannot make a socket pair: {}", std::strerror(errno));
  return std::pair(lifted(ends[0]), lifted(ends[1]));
}

Result<std::pair<Descriptor, Descriptor>> pipe_pair() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    return fail(ErrorKind::Interrupted, "cannot make a pipe: {}", std::strerror(errno));
  return std::pair(lifted(ends[0]), lifted(ends[1]));
}

Result<ProcessOutput> run_process(const std::vector<std::string>& arguments) {
  ProcessOutput output;
  SAPPER_TRY(auto ends, pipe_pair());
  auto& [reading, writing] = ends;
  SAPPER_TRY(const pid_t child,
             spawn({arguments[0], arguments, current_environment(), {{writing.get(), 1}, {writing.get(), 2}}}));
  writing = Descriptor();
  std::array<char, 4096> chunk{};
  for (ssize_t n = 0; (n = read(reading.get(), chunk.data(), chunk.size())) != 0;) {
    if (n < 0 && errno != EINTR) break;
    if (n > 0) output.text.append(chunk.data(), static_cast<size_t>(n));
  }
  while (waitpid(child, &output.status, 0) < 0 && errno == EINTR) {
  }
  return output;
}

}  // namespace sapper::target
