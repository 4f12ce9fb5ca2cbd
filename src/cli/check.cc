// sapper check: the main job.
#include <algorithm>
#include <thread>

#include "check/batch.h"
#include "check/ranking.h"
#include "check/report.h"
#include "cli/commands.h"
#include "cli/judging_options.h"
#include "cli/terminal.h"

namespace sapper::cli {
namespace {

struct Arguments {
  std::vector<std::string> paths;
  JudgingOptions judging;
  check::Level level = check::Level::Hlo;
  std::string stages;
  std::string tolerance;
  int jobs = 0;
  bool json = false;
};

// "abs=1e-6,rel=1e-4", either part alone too.
Result<numerics::Tolerance> parse_tolerance(const std::string& text) {
  numerics::Tolerance tolerance;
  for (const std::string& part : CLI::detail::split(text, ',')) {
    const size_t equals = part.find('=');
    const std::string key = part.substr(0, equals);
    double value = 0;
    if (equals == std::string::npos || !CLI::detail::lexical_cast(part.substr(equals + 1), value) || !(value >= 0))
      return fail(ErrorKind::BadInput, "--tolerance {}: expected abs=NUMBER,rel=NUMBER", text);
    if (key == "abs") {
      tolerance.absolute = value;
    } else if (key == "rel") {
      tolerance.relative = value;
    } else if (key == "ulp") {
      tolerance.ulps = value;
    } else {
      return fail(ErrorKind::BadInput, "--tolerance {}: no such part '{}'; there are abs, rel and ulp", text, key);
    }
  }
  return tolerance;
}

int worse_exit(int a, int b) {
  // A mismatch outranks bad input, which outranks doubt.
  const auto rank = [](int code) { return code == 1 ? 3 : code == 2 ? 2 : code == 3 ? 1 : 0; };
  return rank(a) >= rank(b) ? a : b;
}

std::string summary(const std::map<check::Verdict, int>& counts) {
  std::string text;
  for (const auto& [verdict, count] : counts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, check::to_string(verdict));
  return text;
}

// What every module is checked with; nullopt: no target was given, which cases have one of their own.
Result<std::optional<check::CheckOptions>> given_options(const Arguments& arguments) {
  if (arguments.judging.target.on.empty()) return std::nullopt;
  SAPPER_TRY(check::CheckOptions options, check_options(arguments.judging));
  options.level = arguments.level;
  if (!arguments.tolerance.empty()) {
    SAPPER_TRY(options.tolerance, parse_tolerance(arguments.tolerance));
  }
  return options;
}

Result<std::vector<check::Task>> tasks_of(const Arguments& arguments) {
  SAPPER_TRY(const std::optional<check::CheckOptions> options, given_options(arguments));
  const auto on = options ? std::optional(options->target) : std::nullopt;
  SAPPER_TRY(std::vector<check::Task> tasks, check::tasks_for(arguments.paths, options, on));
  for (check::Task& task : tasks) task.options.all_stages = arguments.stages == "all";
  return tasks;
}

Result<int> run(const Arguments& arguments) {
  SAPPER_TRY(const std::vector<check::Task> tasks, tasks_of(arguments));
  for (const check::Task& task : tasks) {
    SAPPER_TRY(const std::string plugin, target::plugin_path(task.options.target));
  }

  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int jobs = arguments.jobs > 0 ? arguments.jobs : cores;
  target::CompilerPool pool({.workers = jobs, .compile_seconds = arguments.judging.time_limit});
  const check::TextStyle style{.colours = stdout_is_terminal(), .stages = arguments.stages == "all"};
  std::map<check::Verdict, int> counts;
  std::vector<check::RankedMismatch> mismatches;
  int exit_code = 0;
  ProgressLine progress;
  check::check_all(
      pool, tasks, jobs,
      [&](const check::Report& report) {
        progress.clear();
        fmt::print("{}{}", arguments.json ? to_json(report) : to_text(report, style), arguments.json ? "\n" : "");
        std::fflush(stdout);
        ++counts[report.verdict];
        if (auto mismatch = ranked_mismatch(report)) mismatches.push_back(std::move(*mismatch));
        exit_code = worse_exit(exit_code, exit_code_of(report));
      },
      [&](const check::BatchProgress& at) {
        if (at.done < at.all) progress.show(fmt::format("checked {}/{}: {}", at.done, at.all, summary(counts)));
      });
  progress.clear();
  if (tasks.size() > 1 && !arguments.json)
    fmt::print("{}{} modules: {}\n", check::ranking(std::move(mismatches)), tasks.size(), summary(counts));
  return exit_code;
}

}  // namespace

void add_check(CLI::App& app, int& exit_code) {
  auto* const command = app.add_subcommand("check", "Compile modules with a real compiler and judge every stage");
  auto arguments = std::make_shared<Arguments>();
  command
      ->add_option("paths", arguments->paths,
                   "Modules (HLO text, HloModuleProto, each also zstd), cases, or folders of them")
      ->required();
  add_judging_options(*command, arguments->judging);
  command->get_option("--on")->required(false);
  add_level_option(
      *command, arguments->level,
      "How deep to look: hlo (the default), llo (each kernel of a TPU program against the optimized HLO), all");
  command->add_option("--stages", arguments->stages, "'all': judge and list every pass, agreeing or not")
      ->check(CLI::IsMember({"all"}));
  command->add_option("--tolerance", arguments->tolerance, "Replace the derived tolerance: abs=A,rel=R,ulp=U");
  command->add_option("--jobs", arguments->jobs, "Modules checked side by side (default: one a core)")
      ->check(CLI::Range(1, 1024));
  command->add_flag("--json", arguments->json, "JSON Lines on stdout, one object a module (docs/json.md)");
  command->footer(
      "Example: sapper check examples/softmax.hlo --on tpu:v5e --level all\n"
      "A case (docs/cases.md) is checked as it records it: sapper check CASE. With --on, on that target.\n"
      "Exit code: 0 all agree or differ as policy allows, 1 a mismatch or a compiler crash, 2 bad usage or input,\n"
      "3 undetermined (docs/verdicts.md)");
  command->callback([arguments, &exit_code] {
    const auto result = run(*arguments);
    exit_code = result ? *result : report_error(result.error());
  });
}

}  // namespace sapper::cli
