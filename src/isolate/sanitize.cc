#include "isolate/sanitize.h"

#include <array>
#include <nlohmann/json.hpp>

#include "isolate/roles.h"

namespace sapper::isolate {
namespace {

// Keys of the backend configs of XLA:TPU that speak of a kernel's surroundings: where its scratch memory lies beside
// that of others, whose buffers it shares, what is known of the values that it is given.
constexpr std::array surroundings = {"used_scoped_memory_configs", "aliasing_operands", "indices_config",
                                     "dma_priority"};

// What names of frontend attributes begin with that speak of devices, or of the arguments of the whole module.
constexpr std::array<std::string_view, 6> foreign_attributes = {
    "xla.sdy.", "xla.sharding", "arg_layout_modes", "out_layout_modes", "arg_memory_spaces", "out_memory_spaces"};

// A backend config that is a JSON object, without what speaks of surroundings; others as they are.
std::string without_surroundings(const std::string& config) {
  if (config.empty() || config.front() != '{') return config;
  auto json = nlohmann::ordered_json::parse(config, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return config;
  bool changed = false;
  for (const char* key : surroundings) changed |= json.erase(key) > 0;
  if (const auto scoped = json.find("scoped_memory_configs"); scoped != json.end() && scoped->is_array()) {
    for (auto& entry : *scoped)  // the size is a demand, the offset a place
      if (entry.is_object()) changed |= entry.erase("offset") > 0;
  }
  // Bytes that are no UTF-8 come back as they were.
  return changed ? json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::ignore) : config;
}

void drop_foreign_attributes(proto::FrontendAttributes& attributes) {
  auto& map = *attributes.mutable_map();
  for (auto at = map.begin(); at != map.end();) {
    const auto is_prefix = [&](std::string_view prefix) { return at->first.starts_with(prefix); };
    at = std::any_of(foreign_attributes.begin(), foreign_attributes.end(), is_prefix) ? map.erase(at) : std::next(at);
  }
}

void sanitize(const hlo::Module& module, hlo::Opcode opcode, hlo::Attributes& attributes) {
  attributes.clear_sharding();
  attributes.clear_control_predecessor_ids();
  attributes.clear_parameter_replication();
  attributes.clear_original_value();
  attributes.clear_statistics_viz();
  attributes.clear_channel_id();
  attributes.clear_is_cross_program_prefetch();
  attributes.clear_cross_program_prefetch_index();
  attributes.clear_async_execution_thread();
  attributes.clear_shape();  // fields of newer releases that Shape cannot say: they spoke of the old layouts
  if (opcode == hlo::Opcode::Fusion) attributes.clear_output_operand_aliasing();
  if (attributes.has_frontend_attributes()) {
    drop_foreign_attributes(*attributes.mutable_frontend_attributes());
    if (attributes.frontend_attributes().map().empty()) attributes.clear_frontend_attributes();
  }
  if (attributes.has_backend_config_payload()) {
    const proto::Payload& payload = attributes.backend_config_payload();
    const bool is_stored = payload.payload_source_case() == proto::Payload::kId && payload.id() >= 0 &&
                           payload.id() < module.attributes.payloads_size();
    attributes.set_backend_config(is_stored ? module.attributes.payloads(static_cast<int>(payload.id()))
                                            : payload.value());
    attributes.clear_backend_config_payload();
  }
  attributes.set_backend_config(without_surroundings(attributes.backend_config()));
}

}  // namespace

hlo::Instruction sanitized(const hlo::Module& module, const hlo::Instruction& instruction) {
  hlo::Instruction copy = instruction;
  copy.shape = in_default_memory(instruction.shape);
  copy.metadata = nullptr;
  copy.id = -1;
  copy.position = {};
  if (copy.shared_attributes == nullptr) return copy;
  sanitize(module, copy.opcode, copy.edit_attributes());
  if (copy.attributes().ByteSizeLong() == 0) copy.shared_attributes = nullptr;
  return copy;
}

hlo::Module module_like(const hlo::Module& module) {
  hlo::Module out;
  out.name = "piece";
  out.config.set_matrix_unit_operand_precision(module.config.matrix_unit_operand_precision());
  out.config.set_exec_time_optimization_effort(module.config.exec_time_optimization_effort());
  out.config.set_memory_fitting_effort(module.config.memory_fitting_effort());
  out.config.set_optimization_level(module.config.optimization_level());
  out.config.set_memory_fitting_level(module.config.memory_fitting_level());
  if (module.attributes.has_frontend_attributes()) {
    *out.attributes.mutable_frontend_attributes() = module.attributes.frontend_attributes();
    drop_foreign_attributes(*out.attributes.mutable_frontend_attributes());
    if (out.attributes.frontend_attributes().map().empty()) out.attributes.clear_frontend_attributes();
  }
  return out;
}

void state_boundary_layouts(hlo::Module& piece) {
  const hlo::Computation& entry = piece.entry_computation();
  auto& attributes = *piece.attributes.mutable_frontend_attributes()->mutable_map();
  const auto state = [&](const char* name, const std::vector<hlo::Shape>& shapes) {
    std::string modes;
    for (const hlo::Shape& shape : shapes) {
      if (!modes.empty()) modes += ';';
      modes += shape.layout() == nullptr || shape.rank() == 0 ? "default" : shape.layout()->to_text();
    }
    if (!modes.empty()) attributes[name] = modes;
  };
  std::vector<hlo::Shape> parameters;
  for (const hlo::InstructionIndex i : entry.parameters()) parameters.push_back(entry.instructions[i].shape);
  std::vector<hlo::Shape> results;
  hlo::for_each_leaf(entry.root_instruction().shape, [&](const hlo::Shape& leaf) { results.push_back(leaf); });
  state("arg_layout_modes", parameters);
  state("out_layout_modes", results);
}

}  // namespace sapper::isolate
