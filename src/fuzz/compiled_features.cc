#include "fuzz/compiled_features.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hlo/fingerprint.h"
#include "hlo/proto.h"
#include "llo/dump.h"
#include "llo/text.h"

namespace sapper::fuzz {
namespace {

using hlo::Opcode;

void add_passes(const std::vector<target::HloStage>& stages, CompiledFeatures& features) {
  hlo::Fingerprint before;
  for (const target::HloStage& stage : stages) {
    const auto module = hlo::parse_module(stage.module, stage.pass);
    if (!module) continue;
    const hlo::Fingerprint after = hlo::fingerprint(*module);
    if (&stage != &stages.front() && after != before) features.insert("pass " + stage.pass);
    before = after;
  }
}

void add_fused_pairs(const hlo::Computation& body, CompiledFeatures& features) {
  for (const hlo::Instruction& user : body.instructions)
    for (const hlo::InstructionIndex index : user.operands) {
      const hlo::Instruction& operand = body.instructions[index];
      if (operand.opcode == Opcode::Parameter || operand.opcode == Opcode::Constant) continue;
      features.insert(fmt::format("{} into {} in a fusion of {}", to_string(operand.opcode), to_string(user.opcode),
                                  to_string(body.root_instruction().opcode)));
    }
}

void add_optimized(const std::string& optimized, CompiledFeatures& features) {
  const auto module = hlo::parse_proto(optimized);
  if (!module) return;
  for (const hlo::Computation& computation : module->computations)
    if (computation.is_fusion) add_fused_pairs(computation, features);
  hlo::for_each_instruction(*module, [&](const hlo::Computation&, const hlo::Instruction& instruction) {
    if (instruction.opcode == Opcode::CustomCall)
      features.insert("custom call " + instruction.attributes().custom_call_target());
  });
}

void add_machine_opcodes(const std::vector<std::pair<std::string, std::string>>& dumped, CompiledFeatures& features) {
  for (const auto& [file, text] : dumped) {
    const auto name = llo::parse_dump_name(file);
    if (!name || name->pass != "final_bundles") continue;
    const auto program = llo::parse_program(text, file);
    if (!program) continue;
    for (const llo::Instruction& instruction : program->instructions)
      features.insert(fmt::format("llo {}", instruction.opcode));
  }
}

}  // namespace

CompiledFeatures compiled_features(const target::CompileResult& compiled) {
  CompiledFeatures features;
  add_passes(compiled.stages, features);
  add_optimized(compiled.optimized, features);
  add_machine_opcodes(compiled.llo, features);
  return features;
}

std::string to_text(const CompiledFeatures& features) { return fmt::format("{}", fmt::join(features, "\n")); }

CompiledFeatures compiled_features_from_text(std::string_view text) {
  CompiledFeatures features;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    features.emplace(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return features;
}

}  // namespace sapper::fuzz
