#include "isolate/campaign_report.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "hlo/proto.h"
#include "hlo/text.h"

namespace sapper::isolate {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t short_id = 10;  // characters of ids that are shown

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json number(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
}

std::string number_text(const std::optional<double>& value) { return value ? fmt::format("{:.3g}", *value) : "-"; }

Json counts_json(const store::Counts& counts) {
  Json json = Json::object();
  for (const auto& [what, count] : counts) json[what] = count;
  return json;
}

std::string counts_text(const store::Counts& counts) {
  std::string text;
  for (const auto& [what, count] : counts) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  return text.empty() ? "nothing judged yet" : text;
}

std::string finding_line(const store::RankedFinding& ranked) {
  const store::Finding& finding = ranked.finding;
  return fmt::format("    {}  excess {}  relative {}  {}x  impact {}  {}  [{}]\n", ranked.id.substr(0, short_id),
                     number_text(finding.max_excess), number_text(finding.max_relative), ranked.times,
                     number_text(ranked.impact), finding.signature, finding.status);
}

Json finding_json(const store::RankedFinding& ranked) {
  const store::Finding& finding = ranked.finding;
  return {{"id", ranked.id},
          {"piece", ranked.run.piece},
          {"kind", ranked.kind},
          {"instructions", ranked.instructions},
          {"verdict", ranked.verdict},
          {"stage", finding.stage},
          {"signature", finding.signature},
          {"message", finding.message},
          {"severity", finding.severity},
          {"max_excess", number(finding.max_excess)},
          {"max_rel", number(finding.max_relative)},
          {"times", ranked.times},
          {"impact", number(ranked.impact)},
          {"status", finding.status}};
}

// The steps of the cascade, a line each.
std::string steps_text(const std::string& steps) {
  const Json json = Json::parse(steps, nullptr, false);
  if (!json.is_object()) return "";
  std::string text = fmt::format("    {}\n", json.value("confidence", ""));
  for (const Json& step : json.value("steps", Json::array()))
    text += fmt::format("    {:<24} {:<12} {:.2f} s  {}\n", step.value("reference", ""), step.value("verdict", ""),
                        step.value("seconds", 0.0), step.value("reason", ""));
  return text;
}

// The run that made the finding.
Result<store::Run> run_of(store::Store& store, const std::string& campaign, const store::RankedFinding& finding) {
  SAPPER_TRY(const std::vector<store::Run> runs, store.runs(campaign));
  const auto run = std::ranges::find(runs, finding.run, &store::Run::key);
  if (run == runs.end()) return fail(ErrorKind::Internal, "finding {} has no run", finding.id);
  return *run;
}

// `sapper check` on the exported module, with what the campaign's configuration says.
std::string command_of(const Json& configuration, uint64_t seed, bool has_inputs) {
  std::string command = fmt::format("sapper check module.hlo --on {}", configuration.value("target", ""));
  if (const std::string level = configuration.value("level", "hlo"); level != "hlo") command += " --level " + level;
  command += has_inputs ? " --inputs inputs.npz" : fmt::format(" --seed {}", seed);
  if (!has_inputs && configuration.value("kinds", Json::array()) != Json{"dense"}) command += " --inputs-kind all";
  if (configuration.value("strict", false)) command += " --strict";
  const Json options = configuration.value("options", Json::object());
  for (const auto& [name, value] : options.items())
    command += fmt::format(" --option {}={}", name, value.get<std::string>());
  return command;
}

}  // namespace

Result<std::string> report_text(store::Store& store, const std::string& campaign) {
  SAPPER_TRY(const store::Summary summary, store.summary(campaign));
  SAPPER_TRY(const store::Counts verdicts, store.verdicts(campaign));
  SAPPER_TRY(const store::Counts reasons, store.reasons(campaign, "undetermined"));
  SAPPER_TRY(const std::string findings, findings_text(store, campaign));
  std::string text = fmt::format("{}: {} pieces from {} places, {} judged: {}\n", campaign, summary.pieces,
                                 summary.occurrences, summary.pieces_run, counts_text(verdicts));
  for (const auto& [reason, count] : reasons) text += fmt::format("    undetermined, {}: {}\n", count, reason);
  return text + findings;
}

Result<std::string> report_json(store::Store& store, const std::string& campaign) {
  SAPPER_TRY(const store::Campaign settings, store.campaign(campaign));
  SAPPER_TRY(const store::Summary summary, store.summary(campaign));
  SAPPER_TRY(const store::Counts verdicts, store.verdicts(campaign));
  SAPPER_TRY(const store::Counts reasons, store.reasons(campaign, "undetermined"));
  SAPPER_TRY(const std::vector<store::RankedFinding> findings, store.findings(campaign));
  Json json{{"campaign", campaign},
            {"created", settings.created},
            {"settings", Json::parse(settings.settings, nullptr, false)},
            {"pieces", summary.pieces},
            {"occurrences", summary.occurrences},
            {"judged", summary.pieces_run},
            {"verdicts", counts_json(verdicts)},
            {"undetermined", counts_json(reasons)},
            {"seconds", summary.seconds},
            {"compiler_seconds", summary.compiler_seconds},
            {"findings", Json::array()}};
  for (const store::RankedFinding& finding : findings) json["findings"].push_back(finding_json(finding));
  return dump(json);
}

Result<int> report_exit_code(store::Store& store, const std::string& campaign) {
  SAPPER_TRY(const store::Counts verdicts, store.verdicts(campaign));
  int code = 0;
  for (const auto& [verdict, count] : verdicts) {
    if (verdict == "mismatch" || verdict == "crash") return 1;
    if (verdict != "agree" && verdict != "policy") code = 3;
  }
  return code;
}

Result<std::string> findings_text(store::Store& store, const std::string& campaign) {
  SAPPER_TRY(const std::vector<store::RankedFinding> findings, store.findings(campaign));
  std::string text;
  for (const store::RankedFinding& finding : findings) text += finding_line(finding);
  return text;
}

Result<std::string> findings_json(store::Store& store, const std::string& campaign) {
  SAPPER_TRY(const std::vector<store::RankedFinding> findings, store.findings(campaign));
  std::string text;
  for (const store::RankedFinding& finding : findings) text += dump(finding_json(finding)) + "\n";
  return text;
}

Result<std::string> finding_text(store::Store& store, const std::string& campaign, const std::string& id) {
  SAPPER_TRY(const store::RankedFinding finding, store.finding(campaign, id));
  SAPPER_TRY(const store::Piece piece, store.piece(campaign, finding.run.piece));
  SAPPER_TRY(const store::Run run, run_of(store, campaign, finding));
  std::string text = finding_line(finding);
  text += fmt::format("    {}\n", finding.finding.message);
  text += steps_text(run.steps);
  for (const store::Occurrence& place : piece.occurrences)
    text += fmt::format("    at {} in {} of {}{}, {} times\n", place.instruction, place.computation, place.module,
                        place.source.empty() ? "" : " (" + place.source + ")", place.times);
  SAPPER_TRY(const hlo::Module module, hlo::parse_proto(piece.module));
  return text + "\n" + hlo::to_text(module);
}

Result<std::string> export_case(store::Store& store, const std::string& campaign, const std::string& id,
                                const std::string& folder) {
  SAPPER_TRY(const store::RankedFinding finding, store.finding(campaign, id));
  SAPPER_TRY(const store::Piece piece, store.piece(campaign, finding.run.piece));
  SAPPER_TRY(const hlo::Module module, hlo::parse_proto(piece.module));
  SAPPER_TRY(const std::vector<std::string> names, store.artifact_names(finding.run));
  std::vector<std::string> artifacts;  // all of them before anything is written: one may be damaged
  for (const std::string& name : names) {
    SAPPER_TRY(artifacts.emplace_back(), store.artifact(finding.run, name));
  }
  std::error_code error;
  const std::filesystem::path to(folder);
  std::filesystem::create_directories(to, error);
  if (error) return fail(ErrorKind::BadInput, "{}: cannot make this folder: {}", folder, error.message());
  SAPPER_CHECKED(write_file(to / "module.hlo", hlo::to_text(module)));
  for (size_t i = 0; i < names.size(); ++i) SAPPER_CHECKED(write_file(to / names[i], artifacts[i]));
  const Json configuration = Json::parse(finding.run.configuration, nullptr, false);
  const bool has_inputs = std::ranges::find(names, "inputs.npz") != names.end();
  const std::string command = command_of(configuration, finding.run.seed, has_inputs);
  const Json description{{"finding", finding_json(finding)},
                         {"configuration", configuration},
                         {"seed", finding.run.seed},
                         {"tool", finding.run.tool},
                         {"command", command}};
  SAPPER_CHECKED(write_file(to / "case.json", description.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"));
  return command;
}

}  // namespace sapper::isolate
