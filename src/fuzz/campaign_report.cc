#include "fuzz/campaign_report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace sapper::fuzz {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string counts_text(const auto& counts) {
  std::string text;
  for (const auto& [what, count] : counts) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  return text.empty() ? "none" : text;
}

// Findings that are taken for one defect on one target.
struct Group {
  store::RankedFinding smallest;
  std::string target;
  int64_t count = 0;
};

// In the order of the first of each: silent corruption before crashes.
std::vector<Group> grouped(const std::vector<store::RankedFinding>& findings) {
  std::vector<Group> groups;
  for (const store::RankedFinding& finding : findings) {
    const Json configuration = Json::parse(finding.run.configuration, nullptr, false);
    const std::string target = configuration.is_object() ? configuration.value("target", "") : "";
    const auto same = std::ranges::find_if(groups, [&](const Group& group) {
      return group.target == target && group.smallest.finding.signature == finding.finding.signature;
    });
    if (same == groups.end()) {
      groups.push_back({finding, target, 1});
      continue;
    }
    ++same->count;
    if (finding.instructions < same->smallest.instructions) same->smallest = finding;
  }
  return groups;
}

}  // namespace

std::string summary_text(const CampaignResult& result) {
  std::string text = fmt::format(
      "{} programs, {} judgements: {} known, {} now ({}) in {:.1f} s; {} modules of several programs, {} looked at "
      "alone; {} features, {} programs kept\n",
      result.programs, result.known + result.judged, result.known, result.judged, counts_text(result.verdicts),
      result.seconds, result.modules, result.alone, result.features, result.kept);
  for (const auto& [why, count] : result.generator_defects)
    text += fmt::format("    defect of the generator, {}: {}\n", count, why);
  for (const auto& [why, count] : result.without_result)
    text += fmt::format("    no result, to be had by the same command another time, {}: {}\n", count, why);
  return text;
}

std::string summary_json(const CampaignResult& result) {
  return dump({{"programs", result.programs},
               {"known", result.known},
               {"judged", result.judged},
               {"verdicts", result.verdicts},
               {"modules", result.modules},
               {"alone", result.alone},
               {"features", result.features},
               {"kept", result.kept},
               {"generator_defects", result.generator_defects},
               {"without_result", result.without_result},
               {"seconds", result.seconds},
               {"compiler_seconds", result.compiler_seconds}});
}

Result<std::string> report_text(store::Store& store, const std::string& campaign) {
  SAPPER_TRY(const store::Counts verdicts, store.verdicts(campaign));
  SAPPER_TRY(const store::Counts rejected, store.reasons(campaign, "rejected"));
  SAPPER_TRY(const store::Counts undetermined, store.reasons(campaign, "undetermined"));
  SAPPER_TRY(const std::vector<store::RankedFinding> findings, store.findings(campaign));
  const std::vector<Group> groups = grouped(findings);
  std::string text = fmt::format("{}: {}; {} distinct findings\n", campaign, counts_text(verdicts), groups.size());
  for (const auto& [reason, count] : undetermined)
    if (reason.starts_with("defect of the generator")) text += fmt::format("    {}x {}\n", count, reason);
  for (const auto& [reason, count] : rejected) text += fmt::format("    {}x rejected: {}\n", count, reason);
  for (const Group& group : groups)
    text += fmt::format("    {}  {}x  {}  {}  {} instructions  [{}]\n        {}\n", group.smallest.id.substr(0, 10),
                        group.count, group.target, group.smallest.finding.signature, group.smallest.instructions,
                        group.smallest.finding.status, group.smallest.finding.message);
  return text;
}

Result<std::string> report_json(store::Store& store, const std::string& campaign) {
  SAPPER_TRY(const store::Counts verdicts, store.verdicts(campaign));
  SAPPER_TRY(const std::vector<store::RankedFinding> findings, store.findings(campaign));
  Json json{{"campaign", campaign}, {"verdicts", Json::object()}, {"findings", Json::array()}};
  for (const auto& [verdict, count] : verdicts) json["verdicts"][verdict] = count;
  for (const Group& group : grouped(findings))
    json["findings"].push_back({{"id", group.smallest.id},
                                {"target", group.target},
                                {"signature", group.smallest.finding.signature},
                                {"count", group.count},
                                {"instructions", group.smallest.instructions},
                                {"message", group.smallest.finding.message},
                                {"status", group.smallest.finding.status}});
  return dump(json);
}

}  // namespace sapper::fuzz
