// The body of a worker process: one plugin, one connection, one request at a time.
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <optional>
#include <thread>

#include "target/compiler.h"
#include "target/pjrt.h"
#include "target/signature.h"
#include "target/stepper.h"
#include "target/wire.h"
#include "target/worker_step.h"

namespace sapper::target {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void set_failure(const Error& error, proto::WorkerFailure* out) {
  out->set_kind(static_cast<int>(error.kind));
  out->set_message(error.message);
}

// Ends the process when the other end of the socket is closed, even in the middle of a compile: a worker does not
// outlive its parent, however that ended. Removes the dump folders, its own and that of the last request, which only
// the parent would else do.
class Watch {
 public:
  explicit Watch(int socket) {
    std::thread([this, socket] {
      pollfd entry{socket, POLLRDHUP, 0};
      while (poll(&entry, 1, -1) <= 0 || (entry.revents & (POLLRDHUP | POLLHUP | POLLERR)) == 0) {
      }
      const std::lock_guard lock(mutex_);
      std::error_code ignored;
      for (const std::string& folder : {own_dump_folder_, dump_folder_})
        if (!folder.empty()) std::filesystem::remove_all(folder, ignored);
      _exit(0);
    }).detach();
  }
  void set_own_dump_folder(std::string folder) {
    const std::lock_guard lock(mutex_);
    own_dump_folder_ = std::move(folder);
  }
  void set_dump_folder(std::string folder) {
    const std::lock_guard lock(mutex_);
    dump_folder_ = std::move(folder);
  }

 private:
  std::mutex mutex_;
  std::string own_dump_folder_, dump_folder_;
};

// No core files of gigabytes; and when memory runs out, let the kernel choose this process, not the one that started
// it.
void lower_own_importance() {
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  if (const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); file >= 0) {
    (void)!write(file, "1000", 4);
    close(file);
  }
}

// A plugin with what it compiles for.
struct Compiler {
  std::unique_ptr<Plugin> plugin;
  Device device;
};

Result<Compiler> open_compiler(const proto::WorkerSetup& setup, proto::WorkerReady* ready) {
  SAPPER_TRY(Plugin loaded, Plugin::load(setup.plugin()));
  auto plugin = std::make_unique<Plugin>(loaded);
  ready->set_api_major(plugin->version().first);
  ready->set_api_minor(plugin->version().second);
  if (setup.topology().empty()) {
    SAPPER_TRY(Device device, Device::open(*plugin));
    SAPPER_TRY(*ready->mutable_platform_version(), device.platform_version());
    return Compiler{std::move(plugin), device};
  }
  SAPPER_TRY(Device topology, Device::of_topology(*plugin, setup.topology()));
  SAPPER_TRY(*ready->mutable_platform_version(), topology.platform_version());
  if (!setup.execute()) return Compiler{std::move(plugin), topology};
  SAPPER_TRY(Device device, Device::open(*plugin));
  SAPPER_TRY(const std::string platform, device.platform_version());
  if (platform != ready->platform_version())
    return fail(ErrorKind::Unsupported, R"(the device of this machine is "{}"; the target is "{}")", platform,
                ready->platform_version());
  return Compiler{std::move(plugin), device};
}

struct Outcome {
  Executable executable;
  std::string optimized;
  std::vector<hlo::Literal> outputs;
};

Result<Outcome> compile(const Compiler& compiler, const proto::CompileOptionsProto& options, std::string_view module,
                        proto::WorkerReply* reply) {
  const Clock::time_point start = Clock::now();
  SAPPER_TRY(Executable executable, compiler.device.compile(module, options.SerializeAsString()));
  reply->set_compile_seconds(seconds_since(start));
  SAPPER_TRY(std::string optimized, executable.optimized_program());
  return Outcome{std::move(executable), std::move(optimized), {}};
}

// `arguments` are those of all executions, one after another.
Result<Outcome> compile_and_execute(const Compiler& compiler, const proto::WorkerRequest& request,
                                    std::string_view module, std::span<const hlo::Literal> arguments,
                                    proto::WorkerReply* reply) {
  const auto executions = static_cast<size_t>(request.executions());
  proto::CompileOptionsProto options = request.options();
  SAPPER_TRY(const Signature signature, read_signature(module));
  const size_t each = arguments.size() / executions;
  for (size_t i = 0; i < executions; ++i) SAPPER_CHECKED(check_arguments(signature, arguments.subspan(i * each, each)));
  options.set_parameter_is_tupled_arguments(signature.tupled_parameters);
  SAPPER_TRY(Outcome outcome, compile(compiler, options, module, reply));
  const Clock::time_point start = Clock::now();
  for (size_t i = 0; i < executions && !request.has_stepping(); ++i) {
    for (int run = 0; run < request.runs(); ++run) {
      SAPPER_TRY(auto outputs, compiler.device.execute(outcome.executable, arguments.subspan(i * each, each)));
      std::ranges::move(outputs, std::back_inserter(outcome.outputs));
    }
  }
  reply->set_execute_seconds(seconds_since(start));
  if (request.has_stepping())
    SAPPER_CHECKED(step_kernel(compiler.device, outcome.executable, arguments, request, &outcome.outputs, reply));
  reply->set_tuple_result(signature.tuple_result);
  return outcome;
}

// Receives one request and answers it.
Status serve_next(const Connection& connection, const Compiler& compiler, Watch& watch) {
  proto::WorkerRequest request;
  SAPPER_CHECKED(connection.receive(&request));
  SAPPER_TRY(const std::string module, connection.receive_text(request.module_size()));
  SAPPER_TRY(const auto arguments, connection.receive_arrays(request.arguments()));
  watch.set_dump_folder(request.dump_folder());
  proto::WorkerReply reply;
  const Result<Outcome> outcome = request.executions() > 0
                                      ? compile_and_execute(compiler, request, module, arguments, &reply)
                                      : compile(compiler, request.options(), module, &reply);
  if (!outcome) {
    set_failure(outcome.error(), reply.mutable_failure());
    return connection.send(reply);
  }
  reply.set_optimized_size(outcome->optimized.size());
  for (const hlo::Literal& output : outcome->outputs) *reply.add_outputs() = describe(output);
  SAPPER_CHECKED(connection.send(reply));
  SAPPER_CHECKED(connection.send_text(outcome->optimized));
  return connection.send_arrays(outcome->outputs);
}

}  // namespace

int run_worker(int fd) {
  lower_own_importance();
  static Watch watch(fd);  // outlives every thread of the plugin
  const Connection connection(fd, wait_forever(fd));
  proto::WorkerSetup setup;
  if (!connection.receive(&setup)) return 2;
  watch.set_own_dump_folder(setup.dump_folder());
  if (setup.one_cpu()) pin_to_one_cpu();
  proto::WorkerReady ready;
  const Result<Compiler> compiler = open_compiler(setup, &ready);
  if (!compiler) set_failure(compiler.error(), ready.mutable_failure());
  if (!connection.send(ready) || !compiler) return 2;
  while (serve_next(connection, *compiler, watch)) {
  }
  return 0;
}

}  // namespace sapper::target
