// sapper ranges: for each parameter of a module, the values on which no operation overflows or leaves its domain.
#include "inputs/ranges.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "hlo/fingerprint.h"
#include "hlo/proto.h"
#include "hlo/verifier.h"

namespace sapper::cli {
namespace {

using inputs::Conflict;
using inputs::Doubt;
using inputs::ParameterRange;
using inputs::Ranges;
using inputs::Reason;
using Json = nlohmann::ordered_json;

struct Arguments {
  std::string path;
  bool json = false;
};

// "sqrt.3 (sqrt in main.1: domain)"
std::string reason_text(const Reason& reason) {
  return fmt::format("{} ({} in {}: {})", reason.instruction, reason.opcode, reason.computation,
                     to_string(reason.because));
}

// What set the bounds: each instruction once.
std::string why(const ParameterRange& range) {
  std::vector<std::pair<std::string, const Reason*>> reasons;
  const auto add = [&](const char* bound, const Reason& reason) {
    if (reason.instruction.empty()) return;
    for (auto& [bounds, known] : reasons)
      if (*known == reason) {
        bounds += fmt::format(", {}", bound);
        return;
      }
    reasons.emplace_back(bound, &reason);
  };
  add("low", range.low);
  add("high", range.high);
  add("away from 0", range.away);
  std::string text;
  for (const auto& [bounds, reason] : reasons)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", bounds, reason_text(*reason));
  return text;
}

std::string fields_text(const std::vector<inputs::Field>& fields) {
  std::vector<std::string> each;
  each.reserve(fields.size());
  for (const auto& [mask, most] : fields)
    each.push_back(fmt::format("bits {}..{} up to {}", std::bit_width(mask) - 1, std::countr_zero(mask), most));
  return fmt::format("{}", fmt::join(each, ", "));
}

std::string values_text(const ParameterRange& range) {
  if (!range.shape.is_array()) return "";
  if (!range.fields.empty()) return fields_text(range.fields);
  if (hlo::is_integer(range.shape.element_type()))
    return fmt::format("[{:.0f}, {:.0f}]{}", range.values.low, range.values.high,
                       range.values.away > 0 ? ", not 0" : "");
  std::string text = fmt::format("[{:.4g}, {:.4g}]", range.values.low, range.values.high);
  if (range.values.away > 0 && range.values.contains({range.values.low, range.values.high, range.values.away}) &&
      range.values.low < range.values.away && range.values.high > -range.values.away)
    text += fmt::format(", {:.3g} or more from 0", range.values.away);
  return text;
}

std::vector<std::string> roles_of(const ParameterRange& range) {
  std::vector<std::string> roles;
  if (range.indexes) roles.emplace_back("index");
  if ((range.roles & inputs::RoleBits) != 0 && hlo::is_integer(range.shape.element_type())) roles.emplace_back("bits");
  if ((range.roles & inputs::RoleHeavyDiagonal) != 0) roles.emplace_back("heavy diagonal");
  if ((range.roles & inputs::RoleSorted) != 0) roles.emplace_back("sorted");
  if ((range.roles & inputs::RoleDistinct) != 0) roles.emplace_back("distinct");
  return roles;
}

void print_text(const Ranges& ranges) {
  for (const ParameterRange& range : ranges.parameters) {
    std::string line = fmt::format("{:<4}{:<24} {:<20} {:<26}", range.parameter, range.name, range.shape.to_text(false),
                                   values_text(range));
    for (const std::string& role : roles_of(range)) line += fmt::format(" {}", role);
    if (!range.is_proof) line += " everyday sizes";
    const std::string reasons = why(range);
    if (!reasons.empty()) line += fmt::format("  {}", reasons);
    line.erase(line.find_last_not_of(' ') + 1);
    fmt::print("{}\n", line);
  }
  for (const Conflict& conflict : ranges.conflicts)
    fmt::print("conflict on {}: given up: {}; kept: {}\n", conflict.value, reason_text(conflict.dropped),
               conflict.kept.instruction.empty() ? "everyday sizes" : reason_text(conflict.kept));
  for (const Doubt& doubt : ranges.doubts)
    fmt::print("not ruled out: {} ({} in {}) {}\n", doubt.instruction, doubt.opcode, doubt.computation,
               doubt.leaves_domain ? "leaves its domain" : "overflows");
  if (ranges.doubtful > ranges.doubts.size()) fmt::print("not ruled out: {} instructions in all\n", ranges.doubtful);
}

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json reason_json(const Reason& reason) {
  if (reason.instruction.empty()) return nullptr;
  return {{"instruction", reason.instruction},
          {"computation", reason.computation},
          {"opcode", reason.opcode},
          {"because", to_string(reason.because)}};
}

Json fields_json(const std::vector<inputs::Field>& fields) {
  Json json = Json::array();
  for (const auto& [mask, most] : fields) json.push_back({{"mask", mask}, {"most", most}});
  return json;
}

void print_json(const hlo::Module& module, const Ranges& ranges) {
  Json json;
  json["module"] = module.name;
  json["fingerprint"] = hlo::fingerprint(module).to_hex();
  json["parameters"] = Json::array();
  for (const ParameterRange& range : ranges.parameters)
    json["parameters"].push_back({{"parameter", range.parameter},
                                  {"name", range.name},
                                  {"shape", range.shape.to_text(false)},
                                  {"low", number(range.values.low)},
                                  {"high", number(range.values.high)},
                                  {"away_from_zero", number(range.values.away)},
                                  {"fields", fields_json(range.fields)},
                                  {"roles", roles_of(range)},
                                  {"proven", range.is_proof},
                                  {"low_why", reason_json(range.low)},
                                  {"high_why", reason_json(range.high)},
                                  {"away_why", reason_json(range.away)}});
  json["conflicts"] = Json::array();
  for (const Conflict& conflict : ranges.conflicts)
    json["conflicts"].push_back(
        {{"value", conflict.value}, {"kept", reason_json(conflict.kept)}, {"given_up", reason_json(conflict.dropped)}});
  json["doubts"] = Json::array();
  for (const Doubt& doubt : ranges.doubts)
    json["doubts"].push_back({{"instruction", doubt.instruction},
                              {"computation", doubt.computation},
                              {"opcode", doubt.opcode},
                              {"doubt", doubt.leaves_domain ? "domain" : "overflow"}});
  json["doubtful"] = ranges.doubtful;
  fmt::print("{}\n", json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

Status run(const Arguments& arguments) {
  SAPPER_TRY(const hlo::Module module, hlo::read_module(arguments.path));
  SAPPER_CHECKED(in_file(hlo::verify(module), arguments.path));
  const Ranges ranges = inputs::safe_ranges(module);
  if (arguments.json) {
    print_json(module, ranges);
  } else {
    print_text(ranges);
  }
  return {};
}

}  // namespace

void add_ranges(CLI::App& app, int& exit_code) {
  auto* const command =
      app.add_subcommand("ranges", "The values of each parameter on which no operation overflows or leaves its domain");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("module", arguments->path, "HLO text or HloModuleProto, also zstd")->required();
  command->add_flag("--json", arguments->json, "One JSON object on stdout (docs/json.md)");
  command->footer(
      "Example: sapper ranges examples/softmax.hlo\n"
      "Exit code: 0, or 2 when the module cannot be read or is not well-formed");
  command->callback([arguments, &exit_code] {
    const Status status = run(*arguments);
    exit_code = status ? 0 : report_error(status.error());
  });
}

}  // namespace sapper::cli
