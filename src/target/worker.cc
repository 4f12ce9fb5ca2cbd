// The body of a worker process: one plugin, one connection, one request at a time.
#include <fcntl.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

#include "target/compiler.h"
#include "target/pjrt.h"
#include "target/wire.h"

namespace sapper::target {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void set_failure(const Error& error, proto::WorkerFailure* out) {
  out->set_kind(static_cast<int>(error.kind));
  out->set_message(error.message);
}

// Ends the process when the other end of the socket is closed, even in the middle of a compile: a worker does not
// outlive its parent, however that ended. Removes the dump folder of the request at hand, which only the parent would
// else do.
class Watch {
 public:
  explicit Watch(int socket) {
    std::thread([this, socket] {
      pollfd entry{socket, POLLRDHUP, 0};
      while (poll(&entry, 1, -1) <= 0 || (entry.revents & (POLLRDHUP | POLLHUP | POLLERR)) == 0) {
      }
      const std::lock_guard lock(mutex_);
      std::error_code ignored;
      if (!dump_folder_.empty()) std::filesystem::remove_all(dump_folder_, ignored);
      _exit(0);
    }).detach();
  }
  void set_dump_folder(std::string folder) {
    const std::lock_guard lock(mutex_);
    dump_folder_ = std::move(folder);
  }

 private:
  std::mutex mutex_;
  std::string dump_folder_;
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

// The program shape of a serialized HloModuleProto (its field 4), without reading the rest.
std::optional<proto::ProgramShapeProto> program_shape(std::string_view module) {
  namespace pb = google::protobuf;
  using pb::internal::WireFormatLite;
  constexpr uint32_t wanted = WireFormatLite::MakeTag(proto::HloModuleProto::kHostProgramShapeFieldNumber,
                                                      WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
  pb::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(module.data()), static_cast<int>(module.size()));
  while (const uint32_t tag = stream.ReadTag()) {
    if (tag != wanted) {
      if (!WireFormatLite::SkipField(&stream, tag)) return std::nullopt;
      continue;
    }
    std::string bytes;
    uint32_t size = 0;
    proto::ProgramShapeProto shape;
    if (!stream.ReadVarint32(&size) || !stream.ReadString(&bytes, static_cast<int>(size)) ||
        !shape.ParseFromString(bytes))
      return std::nullopt;
    return shape;
  }
  return std::nullopt;
}

bool is_tuple(const proto::ShapeProto& shape) { return shape.element_type() == proto::TUPLE; }

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
    return Compiler{std::move(plugin), std::move(device)};
  }
  SAPPER_TRY(Device topology, Device::of_topology(*plugin, setup.topology()));
  SAPPER_TRY(*ready->mutable_platform_version(), topology.platform_version());
  if (!setup.execute()) return Compiler{std::move(plugin), std::move(topology)};
  SAPPER_TRY(Device device, Device::open(*plugin));
  SAPPER_TRY(const std::string platform, device.platform_version());
  if (platform != ready->platform_version())
    return fail(ErrorKind::Unsupported, "the device of this machine is \"{}\"; the target is \"{}\"", platform,
                ready->platform_version());
  return Compiler{std::move(plugin), std::move(device)};
}

struct Outcome {
  std::string optimized;
  std::vector<hlo::Literal> outputs;
};

Result<Outcome> serve(const Compiler& compiler, const proto::WorkerRequest& request, std::string_view module,
                      std::span<const hlo::Literal> arguments, proto::WorkerReply* reply) {
  const auto shape = program_shape(module);
  if (request.execute() && !shape)
    return fail(ErrorKind::BadInput, "the module is damaged or states no program shape (HloModuleProto field 4)");
  proto::CompileOptionsProto options = request.options();
  if (request.execute() && shape->parameters_size() == 1 && is_tuple(shape->parameters(0)))
    options.set_parameter_is_tupled_arguments(true);

  Clock::time_point start = Clock::now();
  SAPPER_TRY(const Executable executable, compiler.device.compile(module, options.SerializeAsString()));
  reply->set_compile_seconds(seconds_since(start));
  Outcome outcome;
  SAPPER_TRY(outcome.optimized, executable.optimized_program());
  if (!request.execute()) return outcome;

  start = Clock::now();
  SAPPER_TRY(outcome.outputs, compiler.device.execute(executable, arguments));
  reply->set_execute_seconds(seconds_since(start));
  reply->set_tuple_result(is_tuple(shape->result()));
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
  Result<Outcome> outcome = serve(compiler, request, module, arguments, &reply);
  watch.set_dump_folder({});
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

int run_worker(int socket) {
  lower_own_importance();
  static Watch watch(socket);  // outlives every thread of the plugin
  const Connection connection(socket, wait_forever(socket));
  proto::WorkerSetup setup;
  if (!connection.receive(&setup)) return 2;
  proto::WorkerReady ready;
  const Result<Compiler> compiler = open_compiler(setup, &ready);
  if (!compiler) set_failure(compiler.error(), ready.mutable_failure());
  if (!connection.send(ready) || !compiler) return 2;
  while (serve_next(connection, *compiler, watch)) {
  }
  return 0;
}

}  // namespace sapper::target
