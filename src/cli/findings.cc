// sapper findings: what campaigns found, one by one.
#include <algorithm>
#include <cctype>

#include "cli/commands.h"
#include "cli/store_options.h"
#include "cli/terminal.h"
#include "isolate/campaign_report.h"

namespace sapper::cli {
namespace {

struct Arguments {
  StoreOptions store;
  std::string finding;
  std::string output;
  std::string status;
  bool json = false;
};

Status list(const Arguments& arguments) {
  SAPPER_TRY(store::Store store, store::Store::open(arguments.store.store, store::Access::Read));
  SAPPER_TRY(const std::string text, arguments.json ? isolate::findings_json(store, arguments.store.campaign)
                                                    : isolate::findings_text(store, arguments.store.campaign));
  fmt::print("{}", text);
  return {};
}

Status show(const Arguments& arguments) {
  SAPPER_TRY(store::Store store, store::Store::open(arguments.store.store, store::Access::Read));
  SAPPER_TRY(const std::string text, isolate::finding_text(store, arguments.store.campaign, arguments.finding));
  fmt::print("{}", text);
  return {};
}

Status export_one(const Arguments& arguments) {
  SAPPER_TRY(store::Store store, store::Store::open(arguments.store.store, store::Access::Read));
  SAPPER_TRY(const std::string command,
             isolate::export_case(store, arguments.store.campaign, arguments.finding, arguments.output));
  fmt::print("{}\n", command);
  return {};
}

Status mark(const Arguments& arguments) {
  SAPPER_TRY(store::Store store, store::Store::open(arguments.store.store));
  SAPPER_TRY(const store::RankedFinding finding, store.finding(arguments.store.campaign, arguments.finding));
  return store.set_status(finding.id, arguments.status);
}

std::string check_status(const std::string& text) {
  const bool is_line =
      !text.empty() && std::ranges::none_of(text, [](unsigned char c) { return std::iscntrl(c) != 0; });
  return is_line ? "" : "a status is a word, or some on one line";
}

}  // namespace

void add_findings(CLI::App& app, int& exit_code) {
  auto* const group = app.add_subcommand("findings", "List, show, mark and export what a campaign found");
  group->require_subcommand(1);
  auto arguments = std::make_shared<Arguments>();
  const auto add = [&](const char* name, const char* text, const char* example, Status (*run)(const Arguments&)) {
    auto* const command = group->add_subcommand(name, text);
    command->add_option("campaign", arguments->store.campaign, "The campaign's name")->required();
    add_store_option(*command, arguments->store);
    command->footer(fmt::format("Example: sapper findings {} \"nested_int4.hlo on cpu\"{}", name, example));
    command->callback([arguments, run, &exit_code] {
      const Status status = run(*arguments);
      exit_code = status ? 0 : report_error(status.error());
    });
    return command;
  };
  const auto add_finding = [&](CLI::App* command) {
    command->add_option("finding", arguments->finding, "Its id, or how it begins")->required();
  };
  add("list", "One line a finding, the worst first", "", &list)
      ->add_flag("--json", arguments->json, "JSON Lines on stdout (docs/json.md)");
  add_finding(add("show", "Where the piece stands, how it was confirmed, its module", " 3f9c", &show));
  auto* const exporting =
      add("export", "Write a finding as a folder that stands for itself", " 3f9c --output case", &export_one);
  add_finding(exporting);
  exporting->add_option("--output", arguments->output, "The folder")->required();
  auto* const marking = add("mark", "Note what became of a finding", " 3f9c reported", &mark);
  add_finding(marking);
  marking->add_option("status", arguments->status, "Any word; findings begin as 'new'")
      ->required()
      ->check(CLI::Validator(&check_status, ""));
}

}  // namespace sapper::cli
