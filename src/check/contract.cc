#include "check/contract.h"

#include <fmt/format.h>

#include <utility>

namespace sapper::check {
namespace {

using hlo::Computation;
using hlo::ElementType;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Module;
using hlo::Opcode;

// Copies a computation instruction by instruction, so that new ones can come in between.
class Rewriter {
 public:
  Rewriter(const Computation& from, Contract which) : from_(from), which_(which) {}

  Computation run() {
    Computation to = from_;
    to.instructions.clear();
    to_ = &to;
    for (const Instruction& instruction : from_.instructions) {
      Instruction copy = instruction;
      for (InstructionIndex& operand : copy.operands) operand = moved_[operand];
      const int product = contracted_operand(instruction);
      moved_.push_back(product < 0 ? append(std::move(copy)) : contract(instruction, static_cast<size_t>(product)));
    }
    to.root = moved_[from_.root];
    return to;
  }

 private:
  // Which operand of an add or subtract is a product to contract; -1: none.
  [[nodiscard]] int contracted_operand(const Instruction& instruction) const {
    const bool sums = instruction.opcode == Opcode::Add || instruction.opcode == Opcode::Subtract;
    if (!sums || instruction.shape.element_type() != ElementType::F32) return -1;
    const auto is_product = [&](size_t i) {
      return from_.instructions[instruction.operands[i]].opcode == Opcode::Multiply;
    };
    const size_t first = which_ == Contract::Left ? 0 : 1;
    if (is_product(first)) return static_cast<int>(first);
    return is_product(1 - first) ? static_cast<int>(1 - first) : -1;
  }

  InstructionIndex append(Instruction instruction) {
    to_->instructions.push_back(std::move(instruction));
    return static_cast<InstructionIndex>(to_->instructions.size() - 1);
  }

  InstructionIndex apply(Opcode opcode, const Instruction& like, ElementType type,
                         std::vector<InstructionIndex> operands) {
    Instruction made;
    made.opcode = opcode;
    made.name = fmt::format("{}.wide{}", like.name, to_->instructions.size());
    made.shape = like.shape.with_element_type(type);
    made.operands = std::move(operands);
    return append(std::move(made));
  }

  InstructionIndex wide(InstructionIndex operand) {
    return apply(Opcode::Convert, from_.instructions[operand], ElementType::F64, {moved_[operand]});
  }

  InstructionIndex contract(const Instruction& sum, size_t product_operand) {
    const Instruction& product = from_.instructions[sum.operands[product_operand]];
    std::vector<InstructionIndex> terms(2);
    const InstructionIndex left = wide(product.operands[0]);
    const InstructionIndex right = wide(product.operands[1]);
    terms[product_operand] = apply(Opcode::Multiply, product, ElementType::F64, {left, right});
    terms[1 - product_operand] = wide(sum.operands[1 - product_operand]);
    const InstructionIndex total = apply(sum.opcode, sum, ElementType::F64, std::move(terms));
    return apply(Opcode::Convert, sum, ElementType::F32, {total});
  }

  const Computation& from_;
  Contract which_;
  Computation* to_ = nullptr;
  std::vector<InstructionIndex> moved_;  // index in `from_` -> index in `to_`
};

}  // namespace

Module contract_products(const Module& module, Contract which) {
  Module contracted = module;
  contracted.is_scheduled = false;
  for (Computation& computation : contracted.computations) computation = Rewriter(computation, which).run();
  return contracted;
}

}  // namespace sapper::check
