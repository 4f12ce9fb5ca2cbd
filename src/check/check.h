// The main job: compile a module for a target, run what can be run, evaluate every stage, and say whether they all mean
// the same.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "check/inputs_for.h"
#include "check/kernels.h"
#include "check/signature.h"
#include "check/verdict.h"
#include "check/walk.h"
#include "hlo/module.h"
#include "numerics/compare.h"
#include "target/compiler.h"
#include "target/target.h"

namespace sapper::check {

// Which programs of the compilation are judged: the HLO ones, the kernels that a TPU runs (each against the optimized
// HLO), or all that the target has.
enum class Level { Hlo, Llo, All };

struct CheckOptions {
  target::Target target;
  target::Configuration configuration;
  Level level = Level::Hlo;
  llo::MachineOptions machine;  // numerics that LLO's text does not settle; generation and limits come from elsewhere
  Sampling sampling;
  std::string inputs;            // .npz file, or a folder of them named like the modules; empty: sampled
  std::optional<int> input_set;  // which `set{i}_` of the file; nullopt: all of them
  bool all_stages = false;       // walk the stages even when the result agrees
  bool strict = false;           // no policy: every rounding and operation as written
  std::optional<numerics::Tolerance> tolerance;
  eval::Options evaluation;
  // Called with what the compiler gave, every pass's program among it. Not set: those are not asked for at first.
  std::function<void(const target::CompileResult&)> on_compiled;
};

// What a device computed was wrong, so it computed it again, on the same arguments.
struct Repeats {
  int runs = 0;       // the first one among them
  int wrong = 0;      // of them
  int differing = 0;  // of them, those that do not fail as the first one did: right, or wrong in another way
};

struct Report {
  std::string path;
  std::string module;
  std::string target;
  std::string fingerprint;
  uint64_t seed = 0;        // of the decisive run's sampled inputs
  std::string inputs_kind;  // of them: "dense", ...; empty when they come from a file
  std::string input_set;    // of the decisive run, when the inputs come in sets
  Verdict verdict = Verdict::Undetermined;
  std::string reason;
  std::optional<Error> error;  // what stopped the check, when something did
  std::vector<OutputReport> outputs;
  std::vector<StageReport> stages;
  std::optional<Guilty> guilty;          // none where results are not the same twice
  std::optional<Repeats> repeats;        // of a device's mismatch
  std::optional<KernelsReport> kernels;  // when they were run
  std::vector<std::string> notes;        // what else a person should know: stages that could not be evaluated, ...
  std::string next_command;              // what to run to look closer
  std::optional<Signature> expected;     // of a case (check/case.h): what is recorded to come out
  double seconds = 0;
  double compiler_seconds = 0;  // inside the compiler and its executables

  [[nodiscard]] bool is_same_twice() const { return !repeats || repeats->differing == 0; }
};

// Checks one module, given as a file. Never fails: what goes wrong is in the report (bad input: verdict Undetermined
// with an error of kind BadInput). Thread-safe.
[[nodiscard]] Report check_file(target::CompilerPool& pool, const std::string& path, const CheckOptions& options);

// The same for a module at hand, which the report says to be at `path`. `sets`: its inputs; empty: as the options say.
[[nodiscard]] Report check_module(target::CompilerPool& pool, hlo::Module module, const std::string& path,
                                  const CheckOptions& options, std::vector<InputSet> sets = {});

}  // namespace sapper::check
