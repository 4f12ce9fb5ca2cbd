// sapper isolate: large programs cut into pieces, each judged alone.
#include <nlohmann/json.hpp>

#include "check/batch.h"
#include "cli/campaign_options.h"
#include "cli/commands.h"
#include "cli/judging_options.h"
#include "cli/store_options.h"
#include "cli/terminal.h"
#include "inspect/findings.h"
#include "isolate/campaign.h"
#include "isolate/campaign_report.h"

namespace sapper::cli {
namespace {

struct Arguments {
  std::vector<std::string> paths;
  JudgingOptions judging;
  StoreOptions store;
  check::Level level = check::Level::Hlo;
  std::string granularity;
  CampaignOptions campaign;
  bool captured = false;
  std::vector<std::string> only;
  std::vector<std::string> skip;
  std::string inspect;
  bool json = false;
};

Result<isolate::CampaignOptions> campaign_options(const Arguments& arguments) {
  isolate::CampaignOptions options;
  SAPPER_TRY(options.check, check_options(arguments.judging));
  options.check.level = arguments.level;
  options.name = arguments.store.campaign.empty()
                     ? fmt::format("{} on {}", std::filesystem::path(arguments.paths.front()).filename().string(),
                                   options.check.target.to_string())
                     : arguments.store.campaign;
  options.tool = SAPPER_VERSION;
  options.cut_by_form = arguments.granularity.empty();
  if (!options.cut_by_form) {
    SAPPER_TRY(options.cut.granularity, isolate::parse_granularity(arguments.granularity));
  }
  options.inputs = arguments.captured ? isolate::InputsFrom::Captured : isolate::InputsFrom::Ranges;
  SAPPER_TRY(options.shard, shard_of(arguments.campaign));
  SAPPER_TRY(options.budget_seconds, budget_seconds(arguments.campaign));
  options.only = arguments.only;
  options.skip = arguments.skip;
  options.jobs = jobs_of(arguments.campaign);
  return options;
}

std::string progress_text(const isolate::CampaignProgress& at) {
  if (at.doing != "judge") return fmt::format("{} {}/{}", at.doing, at.done, at.all);
  const double rate = static_cast<double>(at.done) / std::max(at.seconds, 1e-3);
  const double remaining = static_cast<double>(at.all - at.done) / std::max(rate, 1e-3);
  return fmt::format("judged {}/{} pieces, {:.1f}/s, {} found, {:.0f} s to go", at.done, at.all, rate, at.found,
                     remaining);
}

void print_summary(const isolate::CampaignResult& result, const isolate::CampaignOptions& options) {
  const isolate::Coverage& coverage = result.coverage;
  fmt::print("{} instructions: {} in pieces, {} called by them, {} compute nothing, {} never reached, {} skipped\n",
             coverage.instructions, coverage.in_pieces, coverage.called, coverage.nothing, coverage.unreached,
             coverage.skipped.size());
  for (const auto& [reason, count] : coverage.skipped_by_reason()) fmt::print("    skipped, {}: {}\n", count, reason);
  fmt::print("{} distinct pieces; {} selected{}: {} known, {} judged now{} in {:.1f} s\n", result.distinct,
             result.selected,
             options.shard.count > 1 ? fmt::format(" (shard {}/{})", options.shard.index, options.shard.count) : "",
             result.known, result.judged, result.left > 0 ? fmt::format(", {} left", result.left) : "", result.seconds);
  for (const auto& [reason, count] : result.without_result)
    fmt::print("    no result, to be had by the same command another time, {}: {}\n", count, reason);
  if (result.not_captured > 0)
    fmt::print("    {} on sampled inputs: their values could not be captured\n", result.not_captured);
}

std::string summary_json(const isolate::CampaignResult& result) {
  nlohmann::ordered_json json{{"instructions", result.coverage.instructions},
                              {"in_pieces", result.coverage.in_pieces},
                              {"called", result.coverage.called},
                              {"nothing", result.coverage.nothing},
                              {"unreached", result.coverage.unreached},
                              {"skipped", result.coverage.skipped_by_reason()},
                              {"unread", result.unread.size()},
                              {"distinct", result.distinct},
                              {"selected", result.selected},
                              {"known", result.known},
                              {"judged", result.judged},
                              {"left", result.left},
                              {"without_result", result.without_result},
                              {"not_captured", result.not_captured},
                              {"seconds", result.seconds},
                              {"compiler_seconds", result.compiler_seconds},
                              {"store_seconds", result.store_seconds}};
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

// Writes what was found, looked into, into the folder that was asked for.
Status look_into_findings(store::Store& store, target::CompilerPool& pool, const std::string& campaign,
                          const Arguments& arguments) {
  SAPPER_TRY(const std::vector<inspect::InspectedFinding> findings,
             inspect::inspect_findings(store, pool, campaign, arguments.inspect, {}));
  for (const inspect::InspectedFinding& finding : findings) {
    if (arguments.json)
      fmt::print(
          "{}\n",
          nlohmann::ordered_json{{"finding", finding.id}, {"folder", finding.folder}, {"inspection", finding.outcome}}
              .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    else
      fmt::print("    {}  {}  ({})\n", finding.id, finding.outcome, finding.folder);
  }
  return {};
}

Result<int> run(const Arguments& arguments) {
  SAPPER_TRY(const isolate::CampaignOptions options, campaign_options(arguments));
  SAPPER_TRY(const std::vector<std::string> files, check::module_files(arguments.paths));
  SAPPER_TRY(const std::string plugin, target::plugin_path(options.check.target));
  SAPPER_TRY(store::Store store, store::Store::open(arguments.store.store));
  target::CompilerPool pool({.workers = options.jobs, .compile_seconds = arguments.judging.time_limit});
  ProgressLine line;
  SAPPER_TRY(const isolate::CampaignResult result,
             isolate::run_campaign(store, pool, files, options,
                                   [&](const isolate::CampaignProgress& at) { line.show(progress_text(at)); }));
  line.clear();
  for (const Error& error : result.unread) report_error(error);
  if (arguments.json) {
    SAPPER_TRY(const std::string report, isolate::report_json(store, options.name));
    fmt::print("{}\n{}\n", summary_json(result), report);
  } else {
    print_summary(result, options);
    SAPPER_TRY(const std::string report, isolate::report_text(store, options.name));
    fmt::print("{}", report);
  }
  if (!arguments.inspect.empty()) SAPPER_CHECKED(look_into_findings(store, pool, options.name, arguments));
  SAPPER_TRY(const int code, isolate::report_exit_code(store, options.name));
  if (code == 0 && !result.unread.empty()) return 2;
  return code == 0 && !result.without_result.empty() ? 3 : code;
}

}  // namespace

void add_isolate(CLI::App& app, int& exit_code) {
  auto* const command = app.add_subcommand("isolate", "Cut large modules into pieces and judge each alone");
  auto arguments = std::make_shared<Arguments>();
  command
      ->add_option("paths", arguments->paths, "Modules (HLO text, HloModuleProto, each also zstd) or folders of them")
      ->required();
  add_judging_options(*command, arguments->judging);
  command->remove_option(command->get_option("--input-set"));
  command->remove_option(command->get_option("--inputs"));
  command
      ->add_option("--inputs", arguments->captured,
                   "ranges: sampled from what is safe for each piece; captured: what a piece sees when its module runs "
                   "on the evaluator")
      ->transform(
          CLI::CheckedTransformer(std::map<std::string, bool>{{"ranges", false}, {"captured", true}}).description(""))
      ->type_name("TEXT:{ranges,captured}");
  add_level_option(*command, arguments->level, "How deep to look at each piece: hlo (the default), llo or all");
  add_store_option(*command, arguments->store);
  command->add_option("--campaign", arguments->store.campaign, "Its name in the store (default: MODULE on TARGET)");
  command->add_option(
      "--granularity", arguments->granularity,
      "What a piece is: op, fusion, region or computation (default: fusion for modules with fusions, else region)");
  command->add_option("--filter", arguments->only,
                      "Only pieces with this in a name, or this opcode, or this beginning of a fingerprint");
  command->add_option("--skip", arguments->skip, "No pieces with this, which is read as --filter's");
  add_campaign_options(*command, arguments->campaign, "piece");
  command->add_option(
      "--inspect", arguments->inspect,
      "Look into each mismatch (sapper inspect), and write it as a case with its report into this folder");
  command->add_flag("--json", arguments->json, "JSON Lines on stdout: what was done, and the report (docs/json.md)");
  command->footer(
      "Example: sapper isolate examples/nested_int4.hlo --on cpu\n"
      "Exit code: 0 all agree, 1 something was found, 2 bad usage or input,\n"
      "3 a piece is undetermined or not judged yet");
  command->callback([arguments, &exit_code] {
    const auto result = run(*arguments);
    exit_code = result ? *result : report_error(result.error());
  });
}

}  // namespace sapper::cli
