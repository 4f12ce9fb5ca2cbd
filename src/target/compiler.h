// Real compilers, each in a worker process of its own: a crash, a hang or an out-of-memory is an Error of kind Compiler
// with the signal and the last log lines, and costs one worker, never the run.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "hlo/literal.h"
#include "target/target.h"

namespace sapper::target {

// A debug option's value: XLA's flags are typed, and the type must match the flag's.
using OptionValue = std::variant<bool, int64_t, double, std::string>;

struct Configuration {
  std::map<std::string, OptionValue> options;  // debug options by name without dashes: xla_allow_excess_precision
  std::string init_flags;                      // LIBTPU_INIT_ARGS (tpu) or XLA_FLAGS (cpu), read at worker start
};

// "k=v" as the command line gives it: true/false, integer, real, else string.
[[nodiscard]] Result<std::pair<std::string, OptionValue>> parse_option(std::string_view text);
[[nodiscard]] std::string to_string(const OptionValue& value);

struct CompileRequest {
  std::string module;  // serialized HloModuleProto
  Configuration configuration;
  bool dump_passes = false;  // also return the HLO after each pass
  // Also return the text dumps that libtpu writes of these: its backend passes of each kernel, the deduplication map.
  // A regular expression over their names; empty: none.
  std::string dump_llo;
  bool run_backend_only = false;  // the module is already optimized
  // Also execute, once on each of these (targets with a device).
  std::vector<std::vector<hlo::Literal>> argument_sets;
  int runs = 1;  // executions on each of them
};

// The HLO of one computation module at one point of the pipeline, in pipeline order.
struct HloStage {
  int index = 0;
  std::string pipeline;  // "simplification"
  std::string pass;      // the pass that made it: "algsimp"; the first stage is "input"
  std::string module;    // serialized HloModuleProto, or HLO text
};

struct CompileResult {
  std::string optimized;                                 // serialized HloModuleProtoWithConfig
  std::vector<HloStage> stages;                          // when dump_passes
  std::vector<std::pair<std::string, std::string>> llo;  // when dump_llo: file name, text; sorted by name
  std::vector<hlo::Literal> outputs;                     // of each argument set, one a run
  double compile_seconds = 0;
  double execute_seconds = 0;
  std::string log;  // what the compiler printed
};

struct PoolOptions {
  int workers = 0;               // 0: one a core
  double compile_seconds = 300;  // time limit of one request
  int64_t memory_bytes = 0;      // of one worker, pages of files left out; 0: three quarters of the machine's
  std::string worker_program;    // run as `PROGRAM worker FD`, to call run_worker(FD); empty: this process's own binary
};

struct PluginInfo {
  std::string path;
  int api_major = 0;
  int api_minor = 0;
  std::string platform_version;
};

struct StepRequest;  // step.h
struct StepResult;

// A pool of warm workers keyed by (target, init flags). Thread-safe: call compile from many threads.
class CompilerPool {
 public:
  explicit CompilerPool(PoolOptions options = {});
  ~CompilerPool();
  CompilerPool(const CompilerPool&) = delete;
  CompilerPool& operator=(const CompilerPool&) = delete;

  // Errors: BadInput (no such plugin, no such option), Rejected (with the compiler's message whole), Crash (with the
  // signal and the last words), Timeout, Interrupted (killed, memory), Unsupported (no device to execute on, a value
  // that cannot be passed, a custom call that the plugin does not implement).
  [[nodiscard]] Result<CompileResult> compile(const Target& target, const CompileRequest& request);

  // Compiles, runs, and runs again with one kernel stepped. Errors: those of compile; Unsupported where there is no
  // such kernel, or none of its code can be stepped.
  [[nodiscard]] Result<StepResult> step(const Target& target, const StepRequest& request);

  // What the plugin says of itself. Never fetches one.
  [[nodiscard]] Result<PluginInfo> probe(const Target& target);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The body of `sapper worker`: serves frames on file descriptor `fd` until it closes. Returns the exit code.
int run_worker(int fd);

}  // namespace sapper::target
