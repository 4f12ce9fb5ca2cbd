// sapper reduce: the smallest program that still fails for the same reason.
#include "reduce/reduce.h"

#include <algorithm>
#include <thread>

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
  check::Level level = check::Level::Hlo;
  std::string interesting;
  std::string output;
  int jobs = 0;
  bool json = false;
};

std::string default_output(const std::string& path) {
  std::string stem = path;
  while (stem.ends_with('/')) stem.pop_back();
  stem = stem.substr(stem.rfind('/') + 1);
  return stem.substr(0, stem.find('.', 1)) + ".reduced";
}

void print(const reduce::Reduction& reduction, const std::string& output) {
  fmt::print("{} instructions -> {}, {} elements -> {}: {} steps, {} programs tried in {:.1f} s{}\n",
             reduction.before.instructions, reduction.after.instructions, reduction.before.elements,
             reduction.after.elements, reduction.steps.size(), reduction.tried, reduction.seconds,
             reduction.tries > 1 ? fmt::format(" (it comes and goes: each up to {} times)", reduction.tries) : "");
  fmt::print("{}\n\n{}\nnext: sapper check {}\n", to_text(reduction.reduced.expected),
             hlo::to_text(reduction.reduced.module, {.percent = false, .operand_shapes = false, .layouts = false}),
             output);
}

Result<int> run(const Arguments& arguments) {
  SAPPER_TRY(check::Task task, single_task(arguments.path, arguments.judging));
  if (!check::is_case(arguments.path)) task.options.level = arguments.level;
  SAPPER_TRY(hlo::Module module, hlo::read_module(task.path));
  const check::Case one{.module = std::move(module), .options = std::move(task.options)};
  SAPPER_TRY(const std::string plugin, target::plugin_path(one.options.target));
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  reduce::ReduceOptions options;
  options.command = arguments.interesting;
  options.jobs = arguments.jobs > 0 ? arguments.jobs : cores;
  options.pool = {.workers = options.jobs, .compile_seconds = arguments.judging.time_limit};
  options.output = arguments.output.empty() ? default_output(arguments.path) : arguments.output;
  options.made_by = SAPPER_VERSION;
  ProgressLine line;
  SAPPER_TRY(const reduce::Reduction reduction,
             reduce::reduce(one, task.path, options, [&](const reduce::SearchProgress& at) {
               line.show(fmt::format("{} instructions, {} elements after {} steps; {} tried; {}", at.size.instructions,
                                     at.size.elements, at.steps, at.tried, at.pass));
             }));
  line.clear();
  if (arguments.json)
    fmt::print("{}\n", to_json(reduction));
  else
    print(reduction, options.output);
  return 0;
}

}  // namespace

void add_reduce(CLI::App& app, int& exit_code) {
  auto* const command = app.add_subcommand("reduce", "Make a program smaller that still fails for the same reason");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("path", arguments->path, "A case (docs/cases.md), or a module")->required();
  add_judging_options(*command, arguments->judging);
  command->get_option("--on")->required(false);
  add_level_option(*command, arguments->level,
                   "Where to look for the failure of a module: hlo (the default), llo, all");
  command->add_option(
      "--interesting", arguments->interesting,
      "Instead of a check: a shell command that gets the module's file as its last argument, inputs.npz "
      "beside it, and ends with 0 where the program is still interesting");
  command->add_option("--output", arguments->output, "The folder of the reduced case (default: NAME.reduced)");
  command->add_option("--jobs", arguments->jobs, "Programs tried side by side (default: one a core)")
      ->check(CLI::Range(1, 1024));
  command->add_flag("--json", arguments->json, "One JSON object on stdout (docs/json.md)");
  command->footer(
      "Example: sapper reduce examples/nested_int4.hlo --on cpu --output small\n"
      "Exit code: 0 reduced, 2 bad usage or nothing that fails (docs/reduction.md)");
  command->callback([arguments, &exit_code] {
    const auto result = run(*arguments);
    exit_code = result ? *result : report_error(result.error());
  });
}

}  // namespace sapper::cli
