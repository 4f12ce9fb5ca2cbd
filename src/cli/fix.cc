// sapper fix: writes down the roundings that a compiler leaves out of a kernel, and shows that this is enough.
#include "inspect/fix.h"

#include <filesystem>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/judging_options.h"
#include "cli/terminal.h"
#include "hlo/proto.h"
#include "hlo/text.h"

namespace sapper::cli {
namespace {

struct Arguments {
  std::string path;
  JudgingOptions judging;
  std::string kernel;
  std::string output;
};

Result<int> run(const Arguments& arguments) {
  SAPPER_TRY(const check::Task task, single_task(arguments.path, arguments.judging));
  inspect::InspectOptions options;
  options.check = task.options;
  options.kernel = arguments.kernel;
  SAPPER_TRY(const hlo::Module module, hlo::read_module(task.path));
  SAPPER_TRY(const std::string plugin, target::plugin_path(options.check.target));
  target::CompilerPool pool({.workers = 1, .compile_seconds = arguments.judging.time_limit});
  SAPPER_TRY(const inspect::Fix fix, inspect::fix_kernel(pool, module, task.path, options));
  const std::string note = inspect::to_text(fix);
  if (!arguments.output.empty()) {
    SAPPER_CHECKED(write_file(arguments.output, hlo::to_text(fix.module)));
    SAPPER_CHECKED(write_file(arguments.output + ".note", note));
  }
  fmt::print("{}", note);
  if (fix.holds()) return 0;
  return fix.strict_check.verdict == check::Verdict::Mismatch ? 1 : 3;
}

}  // namespace

void add_fix(CLI::App& app, int& exit_code) {
  auto* const command = app.add_subcommand(
      "fix", "Write down the roundings that a compiler leaves out of a kernel, and show that it helps");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("module", arguments->path, "HLO text or HloModuleProto, also zstd, or a case")->required();
  add_judging_options(*command, arguments->judging);
  command->get_option("--on")->required(false);
  command->remove_option(command->get_option("--strict"));
  command->add_option("--kernel", arguments->kernel,
                      "The instruction of the optimized module whose kernel is meant (default: the first that is wrong "
                      "by strict semantics)");
  command->add_option("--output", arguments->output, "Write the new module here, and what was shown beside it (.note)");
  command->footer(
      "Example: sapper fix examples/f16_round_trip.hlo --on tpu:v5e --output fixed.hlo\n"
      "Exit code: 0 the kernel is fixed and all was shown, 1 it is still wrong, 2 bad usage or input,\n"
      "3 something could not be shown");
  command->callback([arguments, &exit_code] {
    const Result<int> code = run(*arguments);
    exit_code = code ? *code : report_error(code.error());
  });
}

}  // namespace sapper::cli
