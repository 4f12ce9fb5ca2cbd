// sapper fuzz: generated programs, judged on one or more targets.
#include "cli/campaign_options.h"
#include "cli/commands.h"
#include "cli/judging_options.h"
#include "cli/store_options.h"
#include "cli/terminal.h"
#include "fuzz/campaign.h"
#include "fuzz/campaign_report.h"
#include "fuzz/dialect.h"

namespace sapper::cli {
namespace {

struct Arguments {
  std::vector<std::string> templates;
  std::vector<std::string> targets;
  JudgingOptions judging;
  StoreOptions store;
  CampaignOptions campaign;
  check::Level level = check::Level::Hlo;
  uint64_t seed = 0;
  int64_t programs = 0;
  int together = 8;
  bool json = false;
};

Result<fuzz::CampaignOptions> campaign_options(const Arguments& arguments) {
  fuzz::CampaignOptions options;
  std::vector<target::Target> targets;
  for (const std::string& target : arguments.targets) {
    JudgingOptions judging = arguments.judging;
    judging.target.on = target;
    judging.seeds = 1;  // more programs rather than more inputs; what fails is tried on more
    SAPPER_TRY(check::CheckOptions check, check_options(judging));
    check.level = arguments.level == check::Level::Llo && check.target.platform != target::Platform::Tpu
                      ? check::Level::Hlo
                      : arguments.level;
    targets.push_back(check.target);
    options.checks.push_back(std::move(check));
  }
  for (const std::string& path : arguments.templates) {
    SAPPER_TRY(fuzz::Template skeleton, fuzz::read_template(path));
    options.templates.push_back(std::move(skeleton));
  }
  options.grammar = fuzz::within_dialects(fuzz::Grammar(), targets);
  options.name = arguments.store.campaign.empty()
                     ? fmt::format("fuzz {} on {}", arguments.seed, fmt::join(arguments.targets, ", "))
                     : arguments.store.campaign;
  options.tool = SAPPER_VERSION;
  options.seed = arguments.seed;
  options.programs = arguments.programs;
  options.together = arguments.together;
  SAPPER_TRY(options.shard, shard_of(arguments.campaign));
  SAPPER_TRY(options.budget_seconds, budget_seconds(arguments.campaign));
  options.jobs = jobs_of(arguments.campaign);
  if (options.programs == 0 && options.budget_seconds == 0)
    return fail(ErrorKind::BadInput, "say when to end: --budget 10m, or --programs 1000");
  return options;
}

Result<int> run(const Arguments& arguments) {
  SAPPER_TRY(const fuzz::CampaignOptions options, campaign_options(arguments));
  for (const check::CheckOptions& check : options.checks) {
    SAPPER_TRY(const std::string plugin, target::plugin_path(check.target));
  }
  SAPPER_TRY(store::Store store, store::Store::open(arguments.store.store));
  target::CompilerPool pool({.workers = options.jobs, .compile_seconds = arguments.judging.time_limit});
  ProgressLine line;
  SAPPER_TRY(const fuzz::CampaignResult result,
             fuzz::run_campaign(store, pool, options, [&](const fuzz::CampaignProgress& at) {
               line.show(fmt::format("{} programs, {:.1f}/s, {} failures", at.programs,
                                     static_cast<double>(at.programs) / std::max(at.seconds, 1e-3), at.found));
             }));
  line.clear();
  if (arguments.json) {
    SAPPER_TRY(const std::string report, fuzz::report_json(store, options.name));
    fmt::print("{}\n{}\n", fuzz::summary_json(result), report);
  } else {
    SAPPER_TRY(const std::string report, fuzz::report_text(store, options.name));
    fmt::print("{}{}", fuzz::summary_text(result), report);
  }
  SAPPER_TRY(const std::vector<store::RankedFinding> findings, store.findings(options.name));
  if (!findings.empty()) return 1;
  return result.without_result.empty() ? 0 : 3;
}

}  // namespace

void add_fuzz(CLI::App& app, int& exit_code) {
  auto* const command = app.add_subcommand("fuzz", "Generate programs, from templates or at will, and judge them");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("templates", arguments->templates,
                      "Templates (docs/fuzzing.md), as those in templates/; none: programs of all operations");
  add_judging_options(*command, arguments->judging);
  for (const char* const name : {"--on", "--input-set", "--inputs", "--seeds", "--seed"})
    command->remove_option(command->get_option(name));
  command->add_option("--on", arguments->targets, "Targets, each of which judges each program (see: sapper targets)")
      ->required();
  command->add_option("--seed", arguments->seed, "Seed of the programs")->capture_default_str();
  command->add_option("--programs", arguments->programs, "End after this many programs")->check(CLI::PositiveNumber);
  command->add_option("--together", arguments->together, "Programs in one compilation")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  add_level_option(*command, arguments->level, "How deep to look: hlo (the default), llo (of TPUs) or all");
  add_store_option(*command, arguments->store);
  command->add_option("--campaign", arguments->store.campaign, "Its name in the store (default: fuzz SEED on TARGETS)");
  add_campaign_options(*command, arguments->campaign, "program");
  command->add_flag("--json", arguments->json, "JSON Lines on stdout: what was done, and the report (docs/json.md)");
  command->footer(
      "Example: sapper fuzz templates/nested_dynamic_slices.hlo --on cpu --programs 100\n"
      "Each finding: sapper findings show, export. Exit code: 0 nothing found, 1 something was found, 2 bad usage or "
      "input, 3 a compiler could not be used to the end");
  command->callback([arguments, &exit_code] {
    const auto result = run(*arguments);
    exit_code = result ? *result : report_error(result.error());
  });
}

}  // namespace sapper::cli
