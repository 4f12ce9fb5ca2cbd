#include "check/case.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "check/recorded_options.h"
#include "hlo/proto.h"
#include "hlo/text.h"
#include "inputs/npz.h"

namespace sapper::check {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr const char* module_name = "module.hlo";
constexpr const char* inputs_name = "inputs.npz";
constexpr const char* description_name = "case.json";

inputs::Npz npz_of(const std::vector<InputSet>& sets) {
  inputs::Npz npz;
  for (size_t s = 0; s < sets.size(); ++s)
    for (size_t k = 0; k < sets[s].arguments.size(); ++k) {
      const std::string name = sets.size() == 1 ? fmt::format("in{}", k) : fmt::format("set{}_in{}", s, k);
      npz[name] = inputs::to_npy(sets[s].arguments[k]);
    }
  return npz;
}

std::string description(const Case& one, bool has_inputs) {
  CheckOptions options = one.options;
  options.inputs = has_inputs ? inputs_name : "";
  const Json json{{"sapper", one.made_by},
                  {"about", one.about},
                  {"check", to_json(options)},
                  {"expected", to_json(one.expected)},
                  {"command", command_of(options, module_name)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Case> parse_description(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("check") || !json.contains("expected"))
    return fail(ErrorKind::BadInput, "expected a JSON object with 'check' and 'expected', as sapper writes them");
  Case one;
  SAPPER_TRY(one.options, options_from_json(json["check"]));
  SAPPER_TRY(one.expected, signature_from_json(json["expected"]));
  const auto text_at = [&](const char* name) {
    return json.contains(name) && json[name].is_string() ? json[name].get<std::string>() : "";
  };
  one.about = text_at("about");
  one.made_by = text_at("sapper");
  return one;
}

}  // namespace

bool is_case(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(fs::path(path) / description_name, error);
}

std::string case_module_path(const std::string& folder) { return fs::path(folder) / module_name; }

Result<Case> read_case(const std::string& folder) {
  const fs::path at(folder);
  SAPPER_TRY(const std::string text, read_file(at / description_name));
  SAPPER_TRY(Case one, in_file(parse_description(text), at / description_name));
  SAPPER_TRY(one.module, hlo::read_module(at / module_name));
  std::error_code error;
  if (fs::exists(at / inputs_name, error)) one.options.inputs = at / inputs_name;
  return one;
}

Status write_case(const std::string& folder, const Case& one, const std::vector<InputSet>& sets) {
  std::error_code error;
  const fs::path to(folder);
  fs::create_directories(to, error);
  if (error) return fail(ErrorKind::BadInput, "{}: cannot make this folder: {}", folder, error.message());
  SAPPER_CHECKED(write_file(to / module_name, hlo::to_text(one.module)));
  if (sets.empty())
    fs::remove(to / inputs_name, error);
  else
    SAPPER_CHECKED(inputs::write_npz(to / inputs_name, npz_of(sets)));
  return write_file(to / description_name, description(one, !sets.empty()));
}

}  // namespace sapper::check
