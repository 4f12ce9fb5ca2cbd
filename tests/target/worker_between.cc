#include "tests/target/worker_between.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target/wire.h"

namespace sapper::target {
namespace {

Status forward_setup(const Connection& sapper, const Connection& worker) {
  proto::WorkerSetup setup;
  SAPPER_CHECKED(sapper.receive(&setup));
  SAPPER_CHECKED(worker.send(setup));
  proto::WorkerReady ready;
  SAPPER_CHECKED(worker.receive(&ready));
  return sapper.send(ready);
}

Status forward_request(const Connection& sapper, const Connection& worker, const Changes& changes) {
  proto::WorkerRequest request;
  SAPPER_CHECKED(sapper.receive(&request));
  SAPPER_TRY(std::string module, sapper.receive_text(request.module_size()));
  SAPPER_TRY(const std::vector<hlo::Literal> arguments, sapper.receive_arrays(request.arguments()));
  if (changes.module) module = changes.module(std::move(module));
  request.set_module_size(module.size());
  SAPPER_CHECKED(worker.send(request));
  SAPPER_CHECKED(worker.send_text(module));
  SAPPER_CHECKED(worker.send_arrays(arguments));

  proto::WorkerReply reply;
  SAPPER_CHECKED(worker.receive(&reply));
  SAPPER_TRY(const std::string optimized, worker.receive_text(reply.optimized_size()));
  SAPPER_TRY(std::vector<hlo::Literal> outputs, worker.receive_arrays(reply.outputs()));
  if (changes.outputs && !outputs.empty()) {
    const size_t each = outputs.size() / static_cast<size_t>(request.executions() * request.runs());
    for (size_t first = 0; first < outputs.size(); first += each)
      changes.outputs(std::span(outputs).subspan(first, each));
  }
  SAPPER_CHECKED(sapper.send(reply));
  SAPPER_CHECKED(sapper.send_text(optimized));
  return sapper.send_arrays(outputs);
}

}  // namespace

int run_worker_between(int socket, const Changes& changes) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return 1;
  const pid_t child = fork();
  if (child == 0) {
    close(pair[0]);
    close(socket);
    execl(SAPPER_BINARY, "sapper", "worker", std::to_string(pair[1]).c_str(), nullptr);
    _exit(127);
  }
  close(pair[1]);
  const Connection sapper(socket, wait_forever(socket));
  const Connection worker(pair[0], wait_forever(pair[0]));
  Status status = forward_setup(sapper, worker);
  while (status) status = forward_request(sapper, worker, changes);
  close(pair[0]);
  waitpid(child, nullptr, 0);
  return 0;
}

}  // namespace sapper::target
