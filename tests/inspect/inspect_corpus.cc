// Development: what inspection says of kernels that are right, and of the same made wrong by one instruction.
//   inspect_corpus MODULE... [--on tpu:v5e] [--mutants N] [--all] [--speed] [--places]
// A line a kernel: of the right one how many instructions were seen, and whether something wrong is said of it (FALSE
// ALARM); of those made wrong how many change the results beyond what is legal, and of how many the right instruction
// is named. --all lists those that are not. --speed: how fast the machine runs by itself, and with all probes.
// --places: whether registers hold what the reference has at the elements that addresses say they hold.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <map>

#include "base/stopwatch.h"
#include "inspect/llo_inspection.h"
#include "target/target.h"
#include "tests/inspect/wrong_kernels.h"
#include "tests/llo/mutants.h"

namespace sapper::inspect {
namespace {

struct Totals {
  int kernels = 0, false_alarms = 0, failed = 0, with_mutants = 0, wrong = 0, named = 0, unnamed = 0;
  int64_t instructions = 0, seen = 0, unknown = 0;
  std::map<std::string_view, std::pair<int, int>> by_kind;  // wrong, named
};

std::string name_of(const Inspection& inspection, size_t index) {
  const InspectedInstruction& it = inspection.instructions[index];
  return inspection.module.computations[it.computation].instructions[it.instruction].name;
}

void look_at_right(const std::string& label, const KernelCase& kernel, const LloInspectionOptions& options,
                   Totals& all) {
  const Result<Inspection> inspection = inspect_llo(kernel.at_end(), options);
  ++all.kernels;
  if (!inspection) {
    ++all.failed;
    fmt::print("{:<40} cannot: {}\n", label, inspection.error().describe());
    return;
  }
  int64_t count = 0, seen = 0, unknown = 0;
  for (const InspectedInstruction& it : inspection->instructions) {
    const auto opcode = inspection->module.computations[it.computation].instructions[it.instruction].opcode;
    if (opcode == hlo::Opcode::Constant || opcode == hlo::Opcode::Tuple || opcode == hlo::Opcode::Fusion) continue;
    ++count;
    seen += it.seen > 0 ? 1 : 0;
    unknown += it.standing == Standing::Unknown ? 1 : 0;
  }
  all.instructions += count;
  all.seen += seen;
  all.unknown += unknown;
  fmt::print("{:<40} {:>3} of {:>3} seen, {} unknown, {:.2f} s", label, seen, count, unknown, inspection->seconds);
  if (inspection->first_divergence) {
    ++all.false_alarms;
    fmt::print("  FALSE ALARM: {}", name_of(*inspection, *inspection->first_divergence));
  }
  fmt::print("\n");
}

// Steps a second: of the machine by itself, while places are learned, while registers are read.
Status print_speed(const std::string& label, const KernelCase& kernel, const LloInspectionOptions& options) {
  const LloKernel at_end = kernel.at_end();
  SAPPER_TRY(const KernelView view, view_of(at_end, options.evaluation, options.memory_bytes));
  const RunKernel run = runner_of(at_end, kernel.final, options.machine);
  Probe probe(view.graph, view.sightings, view.words, view.renamed);
  const Stopwatch alone;
  SAPPER_TRY(const llo::KernelRun plain, run({}));
  const double plain_seconds = alone.seconds();
  const Stopwatch learning;
  SAPPER_TRY(const llo::KernelRun surveyed, probe.survey(run));
  const double survey_seconds = learning.seconds();
  const Stopwatch reading;
  SAPPER_TRY(const llo::KernelRun read, probe.read(run, false));
  const double read_seconds = reading.seconds();
  fmt::print("{:<40} {} steps in {:.4f} s; learning {:.0f}%, reading {:.0f}% of that speed\n", label, plain.steps,
             plain_seconds, 100 * plain_seconds / survey_seconds, 100 * plain_seconds / read_seconds);
  return {};
}

Status count_places(const std::string& label, const KernelCase& kernel, const LloInspectionOptions& options,
                    PlaceCounts& all) {
  const LloKernel at_end = kernel.at_end();
  SAPPER_TRY(const KernelView view, view_of(at_end, options.evaluation, options.memory_bytes));
  Probe probe(view.graph, view.sightings, view.words, view.renamed);
  SAPPER_TRY(const llo::KernelRun surveyed, probe.survey(runner_of(at_end, kernel.final, options.machine)));
  const PlaceCounts& counts = probe.place_counts();
  all.registers += counts.registers;
  all.by_address += counts.by_address;
  all.confirmed += counts.confirmed;
  all.contradicted += counts.contradicted;
  fmt::print("{:<40} {} registers: {} placed by address, {} of them confirmed, {} contradicted\n", label,
             counts.registers, counts.by_address, counts.confirmed, counts.contradicted);
  return {};
}

void look_at_wrong(const KernelCase& kernel, const LloInspectionOptions& options, size_t most, bool lists,
                   Totals& all) {
  int wrong = 0, named = 0;
  for (const llo::Mutant& mutant : llo::mutants_of(kernel.final, most)) {
    const auto first = first_changed(kernel, mutant.program, options);
    if (!first || first->empty()) continue;
    const Result<Inspection> inspection =
        inspect_llo({kernel.module, kernel.operands, kernel.original, mutant.program, "final_bundles"}, options);
    ++wrong;
    const std::string name = inspection && inspection->first_divergence
                                 ? name_of(*inspection, *inspection->first_divergence)
                                 : std::string();
    const bool right = first->contains(name);
    named += right ? 1 : 0;
    all.unnamed += name.empty() ? 1 : 0;
    auto& [made, found] = all.by_kind[mutant.kind];
    ++made;
    found += right ? 1 : 0;
    if (!right && lists)
      fmt::print(
          "    {} at line {} ({}): {} instead of {}\n", mutant.kind, kernel.final.instructions[mutant.instruction].line,
          kernel.final.instructions[mutant.instruction].opcode,
          inspection ? (name.empty() ? "nothing" : name) : inspection.error().describe(), fmt::join(*first, " or "));
  }
  if (wrong == 0) return;
  ++all.with_mutants;
  all.wrong += wrong;
  all.named += named;
  fmt::print("    made wrong: {} of {} named\n", named, wrong);
}

struct Wanted {
  size_t mutants = 0;
  bool lists = false;
  bool speed = false;
  bool places = false;
};

int run(const std::vector<std::string>& paths, const std::string& on, const Wanted& wanted) {
  const auto target = target::parse_target(on);
  const auto options = target ? options_for(*target) : Result<LloInspectionOptions>(fail(target.error()));
  if (!options) {
    fmt::print(stderr, "{}\n", options.error().describe());
    return 2;
  }
  target::CompilerPool pool({.workers = 1, .worker_program = SAPPER_BINARY});
  Totals all;
  PlaceCounts places;
  for (const std::string& path : paths) {
    const std::string stem = std::filesystem::path(path).stem();
    const auto cases = kernel_cases(pool, path, *target);
    if (!cases) {
      fmt::print("{:<40} not compiled or evaluated: {}\n", stem, cases.error().describe());
      continue;
    }
    for (const KernelCase& kernel : *cases) {
      const std::string label = stem + " " + kernel.name;
      if (wanted.speed || wanted.places) {
        const Status status =
            wanted.speed ? print_speed(label, kernel, *options) : count_places(label, kernel, *options, places);
        if (!status) fmt::print("{}\n", status.error().describe());
        continue;
      }
      look_at_right(label, kernel, *options, all);
      if (wanted.mutants > 0) look_at_wrong(kernel, *options, wanted.mutants, wanted.lists, all);
    }
    std::fflush(stdout);
  }
  if (wanted.places) {
    fmt::print("\n{} registers: {} placed by address, {} of them confirmed, {} contradicted\n", places.registers,
               places.by_address, places.confirmed, places.contradicted);
    return places.contradicted == 0 ? 0 : 1;
  }
  fmt::print("\n{} kernels ({} cannot be run), {} false alarms; {} of {} instructions seen, {} unknown\n", all.kernels,
             all.failed, all.false_alarms, all.seen, all.instructions, all.unknown);
  if (wanted.mutants > 0) {
    fmt::print("{} kernels made wrong in {} ways: {} named right, {} not at all\n", all.with_mutants, all.wrong,
               all.named, all.unnamed);
    for (const auto& [kind, counts] : all.by_kind) fmt::print("  {:<24} {} of {}\n", kind, counts.second, counts.first);
  }
  return all.false_alarms == 0 ? 0 : 1;
}

}  // namespace
}  // namespace sapper::inspect

int main(int argc, char** argv) {
  CLI::App app("What inspection says of kernels that are right and of such that are not");
  std::vector<std::string> paths;
  std::string on = "tpu:v5e";
  sapper::inspect::Wanted wanted;
  app.add_option("modules", paths)->required();
  app.add_option("--on", on);
  app.add_option("--mutants", wanted.mutants, "Changes of one kind in one kernel");
  app.add_flag("--all", wanted.lists, "List the changes whose instruction is not named");
  app.add_flag("--speed", wanted.speed, "Only how fast it goes");
  app.add_flag("--places", wanted.places, "Only how registers are placed");
  CLI11_PARSE(app, argc, argv);
  return sapper::inspect::run(paths, on, wanted);
}
