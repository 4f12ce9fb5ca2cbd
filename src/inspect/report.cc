#include "inspect/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "inputs/npz.h"
#include "inspect/html.h"
#include "inspect/number_json.h"

namespace sapper::inspect {
namespace {

using Json = nlohmann::ordered_json;

const hlo::Instruction& instruction_of(const Inspection& inspection, const InspectedInstruction& inspected) {
  return inspection.module.computations[inspected.computation].instructions[inspected.instruction];
}

std::string standing_text(const InspectedInstruction& inspected) {
  std::string text(to_string(inspected.standing));
  if (inspected.liberty != Liberty::None) text += fmt::format(" ({})", to_string(inspected.liberty));
  return text;
}

std::string registers_text(const InspectedInstruction& inspected) {
  constexpr size_t most = 3;
  std::string text;
  for (size_t i = 0; i < std::min(most, inspected.probes.size()); ++i)
    text += (text.empty() ? "" : " ") + inspected.probes[i].reg;
  if (inspected.probes.size() > most) text += fmt::format(" +{}", inspected.probes.size() - most);
  return text;
}

std::string seen_text(const InspectedInstruction& inspected) {
  if (inspected.seen == 0) return "";
  std::string text = inspected.seen == inspected.elements
                         ? fmt::format("{} seen", inspected.elements)
                         : fmt::format("{} of {} seen", inspected.seen, inspected.elements);
  if (inspected.differing > 0) text += fmt::format(", {} differ", inspected.differing);
  return text;
}

std::string code_text(const CodeLine& line) {
  return fmt::format("{}{}{}", line.address, line.address.empty() ? "" : ": ", line.text);
}

std::string divergence_text(const Inspection& inspection, const InspectedInstruction& first) {
  const hlo::Instruction& instruction = instruction_of(inspection, first);
  std::string text = fmt::format("\nfirst divergence: {} = {} {}\n", instruction.name, instruction.shape.to_text(false),
                                 hlo::to_string(instruction.opcode));
  text += fmt::format("  {}\n", first.reason);
  text += fmt::format("  {} of {} elements differ; largest error {:.6g}, relative {:.3g}", first.differing, first.seen,
                      first.max_absolute, first.max_relative);
  if (!first.box_low.empty())
    text += fmt::format("; within [{}] to [{}]", fmt::join(first.box_low, ","), fmt::join(first.box_high, ","));
  text += "\n";
  if (first.worst) {
    text += fmt::format("  worst at [{}]: got {:.9g}, expected {:.9g}\n", fmt::join(first.worst->index, ","),
                        first.worst->got, first.worst->expected);
    if (!first.worst->reg.empty())
      text += fmt::format("  in {} lane {} (sublane {}), execution {}\n", first.worst->reg, first.worst->lane % 128,
                          first.worst->lane / 128, first.worst->execution);
  }
  const bool in_register = first.worst && !first.worst->reg.empty();
  if (in_register) {
    text += fmt::format("  {}\n", code_text(inspection.code[first.worst->line]));
  } else if (!first.probes.empty()) {
    text += fmt::format("  {}\n", code_text(inspection.code[first.probes.front().line]));
  }
  return text;
}

Json summary_json(const isolate::TensorSummary& summary) {
  return {{"min", number_json(summary.min)},
          {"max", number_json(summary.max)},
          {"mean", number_json(summary.mean)},
          {"stddev", number_json(summary.stddev)}};
}

Json instruction_json(const Inspection& inspection, const InspectedInstruction& inspected) {
  const hlo::Instruction& instruction = instruction_of(inspection, inspected);
  Json json{{"instruction", instruction.name},
            {"computation", inspection.module.computations[inspected.computation].name},
            {"opcode", hlo::to_string(instruction.opcode)},
            {"shape", instruction.shape.to_text(false)},
            {"standing", to_string(inspected.standing)},
            {"liberty", to_string(inspected.liberty)},
            {"reason", inspected.reason},
            {"elements", inspected.elements},
            {"seen", inspected.seen},
            {"differing", inspected.differing},
            {"max_relative", number_json(inspected.max_relative)},
            {"max_absolute", number_json(inspected.max_absolute)},
            {"expected", summary_json(inspected.expected)},
            {"got", summary_json(inspected.got)}};
  Json probes = Json::array();
  for (const ProbePoint& probe : inspected.probes)
    probes.push_back({{"line", probe.line},
                      {"register", probe.reg},
                      {"code", inspection.code[probe.line].text},
                      {"executions", probe.executions},
                      {"elements", probe.elements},
                      {"by_value", probe.by_value}});
  json["probes"] = std::move(probes);
  if (!inspected.box_low.empty()) json["box"] = {{"low", inspected.box_low}, {"high", inspected.box_high}};
  if (inspected.worst) {
    const DifferingElement& worst = *inspected.worst;
    json["worst"] = {{"index", worst.index},
                     {"got", number_json(worst.got)},
                     {"expected", number_json(worst.expected)},
                     {"register", worst.reg},
                     {"lane", worst.lane},
                     {"line", worst.line},
                     {"execution", worst.execution}};
  }
  return json;
}

}  // namespace

std::string to_text(const Inspection& inspection) {
  std::string text = fmt::format("kernel {} on {}, {}", inspection.kernel, inspection.target, inspection.stage);
  text += fmt::format(": {} steps; {} of {} result elements are other bits\n", inspection.steps,
                      inspection.output_differing, inspection.output_elements);
  size_t name_width = 0;
  for (const InspectedInstruction& inspected : inspection.instructions)
    name_width = std::max(name_width, instruction_of(inspection, inspected).name.size());
  for (const InspectedInstruction& inspected : inspection.instructions) {
    const hlo::Instruction& instruction = instruction_of(inspection, inspected);
    std::string facts = seen_text(inspected);
    if (const std::string registers = registers_text(inspected); !registers.empty())
      facts += fmt::format("{}in {}", facts.empty() ? "" : " ", registers);
    if (!inspected.reason.empty()) facts += (facts.empty() ? "" : "; ") + inspected.reason;
    std::string line = fmt::format("  {:<{}}  {:<16} {:<24} {}", instruction.name, name_width,
                                   hlo::to_string(instruction.opcode), standing_text(inspected), facts);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  for (const std::string& note : inspection.notes) text += fmt::format("{}\n", note);
  if (inspection.first_divergence)
    text += divergence_text(inspection, inspection.instructions[*inspection.first_divergence]);
  return text;
}

std::string headline(const Inspection& inspection) {
  if (inspection.first_divergence) {
    const InspectedInstruction& first = inspection.instructions[*inspection.first_divergence];
    return fmt::format("{} diverges{}{}", instruction_of(inspection, first).name, first.reason.empty() ? "" : ": ",
                       first.reason);
  }
  std::vector<std::string> liberties;
  for (const InspectedInstruction& inspected : inspection.instructions)
    if (inspected.standing == Standing::Explained && inspected.liberty != Liberty::None)
      liberties.push_back(
          fmt::format("{} is {}", instruction_of(inspection, inspected).name, to_string(inspected.liberty)));
  return liberties.empty() ? "nothing that was seen diverges" : fmt::format("{}", fmt::join(liberties, ", "));
}

std::string to_json(const Inspection& inspection) {
  Json json{{"target", inspection.target},
            {"stage", inspection.stage},
            {"kernel", inspection.kernel},
            {"seed", inspection.seed},
            {"inputs_kind", inspection.inputs_kind},
            {"output_elements", inspection.output_elements},
            {"output_differing", inspection.output_differing},
            {"steps", inspection.steps},
            {"seconds", inspection.seconds},
            {"command", inspection.command},
            {"notes", inspection.notes}};
  json["first_divergence"] =
      inspection.first_divergence
          ? Json(instruction_of(inspection, inspection.instructions[*inspection.first_divergence]).name)
          : Json();
  Json instructions = Json::array();
  for (const InspectedInstruction& inspected : inspection.instructions)
    instructions.push_back(instruction_json(inspection, inspected));
  json["instructions"] = std::move(instructions);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

int exit_code(const Inspection& inspection) {
  if (inspection.first_divergence) return 1;
  const bool right =
      inspection.output_differing == 0 ||
      std::ranges::none_of(inspection.instructions, [](const auto& it) { return it.standing == Standing::Unknown; });
  return right ? 0 : 3;
}

Status write_folder(const Inspection& inspection, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail(ErrorKind::BadInput, "{}: {}", folder, error.message());
  SAPPER_CHECKED(write_file(folder + "/inspection.json", to_json(inspection)));
  SAPPER_CHECKED(write_file(folder + "/report.html", to_html(inspection)));
  inputs::Npz values;
  for (const InspectedInstruction& inspected : inspection.instructions) {
    const std::string& name = instruction_of(inspection, inspected).name;
    if (inspected.expected_value) values[name + ".expected"] = inputs::to_npy(*inspected.expected_value);
    if (inspected.got_value) values[name + ".got"] = inputs::to_npy(*inspected.got_value);
  }
  if (values.empty()) return {};
  return inputs::write_npz(folder + "/values.npz", values);
}

}  // namespace sapper::inspect
