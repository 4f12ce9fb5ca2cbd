// sapper report: what a campaign has found.
#include "cli/commands.h"
#include "cli/store_options.h"
#include "cli/terminal.h"
#include "isolate/campaign_report.h"

namespace sapper::cli {
namespace {

struct Arguments {
  StoreOptions store;
  bool json = false;
};

// Without a name: the campaigns that there are, and the worst of their exit codes.
Result<int> run(const Arguments& arguments) {
  SAPPER_TRY(store::Store store, store::Store::open(arguments.store.store, store::Access::Read));
  if (arguments.store.campaign.empty()) {
    SAPPER_TRY(const std::vector<store::Campaign> campaigns, store.campaigns());
    int worst = 0;
    for (const store::Campaign& campaign : campaigns) {
      SAPPER_TRY(const std::string report, arguments.json ? isolate::report_json(store, campaign.name)
                                                          : isolate::report_text(store, campaign.name));
      fmt::print("{}{}", report, arguments.json ? "\n" : "");
      SAPPER_TRY(const int code, isolate::report_exit_code(store, campaign.name));
      if (worst != 1 && code != 0) worst = code;
    }
    return worst;
  }
  SAPPER_TRY(const std::string report, arguments.json ? isolate::report_json(store, arguments.store.campaign)
                                                      : isolate::report_text(store, arguments.store.campaign));
  fmt::print("{}{}", report, arguments.json ? "\n" : "");
  return isolate::report_exit_code(store, arguments.store.campaign);
}

}  // namespace

void add_report(CLI::App& app, int& exit_code) {
  auto* const command = app.add_subcommand("report", "Say what a campaign has found so far");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("campaign", arguments->store.campaign, "Its name; without it, all of the store");
  add_store_option(*command, arguments->store);
  command->add_flag("--json", arguments->json, "One JSON object a campaign on stdout (docs/json.md)");
  command->footer(
      "Example: sapper report \"nested_int4.hlo on cpu\"\n"
      "Exit code: 0 all agree, 1 something was found, 2 bad usage or input,\n"
      "3 a piece is undetermined or not judged yet");
  command->callback([arguments, &exit_code] {
    const auto result = run(*arguments);
    exit_code = result ? *result : report_error(result.error());
  });
}

}  // namespace sapper::cli
