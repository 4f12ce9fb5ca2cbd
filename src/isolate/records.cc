#include "isolate/records.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "check/ranking.h"
#include "check/report.h"
#include "hlo/proto.h"
#include "inputs/npz.h"
#include "isolate/capture.h"
#include "isolate/provenance.h"

namespace sapper::isolate {
namespace {

using Json = nlohmann::ordered_json;

// Silent corruption is read before crashes, and what was seen twice before what was not.
int64_t severity(const Judged& judged) {
  const int64_t silent = judged.report.verdict == check::Verdict::Mismatch ? 10 : 0;
  switch (judged.confidence) {
    case Confidence::Confirmed: return silent + 2;
    case Confidence::Unconfirmed: return silent + 1;
    case Confidence::Flaky: return silent;
  }
  return silent;
}

std::string guilty_stage(const check::Report& report) {
  if (!report.guilty) return "";
  return fmt::format("{}: {}", report.guilty->level, report.guilty->pass);
}

// Where the guilty pass is known, its defect on this kind of work; else the verdict on it.
std::string signature(const Piece& piece, const check::Report& report) {
  const std::string stage = guilty_stage(report);
  const std::string how = !report.is_same_twice() ? "not the same twice" : stage.empty() ? "" : "by " + stage;
  return fmt::format("{} of {} {}", to_string(report.verdict), to_string(piece.kind), how);
}

std::string steps_text(const Judged& judged, const std::vector<hlo::Literal>* captured) {
  Json json;
  json["steps"] = Json::array();
  for (const Step& step : judged.steps) {
    Json row{{"reference", step.reference}, {"verdict", to_string(step.verdict)}, {"seconds", step.seconds}};
    if (!step.reason.empty()) row["reason"] = step.reason;
    json["steps"].push_back(std::move(row));
  }
  json["confidence"] = judged.confidence == Confidence::Confirmed ? "confirmed"
                       : judged.confidence == Confidence::Flaky   ? "flaky"
                                                                  : "unconfirmed";
  if (captured != nullptr) {
    json["inputs"] = Json::array();
    for (const hlo::Literal& argument : *captured) {
      const TensorSummary summary = summarize(argument);
      json["inputs"].push_back(
          {{"min", summary.min}, {"max", summary.max}, {"mean", summary.mean}, {"stddev", summary.stddev}});
    }
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The largest over the outputs and the kernels' outputs.
template <class Value>
double largest(const check::Report& report, const Value& value) {
  double most = 0;
  const auto look = [&](const std::vector<check::OutputReport>& outputs) {
    for (const check::OutputReport& output : outputs) most = std::max(most, static_cast<double>(value(output)));
  };
  look(report.outputs);
  if (report.kernels)
    for (const check::KernelReport& kernel : report.kernels->reports) look(kernel.outputs);
  return most;
}

std::string npz_of(const std::vector<hlo::Literal>& arguments) {
  inputs::Npz npz;
  for (size_t k = 0; k < arguments.size(); ++k) npz[fmt::format("in{}", k)] = inputs::to_npy(arguments[k]);
  return inputs::npz_bytes(npz);
}

}  // namespace

store::Record record_of(const Piece& piece, store::RunKey key, const Judged& judged,
                        const std::vector<hlo::Literal>* captured) {
  const check::Report& report = judged.report;
  const double excess = largest(report, [](const check::OutputReport& o) { return o.difference.max_excess; });
  const double relative = largest(report, [](const check::OutputReport& o) { return o.difference.max_relative; });
  store::Record record;
  record.run = {.key = std::move(key),
                .verdict = std::string(to_string(report.verdict)),
                .reason = report.error ? report.error->message : report.reason,  // without its place: to be counted
                .max_excess = excess,
                .max_relative = relative,
                .suspicion = largest(report, [](const check::OutputReport& o) { return o.suspicion; }),
                .decided = check::decided_share(report),
                .seconds = report.seconds,
                .compiler_seconds = judged.compiler_seconds,
                .steps = steps_text(judged, captured)};
  if (check::exit_code(report.verdict) != 1) return record;
  const auto ranked = check::ranked_mismatch(report);
  record.findings.push_back({.stage = guilty_stage(report),
                             .signature = signature(piece, report),
                             .message = report.reason,
                             .severity = severity(judged),
                             .max_excess = ranked ? ranked->excess : excess,
                             .max_relative = ranked ? ranked->relative : relative});
  record.artifacts.push_back({"report.json", to_json(report)});
  if (captured != nullptr) record.artifacts.push_back({"inputs.npz", npz_of(*captured)});
  return record;
}

store::Piece stored(const Piece& piece, const std::vector<hlo::Module>& modules,
                    const std::vector<std::string>& files) {
  store::Piece stored{.fingerprint = piece.fingerprint,
                      .module = hlo::to_proto(piece.module),
                      .kind = std::string(to_string(piece.kind)),
                      .cost = piece.cost,
                      .instructions = piece.module.instruction_count()};
  for (const Occurrence& occurrence : piece.occurrences) {
    const Provenance from = provenance(modules[occurrence.module], occurrence);
    stored.occurrences.push_back(
        {.module = files[occurrence.module],
         .computation = from.computation,
         .instruction = from.instruction,
         .source = from.source_file.empty() ? "" : fmt::format("{}:{}", from.source_file, from.source_line),
         .times = std::max<int64_t>(1, std::llround(std::min(occurrence.executions, 1e15)))});
  }
  return stored;
}

}  // namespace sapper::isolate
