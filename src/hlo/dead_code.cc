#include "hlo/dead_code.h"

#include <algorithm>

#include "hlo/rewriter.h"

namespace sapper::hlo {
namespace {

// The instructions that make the leaves of `value`, in depth-first order; false when some tuple is made otherwise.
bool add_leaf_makers(const Computation& computation, InstructionIndex value, std::vector<InstructionIndex>& makers) {
  std::vector<InstructionIndex> open{value};
  while (!open.empty()) {
    const InstructionIndex next = open.back();
    open.pop_back();
    const Instruction& instruction = computation.instructions[next];
    if (instruction.opcode == Opcode::Tuple)
      open.insert(open.end(), instruction.operands.rbegin(), instruction.operands.rend());
    else if (instruction.shape.is_tuple())
      return false;
    else
      makers.push_back(next);
  }
  return true;
}

}  // namespace

Computation without_dead(const Computation& from, const std::vector<bool>& alive) {
  Rewriter rewriter(from);
  InstructionIndex index = 0;
  return rewriter.run([&](const Instruction& instruction) -> InstructionIndex {
    if (!alive[index++]) return 0;
    return rewriter.copy(instruction, rewriter.moved_operands(instruction));
  });
}

void bypass_tuples(Computation& computation) {
  for (Instruction& instruction : computation.instructions) {
    for (InstructionIndex& operand : instruction.operands) {
      const Instruction* value = &computation.instructions[operand];
      while (value->opcode == Opcode::GetTupleElement &&
             computation.instructions[value->operands[0]].opcode == Opcode::Tuple) {
        operand = computation.instructions[value->operands[0]].operands[static_cast<size_t>(value->tuple_index)];
        value = &computation.instructions[operand];
      }
    }
  }
  const Instruction& root = computation.root_instruction();
  if (root.opcode == Opcode::GetTupleElement && computation.instructions[root.operands[0]].opcode == Opcode::Tuple)
    computation.root = computation.instructions[root.operands[0]].operands[static_cast<size_t>(root.tuple_index)];
}

std::vector<bool> alive_in(const Computation& computation, bool parameters_stay) {
  std::vector<bool> alive(computation.instructions.size(), false);
  alive[computation.root] = true;
  for (size_t i = computation.instructions.size(); i-- > 0;) {
    const Instruction& instruction = computation.instructions[i];
    if (parameters_stay && instruction.opcode == Opcode::Parameter) alive[i] = true;
    if (!alive[i]) continue;
    for (const InstructionIndex operand : instruction.operands) alive[operand] = true;
  }
  return alive;
}

void drop_uncalled(Module& module) {
  std::vector<bool> called(module.computations.size(), false);
  called[module.entry] = true;
  for (size_t c = module.computations.size(); c-- > 0;) {
    if (!called[c]) continue;
    for (const Instruction& instruction : module.computations[c].instructions)
      for (const ComputationIndex callee : instruction.called) called[callee] = true;
  }
  std::vector<ComputationIndex> moved(module.computations.size(), 0);
  std::vector<Computation> kept;
  for (size_t c = 0; c < module.computations.size(); ++c) {
    if (!called[c]) continue;
    moved[c] = static_cast<ComputationIndex>(kept.size());
    kept.push_back(std::move(module.computations[c]));
    for (Instruction& instruction : kept.back().instructions)
      for (ComputationIndex& callee : instruction.called) callee = moved[callee];
  }
  module.computations = std::move(kept);
  module.entry = moved[module.entry];
}

bool return_only(Module& module, const std::vector<size_t>& leaves) {
  Computation entry = module.computations[module.entry];
  bypass_tuples(entry);
  std::vector<InstructionIndex> makers;
  if (!add_leaf_makers(entry, entry.root, makers)) return false;
  if (std::ranges::any_of(leaves, [&](size_t leaf) { return leaf >= makers.size(); })) return false;
  Instruction result;
  result.opcode = Opcode::Tuple;
  result.name = "wanted";
  std::vector<Shape> shapes;
  for (const size_t leaf : leaves) {
    result.operands.push_back(makers[leaf]);
    shapes.push_back(entry.instructions[makers[leaf]].shape);
  }
  result.shape = Shape::tuple(std::move(shapes));
  entry.root = static_cast<InstructionIndex>(entry.instructions.size());
  entry.instructions.push_back(std::move(result));
  module.computations[module.entry] = without_dead(entry, alive_in(entry, true));
  drop_uncalled(module);
  module.has_entry_layout = false;
  return true;
}

}  // namespace sapper::hlo
