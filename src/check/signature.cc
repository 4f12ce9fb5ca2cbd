#include "check/signature.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>

#include "check/check.h"

namespace sapper::check {
namespace {

using Json = nlohmann::ordered_json;

// Of the words of one element as HLO text; a complex one has two.
std::string_view kind_of_value(const std::string& text) {
  if (text.find("nan") != std::string::npos) return "NaN";
  if (text.find("inf") != std::string::npos) return "infinity";
  return "a number";
}

std::string symptom_of(const numerics::Difference& difference) {
  const std::string_view got = kind_of_value(difference.got);
  const std::string_view expected = kind_of_value(difference.expected);
  return got == expected ? "another number" : fmt::format("{} for {}", got, expected);
}

// Why a process died, as the libraries that compilers are built with say it.
bool says_why(std::string_view line) {
  constexpr std::array marks = {"Check failed", "what():", "LLVM ERROR", "Assertion", "UNREACHABLE"};
  return std::ranges::any_of(marks, [&](const char* mark) { return line.find(mark) != std::string_view::npos; });
}

// Numbers and addresses left out: they differ from run to run.
std::string without_numbers(std::string_view text) {
  constexpr size_t most = 160;
  std::string symptom;
  for (const char c : text) {
    const bool is_digit = std::isxdigit(static_cast<unsigned char>(c)) != 0 && !symptom.empty() &&
                          (symptom.back() == '#' || std::isdigit(static_cast<unsigned char>(c)) != 0);
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 || is_digit) {
      if (symptom.empty() || symptom.back() != '#') symptom += '#';
    } else {
      symptom += c;
    }
    if (symptom.size() >= most) break;
  }
  return symptom;
}

// How the compiler died, and the first of its last words that says why.
std::string symptom_of_crash(std::string_view message) {
  std::string_view death = message.substr(0, message.find('\n'));
  death = death.substr(0, death.find(". Its last words"));
  while (!message.empty()) {
    const std::string_view line = message.substr(0, message.find('\n'));
    message.remove_prefix(std::min(line.size() + 1, message.size()));
    if (!says_why(line)) continue;
    const size_t file = line.find(".cc:");  // what stands before its name is the date and the thread
    const size_t start = file == std::string_view::npos ? 0 : line.rfind(' ', file) + 1;
    return without_numbers(fmt::format("{}: {}", death, line.substr(line.find_first_not_of(' ', start))));
  }
  return without_numbers(death);
}

const OutputReport* first_wrong(const std::vector<OutputReport>& outputs) {
  const auto wrong = std::ranges::find(outputs, Verdict::Mismatch, &OutputReport::verdict);
  return wrong == outputs.end() ? nullptr : &*wrong;
}

}  // namespace

Signature signature_of(const Report& report) {
  Signature signature{.verdict = report.verdict};
  if (report.guilty) {
    signature.level = report.guilty->level;
    signature.pass = report.guilty->pass;
    signature.kernel = report.guilty->kernel;
  }
  if (report.verdict == Verdict::Crash && report.error) signature.symptom = symptom_of_crash(report.error->message);
  if (report.verdict != Verdict::Mismatch) return signature;
  if (const OutputReport* const wrong = first_wrong(report.outputs); wrong != nullptr) {
    signature.output = wrong->name;
    signature.symptom = report.is_same_twice() ? symptom_of(wrong->difference) : "not the same twice";
  } else if (report.kernels) {  // no value is wrong: a kernel does what none may
    for (const KernelReport& kernel : report.kernels->reports)
      for (const KernelFinding& finding : kernel.findings)
        if (!finding.undone && signature.symptom.empty()) signature.symptom = llo::to_string(finding.kind);
  }
  return signature;
}

bool same_reason(const Signature& a, const Signature& b) {
  return a.verdict == b.verdict && a.level == b.level && a.pass == b.pass && a.symptom == b.symptom;
}

std::string to_text(const Signature& signature) {
  std::string text(to_string(signature.verdict));
  if (!signature.pass.empty()) text += fmt::format(" by {}: {}", signature.level, signature.pass);
  if (!signature.symptom.empty()) text += fmt::format(" ({})", signature.symptom);
  return text;
}

nlohmann::ordered_json to_json(const Signature& signature) {
  Json json{{"verdict", to_string(signature.verdict)}};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) json[name] = value;
  };
  add("level", signature.level);
  add("pass", signature.pass);
  add("symptom", signature.symptom);
  add("kernel", signature.kernel);
  add("output", signature.output);
  return json;
}

Result<Signature> signature_from_json(const nlohmann::ordered_json& json) {
  try {
    const auto verdict = parse_verdict(json.at("verdict").get<std::string>());
    if (!verdict) return fail(ErrorKind::BadInput, "'{}' is no verdict", json.at("verdict").get<std::string>());
    return Signature{.verdict = *verdict,
                     .level = json.value("level", ""),
                     .pass = json.value("pass", ""),
                     .symptom = json.value("symptom", ""),
                     .kernel = json.value("kernel", ""),
                     .output = json.value("output", "")};
  } catch (const Json::exception& error) {
    return fail(ErrorKind::BadInput, "this is no signature of a failure: {}", error.what());
  }
}

}  // namespace sapper::check
