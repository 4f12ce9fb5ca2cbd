#include "eval/inline_calls.h"

#include "hlo/rewriter.h"

namespace sapper::eval {
namespace {

using hlo::Computation;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Module;
using hlo::Opcode;

// A plain call, or a fusion within a fusion, whose result nobody stores.
bool is_call(const Computation& computation, const Instruction& instruction) {
  return instruction.opcode == Opcode::Call || (computation.is_fusion && instruction.opcode == Opcode::Fusion);
}

// Adds the body of `called` on `arguments`; returns the index of its root.
InstructionIndex add_body(hlo::Rewriter& rewriter, const Computation& called,
                          const std::vector<InstructionIndex>& arguments) {
  std::vector<InstructionIndex> moved;
  moved.reserve(called.instructions.size());
  for (const Instruction& instruction : called.instructions) {
    if (instruction.opcode == Opcode::Parameter) {
      moved.push_back(arguments[static_cast<size_t>(instruction.parameter_number)]);
      continue;
    }
    std::vector<InstructionIndex> operands;
    for (const InstructionIndex operand : instruction.operands) operands.push_back(moved[operand]);
    moved.push_back(rewriter.copy(instruction, std::move(operands)));
  }
  return moved[called.root];
}

}  // namespace

Module with_calls_inlined(const Module& module) {
  const auto most_instructions = static_cast<size_t>(2 * module.instruction_count() + 10'000);
  Module result = module;
  // Called computations come first, so that what is put in place has no calls itself.
  for (Computation& computation : result.computations) {
    hlo::Rewriter rewriter(computation);
    size_t size = computation.instructions.size();
    Computation inlined = rewriter.run([&](const Instruction& instruction) {
      const std::vector<InstructionIndex> operands = rewriter.moved_operands(instruction);
      if (!is_call(computation, instruction)) return rewriter.copy(instruction, operands);
      const Computation& called = result.computations[instruction.called[0]];
      if (size + called.instructions.size() > most_instructions) return rewriter.copy(instruction, operands);
      size += called.instructions.size();
      return add_body(rewriter, called, operands);
    });
    computation = std::move(inlined);
  }
  return result;
}

}  // namespace sapper::eval
