// sapper show: what a module holds: statistics, its text, its graph.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "hlo/fingerprint.h"
#include "hlo/graph.h"
#include "hlo/proto.h"
#include "hlo/text.h"
#include "hlo/verifier.h"

namespace sapper::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  std::string path;
  bool dot = false;
  bool text = false;
  bool json = false;
};

std::vector<std::pair<std::string, int64_t>> histogram(const hlo::Module& module) {
  std::map<std::string, int64_t> counts;
  for_each_instruction(module, [&](const hlo::Computation&, const hlo::Instruction& instruction) {
    ++counts[std::string(to_string(instruction.opcode))];
  });
  std::vector<std::pair<std::string, int64_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return sorted;
}

int64_t constant_bytes(const hlo::Module& module) {
  int64_t bytes = 0;
  for_each_instruction(module, [&](const hlo::Computation&, const hlo::Instruction& instruction) {
    if (instruction.literal) bytes += instruction.literal->shape().host_byte_size();
  });
  return bytes;
}

void print_statistics(const hlo::Module& module, const Status& verified) {
  const hlo::Computation& entry = module.entry_computation();
  fmt::print("module        {}\n", module.name);
  fmt::print("fingerprint   {}\n", hlo::fingerprint(module).to_hex());
  fmt::print("verified      {}\n", verified ? "yes" : "no: " + verified.error().describe());
  fmt::print("instructions  {} in {} computations{}\n", module.instruction_count(), module.computations.size(),
             module.is_scheduled ? ", scheduled" : "");
  fmt::print("constants     {} bytes\n", constant_bytes(module));
  const auto parameters = entry.parameters();
  for (size_t i = 0; i < parameters.size() && i < 8; ++i)
    fmt::print("parameter {:<4}{}\n", i, entry.instructions[parameters[i]].shape.to_text());
  if (parameters.size() > 8) fmt::print("parameter ... {} in all\n", parameters.size());
  fmt::print("result        {}\n", entry.root_instruction().shape.to_text());
  fmt::print("opcodes\n");
  for (const auto& [opcode, count] : histogram(module)) fmt::print("  {:>9} {}\n", count, opcode);
}

void print_json(const hlo::Module& module, const Status& verified) {
  Json json;
  json["module"] = module.name;
  json["fingerprint"] = hlo::fingerprint(module).to_hex();
  json["verified"] = verified.has_value();
  if (!verified) json["error"] = verified.error().describe();
  json["instructions"] = module.instruction_count();
  json["computations"] = module.computations.size();
  json["scheduled"] = module.is_scheduled;
  json["constant_bytes"] = constant_bytes(module);
  json["parameters"] = Json::array();
  const hlo::Computation& entry = module.entry_computation();
  for (const hlo::InstructionIndex parameter : entry.parameters())
    json["parameters"].push_back(entry.instructions[parameter].shape.to_text());
  json["result"] = entry.root_instruction().shape.to_text();
  json["opcodes"] = Json::object();
  for (const auto& [opcode, count] : histogram(module)) json["opcodes"][opcode] = count;
  fmt::print("{}\n", json.dump(-1, ' ', false, Json::error_handler_t::replace));
}

Result<int> run(const Arguments& arguments) {
  SAPPER_TRY(const hlo::Module module, hlo::read_module(arguments.path));
  const Status verified = in_file(hlo::verify(module), arguments.path);
  if (arguments.dot) {
    fmt::print("{}", hlo::to_dot(module));
  } else if (arguments.text) {
    fmt::print("{}", hlo::to_text(module));
  } else if (arguments.json) {
    print_json(module, verified);
  } else {
    print_statistics(module, verified);
  }
  return verified ? 0 : 2;
}

}  // namespace

void add_show(CLI::App& app, int& exit_code) {
  auto* const command = app.add_subcommand("show", "Statistics, text or graph of a module");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("module", arguments->path, "HLO text or HloModuleProto, also zstd")->required();
  auto* const dot = command->add_flag("--dot", arguments->dot, "The graph for Graphviz");
  auto* const text = command->add_flag("--text", arguments->text, "The module as HLO text")->excludes(dot);
  command->add_flag("--json", arguments->json, "One JSON object on stdout (docs/json.md)")
      ->excludes(dot)
      ->excludes(text);
  command->footer(
      "Example: sapper show examples/softmax.hlo --text\n"
      "Exit code: 0, or 2 when the module cannot be read or is not well-formed");
  command->callback([arguments, &exit_code] {
    const auto result = run(*arguments);
    exit_code = result ? *result : report_error(result.error());
  });
}

}  // namespace sapper::cli
