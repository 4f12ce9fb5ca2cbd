#include "isolate/campaign_report.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "base/shell.h"
#include "check/case.h"
#include "check/recorded_options.h"
#include "hlo/proto.h"
#include "hlo/text.h"
#include "inputs/npz.h"

namespace sapper::isolate {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// JSON, or the text itself where it is none.
Json readable(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  return json.is_discarded() ? Json(text) : json;
}

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
  return fmt::format("    {}  excess {}  relative {}  {}x  impact {}  {}  [{}]\n", short_id(ranked.id),
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

// What `read` makes of JSON that the store gave back, which is not as records.cc wrote it when somebody edited it.
Result<std::string> read_json(const std::string& text, const char* what,
                              const std::function<std::string(const Json&)>& read) {
  try {
    return read(Json::parse(text));
  } catch (const Json::exception& error) {
    return fail(ErrorKind::BadInput, "the store is damaged: {} is not what sapper wrote: {}", what, error.what());
  }
}

// The steps of the cascade, a line each.
std::string steps_text(const Json& json) {
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

tl::unexpected<Error> damaged(const char* what, const Error& error) {
  return fail(ErrorKind::BadInput, "the store is damaged: {}: {}", what, error.message);
}

// All but the module.
Result<check::Case> case_of(const store::RankedFinding& finding) {
  check::Case one;
  auto options = check::options_from_json(readable(finding.run.configuration));
  if (!options) return damaged("a configuration", options.error());
  one.options = *options;
  one.options.sampling.seed = finding.run.seed;
  one.expected.verdict = check::parse_verdict(finding.verdict).value_or(check::Verdict::Mismatch);
  one.about = fmt::format("finding {}: {}", short_id(finding.id), finding.finding.signature);
  one.made_by = finding.run.tool;
  return one;
}

Result<check::Signature> signature_in(const std::string& report) {
  const Json json = readable(report);
  auto signature = check::signature_from_json(json.is_object() ? json.value("signature", Json()) : json);
  if (!signature) return damaged("a report", signature.error());
  return std::move(*signature);
}

Result<std::vector<hlo::Literal>> captured_inputs(const hlo::Module& module, const std::string& bytes) {
  SAPPER_TRY(const inputs::Npz npz, inputs::parse_npz(bytes, "inputs.npz"));
  std::vector<hlo::Shape> shapes;
  const hlo::Computation& entry = module.entry_computation();
  for (const hlo::InstructionIndex parameter : entry.parameters())
    shapes.push_back(entry.instructions[parameter].shape);
  return inputs::read_literals(npz, "in", shapes);
}

// Not a path that leads elsewhere.
bool is_file_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos;
}

}  // namespace

std::string short_id(const std::string& id) { return id.substr(0, 10); }

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
            {"settings", readable(settings.settings)},
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
  SAPPER_TRY(const store::Summary summary, store.summary(campaign));
  int code = summary.pieces_run < summary.pieces ? 3 : 0;
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
  SAPPER_TRY(const std::string steps, read_json(run.steps, "a list of steps", &steps_text));
  text += steps;
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
    if (!is_file_name(name))
      return fail(ErrorKind::BadInput, "the store is damaged: artifact '{}' is no name of a file", name);
    SAPPER_TRY(artifacts.emplace_back(), store.artifact(finding.run, name));
  }
  SAPPER_TRY(check::Case one, case_of(finding));
  one.module = module;
  const auto artifact = [&](const char* name) {
    const auto at = std::ranges::find(names, name);
    return at == names.end() ? nullptr : &artifacts[static_cast<size_t>(at - names.begin())];
  };
  if (const std::string* const report = artifact("report.json"); report != nullptr) {
    SAPPER_TRY(one.expected, signature_in(*report));
  }
  std::vector<check::InputSet> captured;
  if (const std::string* const npz = artifact("inputs.npz"); npz != nullptr) {
    SAPPER_TRY(captured.emplace_back().arguments, captured_inputs(module, *npz));
  }
  SAPPER_CHECKED(check::write_case(folder, one, captured));
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] != "inputs.npz") SAPPER_CHECKED(write_file(std::filesystem::path(folder) / names[i], artifacts[i]));
  return "sapper check " + shell_quoted(folder);
}

}  // namespace sapper::isolate
