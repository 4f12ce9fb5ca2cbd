// llo_corpus: runs all kernels of dumped modules and says which are wrong, for those who work on the machine.
//   llo_corpus [--generation v5e] [--stage original]... [--kernel NAME] [--inputs FOLDER] FOLDER...
// Each FOLDER holds the dumps of one compilation for a TPU, the optimized module (*-TLP-hlo.txt) among them; inputs are
// sampled unless --inputs names a folder of .npz files named like the folders.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <map>

#include "base/file.h"
#include "check/inputs_for.h"
#include "check/kernels.h"
#include "hlo/text.h"
#include "hlo/verifier.h"

namespace sapper {
namespace {

namespace fs = std::filesystem;

struct Arguments {
  std::string generation = "v5e";
  std::vector<std::string> stages;
  std::string kernel;
  std::string inputs;
  std::vector<std::string> folders;
};

struct Dumped {
  hlo::Module module;
  llo::ModuleDump dump;
};

Result<Dumped> read_folder(const std::string& folder) {
  std::vector<std::pair<std::string, std::string>> files;
  Dumped dumped;
  bool found = false;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    if (!name.ends_with(".txt")) continue;
    SAPPER_TRY(std::string text, read_file(entry.path()));
    if (name.ends_with("TLP-hlo.txt")) {
      SAPPER_TRY(dumped.module, in_file(hlo::parse_text(text), entry.path()));
      found = true;
    }
    files.emplace_back(name, std::move(text));
  }
  if (!found) return fail(ErrorKind::BadInput, "{} has no *-TLP-hlo.txt", folder);
  SAPPER_CHECKED(in_file(hlo::verify(dumped.module), folder));
  dumped.dump = llo::read_dump(std::move(files));
  return dumped;
}

struct Totals {
  std::map<std::string, int> modules;  // by verdict
  std::map<std::string, int> kernels;
  int64_t all = 0, from_llo = 0;
  uint64_t steps = 0, vector_steps = 0;
  double seconds = 0;
};

Status run_folder(const std::string& folder, const Arguments& arguments, Totals& totals) {
  SAPPER_TRY(Dumped dumped, read_folder(folder));
  if (!arguments.kernel.empty()) {
    std::erase_if(dumped.dump.kernels, [&](const llo::KernelDump& dump) { return dump.kernel != arguments.kernel; });
  }
  const std::string name = fs::path(folder).filename();
  const std::string inputs = arguments.inputs.empty() ? "" : fmt::format("{}/{}.npz", arguments.inputs, name);
  SAPPER_TRY(const auto sets, check::inputs_for(dumped.module, inputs, std::nullopt, {}));
  check::KernelOptions options;
  SAPPER_TRY(options.machine.generation, llo::generation_of(arguments.generation));
  options.machine.time_limit_seconds = 120;
  options.policy.bfloat16_products = true;
  options.policy.short_formulas = true;
  if (!arguments.stages.empty()) options.stages = arguments.stages;
  const check::KernelsReport report = run_kernels(dumped.module, dumped.dump, sets[0].arguments, options);
  ++totals.modules[std::string(to_string(report.verdict))];
  totals.all += report.kernels;
  totals.from_llo += report.from_llo;
  fmt::print("{}: {} {}/{}{}\n", name, to_string(report.verdict), report.from_llo, report.kernels,
             report.reason.empty() ? "" : ": " + report.reason);
  for (const std::string& missing : report.without_dump) fmt::print("    {}: no dump\n", missing);
  for (const check::KernelReport& kernel : report.reports) {
    ++totals.kernels[std::string(to_string(kernel.verdict))];
    totals.steps += kernel.steps;
    totals.vector_steps += kernel.vector_steps;
    totals.seconds += kernel.seconds;
    if (kernel.verdict == check::Verdict::Agree && kernel.findings.empty() && arguments.kernel.empty()) continue;
    fmt::print("    {}: {}: {} ({} runs, {} steps, {:.3f} s)\n", kernel.instruction, to_string(kernel.verdict),
               kernel.reason, kernel.runs, kernel.steps, kernel.seconds);
    for (const check::KernelFinding& finding : kernel.findings) {
      fmt::print("        {}:{}: {}: {} [{}, {}]\n", finding.stage, finding.line, to_string(finding.kind),
                 finding.message, finding.opcode, finding.hlo_instruction);
    }
  }
  std::fflush(stdout);
  return {};
}

std::string counts(const std::map<std::string, int>& by_verdict) {
  std::string text;
  for (const auto& [verdict, count] : by_verdict) text += fmt::format(" {} {}", count, verdict);
  return text;
}

int run(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Runs all kernels of dumped modules.");
  app.add_option("--generation", arguments.generation);
  app.add_option("--stage", arguments.stages);
  app.add_option("--kernel", arguments.kernel);
  app.add_option("--inputs", arguments.inputs);
  app.add_option("folders", arguments.folders)->required();
  CLI11_PARSE(app, argc, argv);
  Totals totals;
  const auto start = std::chrono::steady_clock::now();
  for (const std::string& folder : arguments.folders) {
    if (const Status status = run_folder(folder, arguments, totals); !status) {
      fmt::print("{}: {}\n", folder, status.error().describe());
      ++totals.modules["error"];
    }
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fmt::print("modules:{}\nkernels:{}; {} of {} from LLO\n", counts(totals.modules), counts(totals.kernels),
             totals.from_llo, totals.all);
  fmt::print("{} steps, {} on vectors, in {:.2f} s: {:.2f} million vector steps a second; {:.1f} s in all\n",
             totals.steps, totals.vector_steps, totals.seconds,
             1e-6 * static_cast<double>(totals.vector_steps) / totals.seconds, seconds);
  return 0;
}

}  // namespace
}  // namespace sapper

int main(int argc, char** argv) { return sapper::run(argc, argv); }
