// The pool: which worker serves which request, and when workers come and go.
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <filesystem>
#include <list>
#include <mutex>
#include <thread>

#include "base/file.h"
#include "base/memory.h"
#include "target/compile_options.h"
#include "target/compiler.h"
#include "target/dump.h"
#include "target/plugins.h"
#include "target/step.h"
#include "target/worker_process.h"

namespace sapper::target {
namespace {

// A worker that holds more than this after a request is not kept: a fresh one holds less than a tenth of it.
constexpr int64_t largest_idle_bytes = int64_t{1} << 30;

// A warm worker serves only requests with the same key.
struct Key {
  Target target;
  std::string init_flags;
  std::string dump_llo;
  bool execute = false;
  bool one_cpu = false;
  bool operator==(const Key&) const = default;
};

// Our environment without what would reconfigure the compiler behind the configuration's back.
std::vector<std::string> worker_environment(const Key& key, const std::string& llo_flags) {
  std::vector<std::string> environment = current_environment();
  const auto set = [&](const std::string& name, const std::string& value) {
    std::erase_if(environment, [&](const std::string& entry) { return entry.starts_with(name + "="); });
    if (!value.empty()) environment.push_back(name + "=" + value);
  };
  const bool tpu = key.target.platform == Platform::Tpu;
  set("XLA_FLAGS", tpu ? "" : key.init_flags);
  set("LIBTPU_INIT_ARGS", tpu ? fmt::format("{} {}", key.init_flags, llo_flags) : "");
  set("TPU_SKIP_MDS_QUERY", "1");          // or libtpu asks the network for a metadata server
  set("ALLOW_MULTIPLE_LIBTPU_LOAD", "1");  // or a second worker finds the first one's lock
  set("TPU_LOG_DIR", "disabled");          // or libtpu writes to /tmp/tpu_logs
  set("GOOGLE_LOGTOSTDERR", "1");          // or it leaves two more logs a process in the folder of temporary files
  return environment;
}

// A worker, and the folder that its LLO dumps go to.
struct Worker {
  std::unique_ptr<WorkerProcess> process;
  std::optional<DumpFolder> llo_folder;
};

Result<WorkerStart> worker_start(const Key& key, const PoolOptions& options,
                                 const std::optional<DumpFolder>& llo_folder) {
  WorkerStart start;
  start.program = options.worker_program;
  start.environment =
      worker_environment(key, llo_folder ? llo_dump_flags(llo_folder->path(), key.dump_llo) : std::string());
  SAPPER_TRY(*start.setup.mutable_plugin(), plugin_path(key.target));
  start.setup.set_topology(std::string(topology(key.target)));
  start.setup.set_execute(key.execute);
  start.setup.set_one_cpu(key.one_cpu);
  if (llo_folder) start.setup.set_dump_folder(llo_folder->path());
  return start;
}

// The leaves of the arguments; a tuple is passed only when it is the sole parameter (a tupled argument list).
Result<std::vector<hlo::Literal>> flat_arguments(const std::vector<hlo::Literal>& arguments) {
  if (arguments.size() == 1 && arguments[0].shape().is_tuple()) return arguments[0].elements();
  for (const hlo::Literal& argument : arguments)
    if (!argument.shape().is_array())
      return fail(ErrorKind::Unsupported,
                  "an argument of shape {} cannot be passed to a compiled program beside others",
                  argument.shape().to_text(false));
  return arguments;
}

// What a worker is asked: the frame, and the arrays that follow it.
struct Conversation {
  proto::WorkerRequest message;
  std::vector<hlo::Literal> arguments;
};

Result<Conversation> converse_about(const std::string& module, const Configuration& configuration,
                                    std::span<const std::vector<hlo::Literal>> argument_sets) {
  Conversation conversation;
  *conversation.message.mutable_options() = to_compile_options(configuration);
  conversation.message.set_module_size(module.size());
  conversation.message.set_executions(static_cast<int>(argument_sets.size()));
  for (const std::vector<hlo::Literal>& set : argument_sets) {
    SAPPER_TRY(const std::vector<hlo::Literal> leaves, flat_arguments(set));
    conversation.arguments.insert(conversation.arguments.end(), leaves.begin(), leaves.end());
  }
  for (const hlo::Literal& argument : conversation.arguments)
    *conversation.message.add_arguments() = describe(argument);
  if (module.size() > INT32_MAX)
    return fail(ErrorKind::Resource, "the module takes {} MiB; XLA reads no more than 2 GiB", module.size() >> 20);
  return conversation;
}

// What each of the runs computed.
Result<std::vector<hlo::Literal>> results_of(WorkerAnswer answer, size_t runs) {
  std::vector<hlo::Literal> results;
  const size_t each = runs == 0 ? 0 : answer.outputs.size() / runs;
  for (size_t i = 0; i < runs; ++i) {
    const auto first = answer.outputs.begin() + static_cast<std::ptrdiff_t>(i * each);
    if (answer.reply.tuple_result()) {
      const auto end = first + static_cast<std::ptrdiff_t>(each);
      results.push_back(hlo::Literal::tuple(std::vector(std::make_move_iterator(first), std::make_move_iterator(end))));
    } else if (each == 1) {
      results.push_back(std::move(*first));
    } else {
      return fail(ErrorKind::Internal, "the compiled program gave {} outputs, not one", each);
    }
  }
  return results;
}

// What a compiler says of options, with what to write instead.
Error explain_option(Error error) {
  if (error.message.find("While setting option") != std::string::npos) {
    error.kind = ErrorKind::BadInput;
    error.message += " Write true or false for a switch (NAME=false), a number or a word for the rest.";
  } else if (error.message.find("No such compile option") != std::string::npos) {
    error.kind = ErrorKind::BadInput;
    error.message += " in this release of the compiler.";
  } else if (error.kind == ErrorKind::Crash && (error.message.find("Unknown flag in XLA_FLAGS") != std::string::npos ||
                                                error.message.find("Unknown command line flag") != std::string::npos)) {
    error.kind = ErrorKind::BadInput;
    error.message = "--init-flags: the compiler does not know a flag, and ended" +
                    error.message.substr(std::min(error.message.find(". Its last words"), error.message.size()));
  }
  return error;
}

}  // namespace

struct CompilerPool::State {
  struct IdleWorker {
    Key key;
    Worker worker;
  };

  // A worker for the key: a warm one, else a new one, in place of the idle one that was used longest ago if there are
  // already as many as allowed. Waits while all are busy.
  Result<Worker> acquire(const Key& key);
  // Gives it back; ends it when it has died or grown.
  void release(const Key& key, Worker worker);
  Worker take_idle(std::list<IdleWorker>::iterator it) {
    Worker worker = std::move(it->worker);
    idle.erase(it);
    return worker;
  }
  [[nodiscard]] Limits limits() const { return {options.compile_seconds, options.memory_bytes}; }

  PoolOptions options;
  std::mutex mutex;
  std::condition_variable changed;  // a worker became idle, or one ended
  std::list<IdleWorker> idle;       // last used first
  int count = 0;                    // of workers, idle and busy
};

Result<Worker> CompilerPool::State::acquire(const Key& key) {
  Worker replaced;  // ended after the lock is released
  {
    std::unique_lock lock(mutex);
    while (true) {
      const auto warm = std::ranges::find(idle, key, &IdleWorker::key);
      if (warm != idle.end()) {
        Worker worker = take_idle(warm);
        if (worker.process->alive()) return worker;
        --count;
        continue;
      }
      if (count < options.workers) {
        ++count;
        break;
      }
      if (!idle.empty()) {
        replaced = take_idle(std::prev(idle.end()));
        break;
      }
      changed.wait(lock);
    }
  }
  replaced = {};
  const auto start = [&]() -> Result<Worker> {
    Worker fresh;
    if (!key.dump_llo.empty()) {
      SAPPER_TRY(fresh.llo_folder, DumpFolder::create());
    }
    SAPPER_TRY(const WorkerStart how, worker_start(key, options, fresh.llo_folder));
    SAPPER_TRY(fresh.process, WorkerProcess::start(how, limits()));
    return fresh;
  };
  Result<Worker> worker = start();
  if (!worker) {
    const std::lock_guard lock(mutex);
    --count;
    changed.notify_one();
  }
  return worker;
}

void CompilerPool::State::release(const Key& key, Worker worker) {
  const int64_t most = std::min(options.memory_bytes / 2, largest_idle_bytes);
  if (!worker.process->alive() || worker.process->memory_bytes() > most) worker = {};
  const std::lock_guard lock(mutex);
  if (worker.process == nullptr)
    --count;
  else
    idle.push_front({key, std::move(worker)});
  changed.notify_one();
}

CompilerPool::CompilerPool(PoolOptions options) : state_(std::make_unique<State>()) {
  if (options.workers <= 0) options.workers = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  if (options.memory_bytes <= 0) options.memory_bytes = physical_memory_bytes() / 4 * 3;
  if (options.worker_program.empty()) options.worker_program = "/proc/self/exe";
  state_->options = std::move(options);
  remove_abandoned_dumps();
}

CompilerPool::~CompilerPool() = default;

Result<CompileResult> CompilerPool::compile(const Target& target, const CompileRequest& request) {
  SAPPER_TRY(Conversation conversation, converse_about(request.module, request.configuration, request.argument_sets));
  proto::WorkerRequest& message = conversation.message;
  message.mutable_options()->mutable_executable_build_options()->set_run_backend_only(request.run_backend_only);
  message.set_runs(request.runs);
  Limits limits = state_->limits();
  std::optional<DumpFolder> folder;
  if (request.dump_passes) {
    SAPPER_TRY(folder, DumpFolder::create());
    limits.dump_folders.push_back(folder->path());
    message.set_dump_folder(folder->path());
    request_dumps(folder->path(), message.mutable_options());
  }

  const Key key{target, request.configuration.init_flags, request.dump_llo,
                !request.argument_sets.empty() && target.platform == Platform::Tpu, /*one_cpu=*/false};
  Result<Worker> acquired = state_->acquire(key);
  if (!acquired) return tl::unexpected(explain_option(std::move(acquired).error()));
  Worker worker = std::move(*acquired);
  if (worker.llo_folder) limits.dump_folders.push_back(worker.llo_folder->path());
  Result<WorkerAnswer> answer = worker.process->ask(message, request.module, conversation.arguments, limits);
  CompileResult result;
  result.log = worker.process->take_log();
  auto llo = worker.llo_folder ? take_llo_dumps(worker.llo_folder->path()) : decltype(result.llo)();
  state_->release(key, std::move(worker));
  if (!answer) return tl::unexpected(explain_option(std::move(answer).error()));

  result.optimized = std::move(answer->optimized);
  result.compile_seconds = answer->reply.compile_seconds();
  result.execute_seconds = answer->reply.execute_seconds();
  if (folder) {
    SAPPER_TRY(result.stages, read_stages(folder->path()));
  }
  SAPPER_TRY(result.llo, std::move(llo));
  SAPPER_TRY(result.outputs,
             results_of(*std::move(answer), request.argument_sets.size() * static_cast<size_t>(request.runs)));
  return result;
}

Result<StepResult> CompilerPool::step(const Target& target, const StepRequest& request) {
  if (target.platform != Platform::Cpu)
    return fail(ErrorKind::Unsupported, "only kernels of XLA:CPU are stepped in a process, not those of {}",
                target.to_string());
  SAPPER_TRY(Conversation conversation, converse_about(request.module, request.configuration, {&request.arguments, 1}));
  SAPPER_TRY(const DumpFolder folder, DumpFolder::create());
  proto::WorkerRequest& message = conversation.message;
  message.set_dump_folder(folder.path());
  request_objects(folder.path(), message.mutable_options());
  proto::WorkerStepping& stepping = *message.mutable_stepping();
  stepping.set_kernel(request.kernel);
  stepping.set_trace(folder.path() + "/trace");
  stepping.set_traced(request.is_traced);
  stepping.set_step_limit(request.step_limit);
  stepping.set_trace_bytes(request.trace_bytes);
  for (const auto& [offset, value] : request.patches) {
    proto::WorkerBytePatch& patch = *stepping.add_patches();
    patch.set_offset(offset);
    patch.set_value(value);
  }
  const Key key{target, request.configuration.init_flags, {}, false, /*one_cpu=*/true};
  Result<Worker> acquired = state_->acquire(key);
  if (!acquired) return tl::unexpected(explain_option(std::move(acquired).error()));
  Worker worker = std::move(*acquired);
  Limits limits = state_->limits();
  limits.dump_folders.push_back(folder.path());
  Result<WorkerAnswer> answer = worker.process->ask(message, request.module, conversation.arguments, limits);
  state_->release(key, std::move(worker));

  StepResult result;
  if (!answer) {
    const bool was_stepping = answer.error().kind == ErrorKind::Crash && std::filesystem::exists(stepping.trace());
    if (!was_stepping) return tl::unexpected(explain_option(std::move(answer).error()));
    result.end = answer.error();
  }
  SAPPER_TRY(std::string bytes, read_file(stepping.trace()));
  SAPPER_TRY(result.trace, Trace::from_bytes(std::move(bytes)));
  if (!answer) return result;
  result.optimized = std::move(answer->optimized);
  result.differs = answer->reply.stepped_differs();
  SAPPER_TRY(std::vector<hlo::Literal> outputs, results_of(*std::move(answer), 1));
  result.output = std::move(outputs[0]);
  return result;
}

Result<PluginInfo> CompilerPool::probe(const Target& target) {
  if (!plugin_present(target))
    return fail(ErrorKind::BadInput, "the plugin is not in the cache ({}); it is fetched when the target is first used",
                cache_folder());
  const Key key{target, {}, {}, false, false};
  SAPPER_TRY(const std::string path, plugin_path(target));
  SAPPER_TRY(Worker worker, state_->acquire(key));
  const proto::WorkerReady& ready = worker.process->ready();
  PluginInfo info{path, ready.api_major(), ready.api_minor(), ready.platform_version()};
  state_->release(key, std::move(worker));
  return info;
}

}  // namespace sapper::target
