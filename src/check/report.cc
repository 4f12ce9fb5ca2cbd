#include "check/report.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "check/ranking.h"

namespace sapper::check {
namespace {

using Json = nlohmann::ordered_json;

std::string_view colour_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::Agree: return "\033[32m";
    case Verdict::Policy: return "\033[36m";
    case Verdict::Mismatch:
    case Verdict::Crash: return "\033[1;31m";
    default: return "\033[33m";
  }
}

std::string verdict_text(Verdict verdict, const TextStyle& style) {
  if (!style.colours) return fmt::format("{:<12}", to_string(verdict));
  return fmt::format("{}{:<12}\033[0m", colour_of(verdict), to_string(verdict));
}

std::string index_text(const std::vector<int64_t>& index) { return fmt::format("[{}]", fmt::join(index, ",")); }

std::string box_text(const numerics::Difference& difference) {
  std::vector<std::string> ranges;
  for (size_t d = 0; d < difference.box_low.size(); ++d) {
    const int64_t low = difference.box_low[d];
    const int64_t high = difference.box_high[d];
    ranges.push_back(low == high ? fmt::format("{}", low) : fmt::format("{}..{}", low, high));
  }
  return fmt::format("[{}]", fmt::join(ranges, ","));
}

using Row = std::vector<std::string>;

std::string table(const std::vector<Row>& rows) {
  std::vector<size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line = "   ";
    for (size_t i = 0; i < row.size(); ++i) line += fmt::format(" {:<{}} ", row[i], widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string outputs_table(const Report& report) {
  std::vector<Row> rows{
      {"output", "shape", "verdict", "wrong", "worst at", "got", "expected", "abs", "rel", "ulp", "box"}};
  for (const OutputReport& output : report.outputs) {
    const numerics::Difference& difference = output.difference;
    if (difference.mismatches == 0) continue;
    rows.push_back({output.name, output.shape, std::string(to_string(output.verdict)),
                    fmt::format("{}/{}", difference.mismatches, difference.elements),
                    index_text(difference.worst_index), difference.got, difference.expected,
                    fmt::format("{:.3g}", difference.worst_absolute), fmt::format("{:.3g}", difference.worst_relative),
                    fmt::format("{:.3g}", difference.worst_ulps), box_text(difference)});
  }
  return rows.size() > 1 ? table(rows) : "";
}

std::string stages_table(const Report& report) {
  std::vector<Row> rows{{"stage", "level", "verdict", "instructions", "pass"}};
  for (const StageReport& stage : report.stages) {
    rows.push_back({std::to_string(stage.index), stage.level, std::string(to_string(stage.verdict)),
                    stage.instructions > 0 ? std::to_string(stage.instructions) : "",
                    fmt::format("{}{}{}{}", stage.pipeline, stage.pipeline.empty() ? "" : ": ", stage.pass,
                                stage.changed ? "" : " (unchanged)")});
  }
  return report.stages.empty() ? "" : table(rows);
}

std::string guilty_text(const Guilty& guilty) {
  std::string text = fmt::format("{} ({} level)", guilty.pass, guilty.level);
  if (!guilty.kernel.empty()) text += fmt::format(" of kernel {}", guilty.kernel);
  if (guilty.line != 0) text += fmt::format(", line {}: {}", guilty.line, guilty.instruction);
  if (!guilty.hlo_instruction.empty()) text += fmt::format(", made for {}", guilty.hlo_instruction);
  if (!guilty.after.empty())
    text += fmt::format(", or a pass after {} whose program could not be judged", guilty.after);
  return text;
}

std::string kernels_text(const KernelsReport& kernels) {
  std::string text = fmt::format("    kernels: {} of {} run from LLO\n", kernels.from_llo, kernels.kernels);
  for (const KernelReport& kernel : kernels.reports) {
    if (kernel.verdict != Verdict::Agree)
      text += fmt::format("    kernel {}: {}: {}\n", kernel.instruction, to_string(kernel.verdict), kernel.reason);
    for (const KernelFinding& finding : kernel.findings)
      text += fmt::format("      {} line {} ({}): {}: {}{}\n", finding.stage, finding.line, finding.opcode,
                          llo::to_string(finding.kind), finding.message, finding.undone ? " (undone later)" : "");
  }
  for (const std::string& name : kernels.without_dump) text += fmt::format("    kernel {}: no LLO was dumped\n", name);
  return text;
}

// On the first line: that a module agrees says little where few of its kernels ran.
std::string coverage_text(const Report& report) {
  if (!report.kernels) return "";
  return fmt::format("  {}/{} kernels", report.kernels->from_llo, report.kernels->kernels);
}

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json output_json(const OutputReport& output) {
  const numerics::Difference& difference = output.difference;
  Json json;
  json["name"] = output.name;
  json["shape"] = output.shape;
  json["verdict"] = to_string(output.verdict);
  if (!output.reason.empty()) json["reason"] = output.reason;
  json["elements"] = difference.elements;
  json["mismatches"] = difference.mismatches;
  json["undetermined"] = difference.undetermined;
  json["max_excess"] = number(difference.max_excess);
  json["suspicion"] = number(output.suspicion);
  json["max_abs"] = number(difference.max_absolute);
  json["max_rel"] = number(difference.max_relative);
  json["worst_index"] = difference.worst >= 0 ? Json(difference.worst_index) : Json(nullptr);
  if (difference.worst < 0) return json;
  json["got"] = difference.got;
  json["expected"] = difference.expected;
  json["abs"] = number(difference.worst_absolute);
  json["rel"] = number(difference.worst_relative);
  json["ulp"] = number(difference.worst_ulps);
  json["box"] = {{"low", difference.box_low}, {"high", difference.box_high}};
  return json;
}

Json stage_json(const StageReport& stage) {
  Json json;
  json["index"] = stage.index;
  json["level"] = stage.level;
  if (!stage.kernel.empty()) json["kernel"] = stage.kernel;
  json["pipeline"] = stage.pipeline;
  json["pass"] = stage.pass;
  json["verdict"] = to_string(stage.verdict);
  json["instructions"] = stage.instructions;
  json["changed"] = stage.changed;
  if (!stage.reason.empty()) json["reason"] = stage.reason;
  return json;
}

Json guilty_json(const std::optional<Guilty>& guilty) {
  if (!guilty) return nullptr;
  Json json;
  json["level"] = guilty->level;
  json["pass"] = guilty->pass;
  if (!guilty->after.empty()) json["after"] = guilty->after;
  if (guilty->kernel.empty()) return json;
  json["kernel"] = guilty->kernel;
  json["instruction"] = guilty->instruction;
  json["hlo_instruction"] = guilty->hlo_instruction;
  json["line"] = guilty->line;
  return json;
}

Json finding_json(const KernelReport& kernel, const KernelFinding& finding) {
  return {{"kind", llo::to_string(finding.kind)},
          {"kernel", kernel.kernel},
          {"stage", finding.stage},
          {"instruction", finding.opcode},
          {"hlo_instruction", finding.hlo_instruction},
          {"line", finding.line},
          {"message", finding.message},
          {"undone", finding.undone}};
}

// How many kernels ran from LLO; those that do not plainly agree; what was found while they ran.
void add_kernels(const KernelsReport& kernels, Json& json) {
  json["coverage"] = {{"kernels", kernels.kernels}, {"from_llo", kernels.from_llo}};
  json["kernels"] = Json::array();
  json["findings"] = Json::array();
  for (const std::string& name : kernels.without_dump)
    json["kernels"].push_back(
        {{"hlo_instruction", name}, {"verdict", "undetermined"}, {"reason", "no LLO was dumped"}});
  for (const KernelReport& kernel : kernels.reports) {
    for (const KernelFinding& finding : kernel.findings) json["findings"].push_back(finding_json(kernel, finding));
    if (kernel.verdict == Verdict::Agree) continue;
    Json row{{"kernel", kernel.kernel},
             {"hlo_instruction", kernel.instruction},
             {"verdict", to_string(kernel.verdict)},
             {"reason", kernel.reason},
             {"outputs", Json::array()}};
    for (const OutputReport& output : kernel.outputs) row["outputs"].push_back(output_json(output));
    json["kernels"].push_back(std::move(row));
  }
}

}  // namespace

std::string to_text(const Report& report, const TextStyle& style) {
  std::string text = fmt::format("{} {}  {}{}  {:.2f} s\n", verdict_text(report.verdict, style), report.path,
                                 report.target, coverage_text(report), report.seconds);
  if (!report.reason.empty()) text += fmt::format("    why: {}\n", report.reason);
  if (!report.input_set.empty() && report.verdict != Verdict::Agree)
    text += fmt::format("    inputs: {}\n", report.input_set);
  if (report.kernels && (report.verdict != Verdict::Agree || style.stages)) text += kernels_text(*report.kernels);
  text += outputs_table(report);
  if (report.guilty) text += fmt::format("    guilty: {}\n", guilty_text(*report.guilty));
  if (report.expected)
    text += fmt::format("    expected: {}: {}\n", to_text(*report.expected),
                        same_reason(*report.expected, signature_of(report)) ? "holds" : "does not hold");
  for (const std::string& note : report.notes) text += fmt::format("    note: {}\n", note);
  if (style.stages) text += stages_table(report);
  if (report.verdict == Verdict::Mismatch) text += fmt::format("    next: {}\n", report.next_command);
  return text;
}

std::string to_json(const Report& report) {
  Json json;
  json["verdict"] = to_string(report.verdict);
  json["target"] = report.target;
  json["path"] = report.path;
  json["module"] = report.module;
  json["fingerprint"] = report.fingerprint;
  json["seed"] = report.seed;
  if (!report.inputs_kind.empty()) json["inputs_kind"] = report.inputs_kind;
  if (!report.input_set.empty()) json["input_set"] = report.input_set;
  if (!report.reason.empty()) json["reason"] = report.reason;
  if (report.error) json["error"] = {{"kind", to_string(report.error->kind)}, {"message", report.error->describe()}};
  json["outputs"] = Json::array();
  for (const OutputReport& output : report.outputs) json["outputs"].push_back(output_json(output));
  const std::optional<double> decided = decided_share(report);
  json["decided"] = decided ? Json(*decided) : Json(nullptr);
  json["stages"] = Json::array();
  for (const StageReport& stage : report.stages) json["stages"].push_back(stage_json(stage));
  json["guilty"] = guilty_json(report.guilty);
  if (report.repeats)
    json["repeats"] = {
        {"runs", report.repeats->runs}, {"wrong", report.repeats->wrong}, {"differing", report.repeats->differing}};
  if (exit_code(report.verdict) == 1) json["signature"] = to_json(signature_of(report));
  if (report.expected) {
    json["expected"] = to_json(*report.expected);
    json["holds"] = same_reason(*report.expected, signature_of(report));
  }
  if (report.kernels) add_kernels(*report.kernels, json);
  if (!report.notes.empty()) json["notes"] = report.notes;
  json["seconds"] = report.seconds;
  json["compiler_seconds"] = report.compiler_seconds;
  // Paths and compiler messages may hold bytes that are not UTF-8.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace sapper::check
