#include "target/worker_process.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

namespace sapper::target {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr const char* in_worker = "SAPPER_IN_WORKER";  // set in a worker's environment
constexpr int worker_socket = 3;                       // the descriptor's number in the worker
constexpr milliseconds watch_interval{20};             // between looks at a busy worker's memory
constexpr milliseconds exit_patience{2000};            // for a process that has closed its connection to end

Error timeout(double seconds) {
  return {ErrorKind::Timeout, fmt::format("the compiler did not finish within {} s and was stopped", seconds), {}};
}

Error too_large(int64_t bytes) {
  return {ErrorKind::Interrupted,
          fmt::format("the compiler took more than {} MiB of memory and was stopped", bytes >> 20),
          {}};
}

Error dumps_too_large(int64_t bytes) {
  return {ErrorKind::Resource,
          fmt::format("the HLO after each pass takes more than {} MiB; the compiler was stopped", bytes >> 20),
          {}};
}

int64_t folder_bytes(const std::string& folder) {
  int64_t bytes = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    bytes += static_cast<int64_t>(entry.is_regular_file(error) ? entry.file_size(error) : 0);
  return bytes;
}

}  // namespace

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::start(const WorkerStart& start, const Limits& limits) {
  // A program that ignores `worker FD` and starts a pool instead would start itself without end.
  if (std::getenv(in_worker) != nullptr)
    return fail(ErrorKind::Internal, "{} does not serve as a worker", start.program);
  std::vector<std::string> environment = start.environment;
  environment.push_back(fmt::format("{}=1", in_worker));
  SAPPER_TRY(auto sockets, socket_pair());
  SAPPER_TRY(auto pipe, pipe_pair());
  SAPPER_TRY(const pid_t pid,
             spawn({start.program,
                    {"sapper", "worker", std::to_string(worker_socket)},
                    environment,
                    {{pipe.second.get(), 1}, {pipe.second.get(), 2}, {sockets.second.get(), worker_socket}}}));
  std::unique_ptr<WorkerProcess> worker(
      new WorkerProcess(pid, std::move(sockets.first), WorkerLog(std::move(pipe.first))));
  pipe.second = Descriptor();  // the worker has its own: when it ends, we see the end of the stream
  sockets.second = Descriptor();

  const Connection connection(worker->socket_.get(), worker->watching(limits));
  Status status = connection.send(start.setup);
  if (status) status = connection.receive(&worker->ready_);
  if (!status) return tl::unexpected(worker->explain(status.error()));
  if (const auto& failure = worker->ready_.failure(); worker->ready_.has_failure())
    return fail(static_cast<ErrorKind>(failure.kind()), "{}", failure.message());
  return worker;
}

WorkerProcess::~WorkerProcess() { end(); }

Result<WorkerAnswer> WorkerProcess::ask(const proto::WorkerRequest& request, std::string_view module,
                                        std::span<const hlo::Literal> arguments, const Limits& limits) {
  const Connection connection(socket_.get(), watching(limits));
  const auto converse = [&]() -> Result<WorkerAnswer> {
    SAPPER_CHECKED(connection.send(request));
    SAPPER_CHECKED(connection.send_text(module));
    SAPPER_CHECKED(connection.send_arrays(arguments));
    WorkerAnswer answer;
    SAPPER_CHECKED(connection.receive(&answer.reply));
    if (answer.reply.has_failure()) return answer;
    SAPPER_TRY(answer.optimized, connection.receive_text(answer.reply.optimized_size()));
    SAPPER_TRY(answer.outputs, connection.receive_arrays(answer.reply.outputs()));
    return answer;
  };
  Result<WorkerAnswer> answer = converse();
  if (!answer) return tl::unexpected(explain(answer.error()));
  if (const auto& failure = answer->reply.failure(); answer->reply.has_failure())
    return fail(static_cast<ErrorKind>(failure.kind()), "{}", failure.message());
  return answer;
}

Wait WorkerProcess::watching(const Limits& limits) {
  constexpr double a_long_time = 1e9;
  const auto deadline = Clock::now() + std::chrono::duration<double>(std::min(limits.seconds, a_long_time));
  return [this, limits, deadline](short events) -> Status {
    while (true) {
      std::array<pollfd, 2> entries{pollfd{socket_.get(), events, 0}, pollfd{log_.descriptor(), POLLIN, 0}};
      const auto left = std::chrono::duration_cast<milliseconds>(deadline - Clock::now());
      poll(entries.data(), entries.size(), static_cast<int>(std::clamp(left, milliseconds(0), watch_interval).count()));
      log_.drain();
      if (entries[0].revents != 0) return {};
      if (Clock::now() >= deadline) return tl::unexpected(timeout(limits.seconds));
      if (memory_bytes() > limits.memory_bytes) return tl::unexpected(too_large(limits.memory_bytes));
      const int64_t most_dumps = limits.memory_bytes / 4;  // they lie in memory, and are read from there into memory
      int64_t dumped = 0;
      for (const std::string& folder : limits.dump_folders) dumped += folder_bytes(folder);
      if (dumped > most_dumps) return tl::unexpected(dumps_too_large(most_dumps));
    }
  };
}

bool WorkerProcess::alive() {
  if (pid_ != 0 && waitpid(pid_, &exit_status_, WNOHANG) == pid_) pid_ = 0;
  return pid_ != 0;
}

int64_t WorkerProcess::memory_bytes() const {
  std::ifstream statm(fmt::format("/proc/{}/statm", pid_));
  int64_t size = 0;
  int64_t resident = 0;
  int64_t shared = 0;
  if (!(statm >> size >> resident >> shared)) return 0;  // it has ended: the connection will tell
  return (resident - shared) * sysconf(_SC_PAGESIZE);
}

Error WorkerProcess::explain(const Error& error) {
  // A process that crashes closes its connection a moment before it can be waited for.
  const auto until = Clock::now() + exit_patience;
  while (error.kind == ErrorKind::Crash && alive() && Clock::now() < until)
    std::this_thread::sleep_for(milliseconds(1));
  const bool ended_by_itself = !alive();
  end();
  log_.drain();
  std::string message = error.message;
  ErrorKind kind = error.kind;
  if (error.kind == ErrorKind::Crash && ended_by_itself) {
    message = "the compiler crashed: " + describe_exit(exit_status_);
    const int signal = WIFSIGNALED(exit_status_) ? WTERMSIG(exit_status_) : 0;
    if (signal == SIGKILL || signal == SIGTERM) {  // no fault of the compiler's
      kind = ErrorKind::Interrupted;
      message =
          fmt::format("the compiler's process was {}, from outside: by hand, or by the kernel when memory ran out",
                      describe_exit(exit_status_));
    }
  }
  if (const std::string words = log_.last_words(); !words.empty()) message += ". Its last words:" + words;
  return {kind, std::move(message), {}};
}

void WorkerProcess::end() {
  if (!alive()) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, &exit_status_, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
}

}  // namespace sapper::target
