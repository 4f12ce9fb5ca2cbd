#include "fuzz/side_by_side.h"

#include <fmt/format.h>

namespace sapper::fuzz {
namespace {

using hlo::Computation;
using hlo::Instruction;

// Appends the instructions of `from`, renamed, to `to`; the index of its root.
hlo::InstructionIndex append(const Computation& from, size_t number, hlo::ComputationIndex first_called,
                             int64_t first_parameter, Computation& to) {
  const auto base = static_cast<hlo::InstructionIndex>(to.instructions.size());
  for (Instruction instruction : from.instructions) {
    instruction.name = fmt::format("p{}.{}", number, instruction.name);
    instruction.id = -1;
    for (hlo::InstructionIndex& operand : instruction.operands) operand += base;
    for (hlo::ComputationIndex& called : instruction.called) called += first_called;
    if (instruction.opcode == hlo::Opcode::Parameter) instruction.parameter_number += first_parameter;
    to.instructions.push_back(std::move(instruction));
  }
  return base + from.root;
}

// The arrays of `root`, as tuples inside of a result cannot be passed out.
void add_leaves(hlo::InstructionIndex root, Computation& entry, std::vector<hlo::InstructionIndex>& leaves) {
  const hlo::Shape shape = entry.instructions[root].shape;
  if (!shape.is_tuple()) return leaves.push_back(root);
  for (size_t i = 0; i < shape.elements().size(); ++i) {
    Instruction element;
    element.opcode = hlo::Opcode::GetTupleElement;
    element.name = fmt::format("{}.{}", entry.instructions[root].name, i);
    element.shape = shape.elements()[i];
    element.operands = {root};
    element.tuple_index = static_cast<int64_t>(i);
    const auto at = static_cast<hlo::InstructionIndex>(entry.instructions.size());
    entry.instructions.push_back(std::move(element));
    add_leaves(at, entry, leaves);
  }
}

}  // namespace

hlo::Module side_by_side(std::span<const hlo::Module> modules) {
  hlo::Module all;
  all.name = "side_by_side";
  Computation entry;
  entry.name = "main";
  std::vector<hlo::InstructionIndex> roots;
  std::vector<hlo::Shape> shapes;
  int64_t parameters = 0;
  for (size_t number = 0; number < modules.size(); ++number) {
    const hlo::Module& module = modules[number];
    const auto first_called = static_cast<hlo::ComputationIndex>(all.computations.size());
    for (hlo::ComputationIndex c = 0; c < module.computations.size(); ++c) {
      if (c == module.entry) continue;
      Computation called;
      called.name = fmt::format("p{}.{}", number, module.computations[c].name);
      called.root = append(module.computations[c], number, first_called, 0, called);
      all.computations.push_back(std::move(called));
    }
    add_leaves(append(module.entry_computation(), number, first_called, parameters, entry), entry, roots);
    parameters += std::ssize(module.entry_computation().parameters());
  }
  Instruction tuple;
  tuple.opcode = hlo::Opcode::Tuple;
  tuple.name = "all";
  for (const hlo::InstructionIndex root : roots) shapes.push_back(entry.instructions[root].shape);
  tuple.shape = hlo::Shape::tuple(std::move(shapes));
  tuple.operands = std::move(roots);
  entry.root = static_cast<hlo::InstructionIndex>(entry.instructions.size());
  entry.instructions.push_back(std::move(tuple));
  all.entry = static_cast<hlo::ComputationIndex>(all.computations.size());
  all.computations.push_back(std::move(entry));
  return all;
}

}  // namespace sapper::fuzz
