#include "check/single_instruction.h"

#include <fmt/format.h>

#include <vector>

namespace sapper::check {
namespace {

using hlo::Computation;
using hlo::ComputationIndex;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Module;

void mark_called(const Module& module, const Instruction& instruction, std::vector<bool>& needed) {
  for (const ComputationIndex called : instruction.called) {
    if (needed[called]) continue;
    needed[called] = true;
    for (const Instruction& inner : module.computations[called].instructions) mark_called(module, inner, needed);
  }
}

}  // namespace

Module single_instruction_module(const Module& module, const Computation& computation, const Instruction& instruction) {
  Module single;
  single.name = instruction.name;
  single.config = module.config;

  std::vector<bool> needed(module.computations.size(), false);
  mark_called(module, instruction, needed);
  std::vector<ComputationIndex> moved(module.computations.size());
  const auto move_called = [&](Instruction& it) {
    for (ComputationIndex& called : it.called) called = moved[called];
  };
  for (size_t i = 0; i < needed.size(); ++i) {
    if (!needed[i]) continue;
    moved[i] = static_cast<ComputationIndex>(single.computations.size());
    Computation& copy = single.computations.emplace_back(module.computations[i]);
    for (Instruction& inner : copy.instructions) move_called(inner);
  }

  Computation& entry = single.computations.emplace_back();
  entry.name = "entry";
  Instruction root = instruction;
  for (size_t k = 0; k < root.operands.size(); ++k) {
    Instruction parameter;
    parameter.name = fmt::format("operand.{}", k);
    parameter.shape = computation.instructions[root.operands[k]].shape;
    parameter.parameter_number = static_cast<int64_t>(k);
    entry.instructions.push_back(std::move(parameter));
  }
  for (size_t k = 0; k < root.operands.size(); ++k) {
    const Instruction& operand = computation.instructions[root.operands[k]];
    root.operands[k] = static_cast<InstructionIndex>(k);
    if (operand.opcode != hlo::Opcode::Constant || !operand.shape.is_scalar()) continue;
    root.operands[k] = static_cast<InstructionIndex>(entry.instructions.size());
    entry.instructions.push_back(operand);
  }
  move_called(root);
  if (root.attributes().control_predecessor_ids_size() > 0) root.edit_attributes().clear_control_predecessor_ids();
  entry.instructions.push_back(std::move(root));
  entry.root = static_cast<InstructionIndex>(entry.instructions.size() - 1);
  single.entry = static_cast<ComputationIndex>(single.computations.size() - 1);
  return single;
}

}  // namespace sapper::check
