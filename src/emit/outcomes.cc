// Outcomes of checks as SARIF 2.1.0 and JUnit XML.
#include <fmt/ranges.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/file.h"
#include "check/batch.h"
#include "emit/emit.h"

namespace sapper::emit {
namespace {

using Json = nlohmann::ordered_json;

bool is_failure(const std::string& verdict) { return verdict == "mismatch" || verdict == "crash"; }
bool is_decided(const std::string& verdict) { return is_failure(verdict) || verdict == "agree" || verdict == "policy"; }

std::string rule_of(const check::Signature& signature) {
  return signature.pass.empty() ? std::string(to_string(signature.verdict))
                                : fmt::format("{}/{}", signature.level, signature.pass);
}

Result<Outcome> outcome_of_case(const std::string& folder) {
  SAPPER_TRY(const check::Case one, check::read_case(folder));
  const std::string verdict(to_string(one.expected.verdict));
  return Outcome{.name = name_of(folder),
                 .file = check::case_module_path(folder),
                 .target = one.options.target.to_string(),
                 .verdict = verdict,
                 .reason = fmt::format("{}{}{}", to_text(one.expected), one.about.empty() ? "" : "; ", one.about),
                 .rule = rule_of(one.expected),
                 .failed = is_failure(verdict),
                 .decided = is_decided(verdict)};
}

// A line of `sapper check --json`.
Result<Outcome> outcome_of_report(const std::string& line) {
  try {
    const Json json = Json::parse(line);
    const std::string verdict = json.at("verdict").get<std::string>();
    Outcome outcome{.name = json.value("module", ""),
                    .file = json.at("path").get<std::string>(),
                    .target = json.value("target", ""),
                    .verdict = verdict,
                    .reason = json.value("reason", ""),
                    .rule = verdict,
                    .failed = is_failure(verdict),
                    .decided = is_decided(verdict),
                    .seconds = json.value("seconds", 0.0)};
    if (json.contains("signature")) {
      SAPPER_TRY(const check::Signature signature, check::signature_from_json(json["signature"]));
      outcome.rule = rule_of(signature);
      if (outcome.reason.empty()) outcome.reason = to_text(signature);
    }
    return outcome;
  } catch (const Json::exception& error) {
    return fail(ErrorKind::BadInput, "expected an object of `sapper check --json` on each line: {}", error.what());
  }
}

std::string xml(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (byte >= 0x20 || c == '\n' || c == '\t')  // XML has no other control characters
      out += c;
  }
  return out;
}

}  // namespace

Result<std::vector<Outcome>> outcomes_of(const std::vector<std::string>& paths) {
  std::vector<Outcome> outcomes;
  for (const std::string& path : paths) {
    if (check::is_case(path)) {
      SAPPER_TRY(outcomes.emplace_back(), outcome_of_case(path));
      continue;
    }
    SAPPER_TRY(const std::string text, read_file(path));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      if (line.empty()) continue;
      SAPPER_TRY(outcomes.emplace_back(), in_file(outcome_of_report(line), path));
    }
  }
  return outcomes;
}

std::string as_sarif(std::span<const Outcome> outcomes, const std::string& version) {
  Json rules = Json::array();
  Json results = Json::array();
  std::map<std::string, size_t> rule_numbers;
  for (const Outcome& outcome : outcomes) {
    if (outcome.decided && !outcome.failed) continue;  // what is right is no result
    const auto [rule, is_new] = rule_numbers.try_emplace(outcome.rule, rule_numbers.size());
    if (is_new) rules.push_back({{"id", outcome.rule}, {"shortDescription", {{"text", outcome.rule}}}});
    Json place;
    place["physicalLocation"]["artifactLocation"]["uri"] = outcome.file;
    place["physicalLocation"]["region"]["startLine"] = 1;
    Json result{{"ruleId", outcome.rule}, {"ruleIndex", rule->second}, {"level", outcome.failed ? "error" : "note"}};
    result["message"]["text"] = fmt::format("{} on {}: {}", outcome.verdict, outcome.target, outcome.reason);
    result["locations"] = Json::array({std::move(place)});
    result["partialFingerprints"]["sapper/v1"] = fmt::format("{}:{}", outcome.name, outcome.rule);
    results.push_back(std::move(result));
  }
  Json run;
  run["tool"]["driver"] = {{"name", "sapper"}, {"version", version}, {"rules", std::move(rules)}};
  run["results"] = std::move(results);
  const Json json{{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                  {"version", "2.1.0"},
                  {"runs", Json::array({std::move(run)})}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string as_junit(std::span<const Outcome> outcomes) {
  size_t failures = 0;
  size_t skipped = 0;
  std::string cases;
  for (const Outcome& outcome : outcomes) {
    failures += outcome.failed ? 1 : 0;
    skipped += outcome.decided ? 0 : 1;
    cases += fmt::format(R"(  <testcase classname="{}" name="{}" file="{}" time="{:.3f}")", xml(outcome.target),
                         xml(outcome.name), xml(outcome.file), outcome.seconds);
    if (outcome.failed)
      cases += fmt::format(">\n    <failure type=\"{}\" message=\"{}\"/>\n  </testcase>\n", xml(outcome.verdict),
                           xml(outcome.reason));
    else if (!outcome.decided)
      cases += fmt::format(">\n    <skipped message=\"{}: {}\"/>\n  </testcase>\n", xml(outcome.verdict),
                           xml(outcome.reason));
    else
      cases += "/>\n";
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"sapper\" tests=\"{}\" failures=\"{}\" "
      "skipped=\"{}\">\n{}</testsuite>\n",
      outcomes.size(), failures, skipped, cases);
}

}  // namespace sapper::emit
