#include "inspect/html.h"

#include <openssl/evp.h>

#include <nlohmann/json.hpp>
#include <span>

#include "base/assert.h"
#include "hlo/text.h"
#include "inspect/html/page.h"
#include "inspect/number_json.h"
#include "inspect/packed_tensor.h"

namespace sapper::inspect {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
std::string base64(std::span<const T> values) {
  const std::span bytes = std::as_bytes(values);
  std::string text((bytes.size() + 2) / 3 * 4, '\0');
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), reinterpret_cast<const unsigned char*>(bytes.data()),
                  static_cast<int>(bytes.size()));
  return text;
}

Json tensor_json(const InspectedInstruction& item) {
  const PackedTensor packed = pack(item, kShownElements);
  std::vector<uint8_t> seen((packed.seen.size() + 7) / 8);
  for (size_t i = 0; i < packed.seen.size(); ++i) seen[i / 8] |= static_cast<uint8_t>(packed.seen[i] << i % 8);
  Json json{{"dimensions", packed.dimensions},
            {"block", packed.block},
            {"cells", packed.cells},
            {"got", base64(std::span<const float>(packed.got))},
            {"expected", base64(std::span<const float>(packed.expected))},
            {"seen", base64(std::span<const uint8_t>(seen))}};
  if (!packed.element.empty()) json["at"] = base64(std::span<const uint32_t>(packed.element));
  return json;
}

Json summary_json(const isolate::TensorSummary& summary) {
  return {number_json(summary.min), number_json(summary.max), number_json(summary.mean), number_json(summary.stddev)};
}

Json computations_json(const hlo::Module& module) {
  Json computations = Json::array();
  for (const hlo::Computation& computation : module.computations) {
    Json instructions = Json::array();
    for (const hlo::Instruction& instruction : computation.instructions)
      instructions.push_back({{"name", instruction.name},
                              {"opcode", hlo::to_string(instruction.opcode)},
                              {"shape", instruction.shape.to_text(false)},
                              {"text", hlo::to_text(module, computation, instruction)},
                              {"operands", instruction.operands},
                              {"called", instruction.called}});
    computations.push_back({{"name", computation.name}, {"instructions", std::move(instructions)}});
  }
  return computations;
}

Json inspected_json(const InspectedInstruction& item) {
  Json json{{"computation", item.computation},
            {"instruction", item.instruction},
            {"standing", to_string(item.standing)},
            {"liberty", to_string(item.liberty)},
            {"why", item.reason},
            {"elements", item.elements},
            {"seen", item.seen},
            {"differing", item.differing},
            {"maxAbsolute", number_json(item.max_absolute)},
            {"maxRelative", number_json(item.max_relative)},
            {"boxLow", item.box_low},
            {"boxHigh", item.box_high},
            {"expected", summary_json(item.expected)},
            {"got", summary_json(item.got)},
            {"worst", nullptr},
            {"probes", Json::array()}};
  if (item.worst)
    json["worst"] = {{"index", item.worst->index},
                     {"got", number_json(item.worst->got)},
                     {"expected", number_json(item.worst->expected)},
                     {"line", item.worst->line},
                     {"reg", item.worst->reg},
                     {"lane", item.worst->lane},
                     {"execution", item.worst->execution}};
  for (const ProbePoint& probe : item.probes)
    json["probes"].push_back({{"line", probe.line},
                              {"reg", probe.reg},
                              {"executions", probe.executions},
                              {"elements", probe.elements},
                              {"byValue", probe.by_value}});
  if (item.expected_value && item.got_value) json["tensor"] = tensor_json(item);
  return json;
}

Json data_of(const Inspection& inspection) {
  Json json{{"target", inspection.target},
            {"stage", inspection.stage},
            {"kernel", inspection.kernel},
            {"seed", inspection.seed},
            {"inputsKind", inspection.inputs_kind},
            {"command", inspection.command},
            {"steps", inspection.steps},
            {"seconds", inspection.seconds},
            {"notes", inspection.notes},
            {"outputElements", inspection.output_elements},
            {"outputDiffering", inspection.output_differing},
            {"entry", inspection.module.entry},
            {"computations", computations_json(inspection.module)},
            {"inspected", Json::array()},
            {"code", Json::array()},
            {"first", nullptr}};
  for (const InspectedInstruction& item : inspection.instructions) json["inspected"].push_back(inspected_json(item));
  for (const CodeLine& line : inspection.code)
    json["code"].push_back({{"text", line.text}, {"address", line.address}, {"hlo", line.hlo_instruction}});
  if (inspection.first_divergence) json["first"] = *inspection.first_divergence;
  return json;
}

}  // namespace

std::string to_html(const Inspection& inspection) {
  // "<" within the data would end the script's element, were a slash to follow.
  std::string data = data_of(inspection).dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string escaped;
  escaped.reserve(data.size());
  for (const char c : data) {
    if (c == '<')
      escaped += "\\u003c";
    else
      escaped += c;
  }
  constexpr std::string_view mark = "/*DATA*/";
  std::string html(page());
  const size_t at = html.find(mark);
  SAPPER_ASSERT(at != std::string::npos);
  return html.replace(at, mark.size(), escaped);
}

}  // namespace sapper::inspect
