// A worker process seen from sapper: started, set up, asked, watched, and ended.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "hlo/literal.h"
#include "target/process.h"
#include "target/wire.h"
#include "target/worker_log.h"

namespace sapper::target {

// What a worker may take for one request.
struct Limits {
  double seconds = 0;
  int64_t memory_bytes = 0;                    // of its own: pages that it shares with files do not count
  std::vector<std::string> dump_folders = {};  // what it writes there may take a quarter of that
};

struct WorkerStart {
  std::string program;                   // run as `program worker FD`
  std::vector<std::string> environment;  // "NAME=value"
  proto::WorkerSetup setup;
};

struct WorkerAnswer {
  proto::WorkerReply reply;
  std::string optimized;
  std::vector<hlo::Literal> outputs;
};

class WorkerProcess {
 public:
  [[nodiscard]] static Result<std::unique_ptr<WorkerProcess>> start(const WorkerStart& start, const Limits& limits);
  // Kills the process if it still runs, and reaps it.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  // One request. After an error of kind Crash, Timeout, Resource or Interrupted the process has ended: alive() is
  // false.
  [[nodiscard]] Result<WorkerAnswer> ask(const proto::WorkerRequest& request, std::string_view module,
                                         std::span<const hlo::Literal> arguments, const Limits& limits);

  [[nodiscard]] const proto::WorkerReady& ready() const { return ready_; }
  [[nodiscard]] bool alive();
  [[nodiscard]] int64_t memory_bytes() const;
  // What it printed since the last call.
  [[nodiscard]] std::string take_log() { return log_.take(); }

 private:
  WorkerProcess(pid_t pid, Descriptor socket, WorkerLog log)
      : pid_(pid), socket_(std::move(socket)), log_(std::move(log)) {}
  [[nodiscard]] Wait watching(const Limits& limits);
  // What ended a conversation, as an error for people; the process is gone afterwards.
  [[nodiscard]] Error explain(const Error& error);
  void end();

  pid_t pid_;
  int exit_status_ = 0;  // of waitpid, once pid_ is 0
  Descriptor socket_;
  WorkerLog log_;
  proto::WorkerReady ready_;
};

}  // namespace sapper::target
