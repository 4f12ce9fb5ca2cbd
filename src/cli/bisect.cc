// sapper bisect: which pass of a compilation first means something else, and where in its program that shows.
#include "check/report.h"
#include "cli/commands.h"
#include "cli/judging_options.h"
#include "cli/terminal.h"

namespace sapper::cli {
namespace {

struct Arguments {
  std::string path;
  JudgingOptions judging;
  bool json = false;
};

// What made the stage: a pass over HLO, the emitter of a kernel, a pass over LLO, or the generation of native code.
std::string culprit(const check::Guilty& guilty) {
  if (guilty.level == "hlo") return fmt::format("HLO pass {}", guilty.pass);
  if (guilty.level == "native") return "code generation: every HLO program is right";
  if (guilty.pass == "original") return fmt::format("the emitter of kernel {}: its first LLO is wrong", guilty.kernel);
  return fmt::format("LLO pass {} of kernel {}", guilty.pass, guilty.kernel);
}

void print(const check::Report& report) {
  fmt::print("{}  {}  {}\n", check::to_string(report.verdict), report.path, report.target);
  if (!report.reason.empty()) fmt::print("    why: {}\n", report.reason);
  if (!report.input_set.empty()) fmt::print("    inputs: {}\n", report.input_set);
  if (report.guilty) {
    const check::Guilty& guilty = *report.guilty;
    fmt::print("    guilty: {}\n", culprit(guilty));
    if (!guilty.after.empty()) fmt::print("    or a pass after {}, whose program could not be judged\n", guilty.after);
    if (guilty.line != 0) fmt::print("    first wrong instruction: line {}: {}\n", guilty.line, guilty.instruction);
    if (!guilty.hlo_instruction.empty()) fmt::print("    made for: {}\n", guilty.hlo_instruction);
  }
  for (const std::string& note : report.notes) fmt::print("    note: {}\n", note);
}

Result<int> run(const Arguments& arguments) {
  SAPPER_TRY(check::CheckOptions options, check_options(arguments.judging));
  SAPPER_TRY(const std::string plugin, target::plugin_path(options.target));
  options.level = check::Level::All;
  target::CompilerPool pool({.workers = 1, .compile_seconds = arguments.judging.time_limit});
  const check::Report report = check::check_file(pool, arguments.path, options);
  if (arguments.json) {
    fmt::print("{}\n", to_json(report));
  } else {
    print(report);
  }
  return exit_code_of(report);
}

}  // namespace

void add_bisect(CLI::App& app, int& exit_code) {
  auto* const command = app.add_subcommand("bisect", "Name the pass that first makes a program mean something else");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("module", arguments->path, "HLO text or HloModuleProto, also zstd")->required();
  add_judging_options(*command, arguments->judging);
  command->add_flag("--json", arguments->json, "One JSON object on stdout, as of sapper check (docs/json.md)");
  command->footer(
      "Example: sapper bisect examples/f16_round_trip.hlo --on tpu:v5e --strict\n"
      "Exit code: 0 nothing is wrong, 1 a guilty pass, or results that are not the same twice, 2 bad usage or input, 3 "
      "undetermined");
  command->callback([arguments, &exit_code] {
    const auto result = run(*arguments);
    exit_code = result ? *result : report_error(result.error());
  });
}

}  // namespace sapper::cli
