// sapper inspect: looks into one intact kernel while it runs.
#include "inspect/inspect.h"

#include "cli/commands.h"
#include "cli/judging_options.h"
#include "cli/terminal.h"
#include "hlo/proto.h"
#include "inspect/report.h"

namespace sapper::cli {
namespace {

struct Arguments {
  std::string path;
  JudgingOptions judging;
  std::string kernel;
  std::string stage = "final_bundles";
  int window = 2;
  int64_t memory_mib = 2048;
  std::string output;
  bool json = false;
};

Result<int> run(const Arguments& arguments) {
  SAPPER_TRY(const check::Task task, single_task(arguments.path, arguments.judging));
  inspect::InspectOptions options;
  options.check = task.options;
  options.kernel = arguments.kernel;
  options.stage = arguments.stage;
  options.window = arguments.window;
  options.memory_bytes = arguments.memory_mib << 20;
  SAPPER_TRY(hlo::Module module, hlo::read_module(task.path));
  SAPPER_TRY(const std::string plugin, target::plugin_path(options.check.target));
  target::CompilerPool pool({.workers = 1, .compile_seconds = arguments.judging.time_limit});
  SAPPER_TRY(const inspect::Inspection inspection,
             inspect::inspect_kernel(pool, std::move(module), task.path, options));
  if (!arguments.output.empty()) SAPPER_CHECKED(inspect::write_folder(inspection, arguments.output));
  fmt::print("{}{}", arguments.json ? inspect::to_json(inspection) : inspect::to_text(inspection),
             arguments.json ? "\n" : "");
  return inspect::exit_code(inspection);
}

}  // namespace

void add_inspect(CLI::App& app, int& exit_code) {
  auto* const command =
      app.add_subcommand("inspect", "Look into one intact kernel while it runs: which instruction goes wrong first");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("module", arguments->path, "HLO text or HloModuleProto, also zstd, or a case")->required();
  add_judging_options(*command, arguments->judging);
  command->get_option("--on")->required(false);
  command->add_option("--kernel", arguments->kernel,
                      "The instruction of the optimized module whose kernel is looked into (default: the first that is "
                      "wrong, else the costliest)");
  command->add_option("--stage", arguments->stage, "The backend pass whose program runs: original, ..., final_bundles")
      ->capture_default_str();
  command
      ->add_option("--window", arguments->window,
                   "Instructions on each side of the first divergence whose whole values are kept")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str();
  command->add_option("--memory", arguments->memory_mib, "MiB for the values of the kernel's instructions")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 20))
      ->capture_default_str();
  command->add_option("--output", arguments->output,
                      "Also write report.html, inspection.json and the kept values into this folder");
  command->add_flag("--json", arguments->json, "One JSON object on stdout (docs/json.md)");
  command->footer(
      "Example: sapper inspect examples/f16_round_trip.hlo --on tpu:v5e\n"
      "Exit code: 0 nothing diverges, 1 an instruction does, 2 bad usage or input, 3 it cannot be told "
      "(docs/inspection.md)");
  command->callback([arguments, &exit_code] {
    const Result<int> code = run(*arguments);
    exit_code = code ? *code : report_error(code.error());
  });
}

}  // namespace sapper::cli
