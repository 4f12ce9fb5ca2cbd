#include "check/recorded_options.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/shell.h"

namespace sapper::check {
namespace {

using Json = nlohmann::ordered_json;

constexpr Level levels[] = {Level::Hlo, Level::Llo, Level::All};

Json to_json(const target::Configuration& configuration) {
  Json json{{"options", Json::object()}};
  for (const auto& [name, value] : configuration.options)
    std::visit([&, &key = name](const auto& typed) { json["options"][key] = typed; }, value);
  if (!configuration.init_flags.empty()) json["init_flags"] = configuration.init_flags;
  return json;
}

target::OptionValue option_from_json(const Json& json) {
  if (json.is_boolean()) return json.get<bool>();
  if (json.is_number_integer()) return json.get<int64_t>();
  if (json.is_number()) return json.get<double>();
  return json.get<std::string>();
}

target::Configuration configuration_from_json(const Json& json) {
  target::Configuration configuration;
  const Json options = json.value("options", Json::object());
  for (const auto& [name, value] : options.items()) configuration.options[name] = option_from_json(value);
  configuration.init_flags = json.value("init_flags", "");
  return configuration;
}

// Only what is not as in MachineOptions{}.
Json to_json(const llo::MachineOptions& machine) {
  Json json = Json::object();
  if (machine.perturb_transcendentals != 0) json["perturb_transcendentals"] = machine.perturb_transcendentals;
  if (!machine.flush_subnormals) json["flush_subnormals"] = false;
  if (!machine.round_matmul_operands) json["round_matmul_operands"] = false;
  if (machine.matrix_sum == llo::MatrixSum::Single) json["matrix_sum"] = "single";
  return json;
}

llo::MachineOptions machine_from_json(const Json& json) {
  llo::MachineOptions machine;
  machine.perturb_transcendentals = json.value("perturb_transcendentals", uint64_t{0});
  machine.flush_subnormals = json.value("flush_subnormals", true);
  machine.round_matmul_operands = json.value("round_matmul_operands", true);
  if (json.value("matrix_sum", "") == "single") machine.matrix_sum = llo::MatrixSum::Single;
  return machine;
}

Json to_json(const numerics::Tolerance& tolerance) {
  return {{"abs", tolerance.absolute}, {"rel", tolerance.relative}, {"ulp", tolerance.ulps}};
}

numerics::Tolerance tolerance_from_json(const Json& json) {
  numerics::Tolerance tolerance;
  tolerance.absolute = json.value("abs", 0.0);
  tolerance.relative = json.value("rel", 0.0);
  tolerance.ulps = json.value("ulp", 0.0);
  return tolerance;
}

// `all`, element by its name; BadInput where there is none.
template <class Element, size_t count>
Result<Element> by_name(const Element (&all)[count], const std::string& name, const char* what) {
  const auto* const at = std::ranges::find_if(all, [&](const Element element) { return to_string(element) == name; });
  if (at == std::end(all)) return fail(ErrorKind::BadInput, "'{}' is no {}", name, what);
  return *at;
}

// With its release, which may not be the default one where it is read.
std::string pinned(const target::Target& target) {
  const std::string name = target.to_string();
  return name.find('@') == std::string::npos ? fmt::format("{}@{}", name, target.release) : name;
}

std::string sampling_words(const Sampling& sampling) {
  std::string words = fmt::format(" --seed {}", sampling.seed);
  if (sampling.seeds) words += fmt::format(" --seeds {}", *sampling.seeds);
  if (sampling.kinds.size() > 1) return words + " --inputs-kind all";
  if (!sampling.kinds.empty() && sampling.kinds[0] != inputs::Kind::Dense)
    words += fmt::format(" --inputs-kind {}", to_string(sampling.kinds[0]));
  return words;
}

std::string inputs_words(const CheckOptions& options) {
  std::string words = fmt::format(" --inputs {}", shell_quoted(options.inputs));
  return options.input_set ? words + fmt::format(" --input-set {}", *options.input_set) : words;
}

std::string machine_words(const llo::MachineOptions& machine) {
  std::string words;
  if (machine.perturb_transcendentals != 0) words += " --eup perturb";
  if (!machine.flush_subnormals) words += " --subnormals keep";
  if (!machine.round_matmul_operands) words += " --matmul-operands f32";
  if (machine.matrix_sum == llo::MatrixSum::Single) words += " --matmul-sums single";
  return words;
}

}  // namespace

std::string_view to_string(Level level) {
  switch (level) {
    case Level::Hlo: return "hlo";
    case Level::Llo: return "llo";
    case Level::All: return "all";
  }
  return "";
}

nlohmann::ordered_json to_json(const CheckOptions& options) {
  Json json{{"target", pinned(options.target)},
            {"level", to_string(options.level)},
            {"configuration", to_json(options.configuration)},
            {"seed", options.sampling.seed}};
  if (options.sampling.seeds) json["seeds"] = *options.sampling.seeds;
  json["kinds"] = Json::array();
  for (const inputs::Kind kind : options.sampling.kinds) json["kinds"].push_back(inputs::to_string(kind));
  if (options.input_set) json["input_set"] = *options.input_set;
  json["strict"] = options.strict;
  if (options.tolerance) json["tolerance"] = to_json(*options.tolerance);
  json["time_limit"] = options.evaluation.time_limit_seconds;  // with more time, more can be judged
  if (options.level != Level::Hlo) json["machine"] = to_json(options.machine);
  return json;
}

Result<CheckOptions> options_from_json(const nlohmann::ordered_json& json) {
  try {
    CheckOptions options;
    SAPPER_TRY(options.target, target::parse_target(json.at("target").get<std::string>()));
    SAPPER_TRY(options.level, by_name(levels, json.value("level", "hlo"), "level"));
    options.configuration = configuration_from_json(json.value("configuration", Json::object()));
    options.sampling.seed = json.value("seed", uint64_t{0});
    if (json.contains("seeds")) options.sampling.seeds = json.at("seeds").get<int>();
    if (json.contains("kinds")) options.sampling.kinds.clear();
    for (const Json& name : json.value("kinds", Json::array())) {
      SAPPER_TRY(options.sampling.kinds.emplace_back(),
                 by_name(inputs::kinds, name.get<std::string>(), "kind of inputs"));
    }
    if (json.contains("input_set")) options.input_set = json.at("input_set").get<int>();
    options.strict = json.value("strict", false);
    if (json.contains("tolerance")) options.tolerance = tolerance_from_json(json.at("tolerance"));
    options.evaluation.time_limit_seconds = json.value("time_limit", 0.0);
    options.machine = machine_from_json(json.value("machine", Json::object()));
    return options;
  } catch (const Json::exception& error) {
    return fail(ErrorKind::BadInput, "these are no options of a check: {}", error.what());
  }
}

std::string command_of(const CheckOptions& options, const std::string& path) {
  std::string command =
      fmt::format("sapper check {} --on {}", shell_quoted(path), shell_quoted(options.target.to_string()));
  if (options.all_stages) command += " --stages all";
  if (options.level != Level::Hlo) command += fmt::format(" --level {}", to_string(options.level));
  command += options.inputs.empty() ? sampling_words(options.sampling) : inputs_words(options);
  for (const auto& [name, value] : options.configuration.options)
    command += " --option " + shell_quoted(fmt::format("{}={}", name, target::to_string(value)));
  if (!options.configuration.init_flags.empty())
    command += " --init-flags " + shell_quoted(options.configuration.init_flags);
  if (options.strict) command += " --strict";
  if (const auto& tolerance = options.tolerance)
    command +=
        fmt::format(" --tolerance abs={},rel={},ulp={}", tolerance->absolute, tolerance->relative, tolerance->ulps);
  return options.level == Level::Hlo ? command : command + machine_words(options.machine);
}

}  // namespace sapper::check
