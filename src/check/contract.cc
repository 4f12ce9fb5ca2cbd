#include "check/contract.h"

#include "hlo/rewriter.h"

namespace sapper::check {
namespace {

using hlo::Computation;
using hlo::ElementType;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Module;
using hlo::Opcode;

// Which operand of an add or subtract is a product to contract; -1: none.
int contracted_operand(const Computation& computation, const Instruction& instruction, Contract which) {
  const bool sums = instruction.opcode == Opcode::Add || instruction.opcode == Opcode::Subtract;
  if (!sums || instruction.shape.element_type() != ElementType::F32) return -1;
  const auto is_product = [&](size_t i) {
    return computation.instructions[instruction.operands[i]].opcode == Opcode::Multiply;
  };
  const size_t first = which == Contract::Left ? 0 : 1;
  if (is_product(first)) return static_cast<int>(first);
  return is_product(1 - first) ? static_cast<int>(1 - first) : -1;
}

Computation contract_computation(const Computation& computation, Contract which) {
  hlo::Rewriter rewriter(computation);
  const auto wide = [&](InstructionIndex operand) {
    return rewriter.add(Opcode::Convert, computation.instructions[operand], ElementType::F64,
                        {rewriter.moved(operand)});
  };
  return rewriter.run([&](const Instruction& sum) {
    const int contracted = contracted_operand(computation, sum, which);
    if (contracted < 0) return rewriter.copy(sum, rewriter.moved_operands(sum));
    const auto position = static_cast<size_t>(contracted);
    const Instruction& product = computation.instructions[sum.operands[position]];
    const InstructionIndex left = wide(product.operands[0]);
    const InstructionIndex right = wide(product.operands[1]);
    std::vector<InstructionIndex> terms(2);
    terms[position] = rewriter.add(Opcode::Multiply, product, ElementType::F64, {left, right});
    terms[1 - position] = wide(sum.operands[1 - position]);
    const InstructionIndex total = rewriter.add(sum.opcode, sum, ElementType::F64, std::move(terms));
    return rewriter.add(Opcode::Convert, sum, ElementType::F32, {total});
  });
}

}  // namespace

Module contract_products(const Module& module, Contract which) {
  Module contracted = module;
  contracted.is_scheduled = false;
  for (Computation& computation : contracted.computations) computation = contract_computation(computation, which);
  return contracted;
}

}  // namespace sapper::check
