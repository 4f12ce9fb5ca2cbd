// A worker whose compiler is wrong: it stands between sapper and a real worker, and compiles some pieces as another
// program. PLANTS says which and how: FINGERPRINT=KIND,... (piece_fingerprint, a kind of tests/check/hlo_mutants.h); or
// any=KIND: every one that has something of the kind.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "hlo/proto.h"
#include "isolate/piece.h"
#include "target/wire.h"
#include "tests/check/hlo_mutants.h"

namespace sapper {
namespace {

// The module that is compiled in place of this one.
std::string planted(std::string bytes) {
  const char* const plants = std::getenv("PLANTS");
  const auto module = hlo::parse_proto(bytes);
  if (plants == nullptr || !module) return bytes;
  const std::string text(plants);
  const std::string fingerprint = text.starts_with("any=") ? "any" : isolate::piece_fingerprint(*module);
  const size_t at = text.find(fingerprint + "=");
  if (at == std::string::npos) return bytes;
  const size_t kind = at + fingerprint.size() + 1;
  const std::string wanted = text.substr(kind, text.find(',', kind) - kind);
  for (const check::HloMutant& mutant : check::mutants_of(*module, 1))
    if (mutant.kind == wanted) return hlo::to_compilable_proto(mutant.module);
  return bytes;
}

Status forward_setup(const target::Connection& sapper, const target::Connection& worker) {
  proto::WorkerSetup setup;
  SAPPER_CHECKED(sapper.receive(&setup));
  SAPPER_CHECKED(worker.send(setup));
  proto::WorkerReady ready;
  SAPPER_CHECKED(worker.receive(&ready));
  return sapper.send(ready);
}

Status forward_request(const target::Connection& sapper, const target::Connection& worker) {
  proto::WorkerRequest request;
  SAPPER_CHECKED(sapper.receive(&request));
  SAPPER_TRY(std::string module, sapper.receive_text(request.module_size()));
  SAPPER_TRY(const std::vector<hlo::Literal> arguments, sapper.receive_arrays(request.arguments()));
  module = planted(std::move(module));
  request.set_module_size(module.size());
  SAPPER_CHECKED(worker.send(request));
  SAPPER_CHECKED(worker.send_text(module));
  SAPPER_CHECKED(worker.send_arrays(arguments));

  proto::WorkerReply reply;
  SAPPER_CHECKED(worker.receive(&reply));
  SAPPER_TRY(const std::string optimized, worker.receive_text(reply.optimized_size()));
  SAPPER_TRY(const std::vector<hlo::Literal> outputs, worker.receive_arrays(reply.outputs()));
  SAPPER_CHECKED(sapper.send(reply));
  SAPPER_CHECKED(sapper.send_text(optimized));
  return sapper.send_arrays(outputs);
}

int run(int socket) {
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
  const target::Connection sapper(socket, target::wait_forever(socket));
  const target::Connection worker(pair[0], target::wait_forever(pair[0]));
  Status status = forward_setup(sapper, worker);
  while (status) status = forward_request(sapper, worker);
  close(pair[0]);
  waitpid(child, nullptr, 0);
  return 0;
}

}  // namespace
}  // namespace sapper

int main(int argc, char** argv) { return argc == 3 ? sapper::run(std::atoi(argv[2])) : 2; }
