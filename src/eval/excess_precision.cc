#include "eval/excess_precision.h"

#include <algorithm>
#include <map>

#include "eval/inline_calls.h"
#include "eval/lane_function.h"
#include "hlo/rewriter.h"

namespace sapper::eval {
namespace {

using hlo::Computation;
using hlo::ElementType;
using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Module;
using hlo::Opcode;
using hlo::Shape;

bool is_narrow(const Shape& shape) {
  return shape.element_type() == ElementType::BF16 || shape.element_type() == ElementType::F16;
}

bool moves_elements(Opcode opcode) {
  switch (opcode) {
    case Opcode::Broadcast:
    case Opcode::Concatenate:
    case Opcode::Copy:
    case Opcode::DynamicSlice:
    case Opcode::DynamicUpdateSlice:
    case Opcode::Pad:
    case Opcode::Reshape:
    case Opcode::Reverse:
    case Opcode::Select:
    case Opcode::Slice:
    case Opcode::Transpose: return true;
    default: return false;
  }
}

// Rewrites one computation.
class Carrier {
 public:
  explicit Carrier(const Computation& from) : from_(from), carried_(from.instructions.size(), false), rewriter_(from) {
    for (InstructionIndex i = 0; i < carried_.size(); ++i) carried_[i] = is_carried(from.instructions[i]);
    carried_[from.root] = false;
  }

  // Does anything keep more precision than it states?
  [[nodiscard]] bool changes_anything() const {
    return std::find(carried_.begin(), carried_.end(), true) != carried_.end();
  }

  Computation run() {
    InstructionIndex next = 0;
    return rewriter_.run([&](const Instruction& instruction) { return rewrite(next++, instruction); });
  }

 private:
  [[nodiscard]] bool has_carried_operand(const Instruction& instruction) const {
    return std::any_of(instruction.operands.begin(), instruction.operands.end(),
                       [&](InstructionIndex operand) { return carried_[operand]; });
  }

  // Reads its operands as floats of any precision.
  [[nodiscard]] bool takes_any_precision(const Instruction& instruction) const {
    if (moves_elements(instruction.opcode)) return is_narrow(instruction.shape);
    if (instruction.opcode == Opcode::Dot || instruction.opcode == Opcode::Convolution)
      return has_carried_operand(instruction);
    if (instruction.opcode == Opcode::BitcastConvert || instruction.operands.empty() || !instruction.shape.is_array())
      return false;
    const Shape& operand = from_.instructions[instruction.operands[0]].shape;
    return operand.is_array() && lane_operation(instruction, operand.element_type()).has_value();
  }

  [[nodiscard]] bool is_carried(const Instruction& instruction) const {
    if (!instruction.shape.is_array() || !is_narrow(instruction.shape)) return false;
    if (!moves_elements(instruction.opcode)) return takes_any_precision(instruction);
    return has_carried_operand(instruction);
  }

  InstructionIndex rewrite(InstructionIndex index, const Instruction& instruction) {
    const bool arithmetic = !moves_elements(instruction.opcode) && takes_any_precision(instruction);
    const bool wide_operands = arithmetic || carried_[index];
    std::vector<InstructionIndex> operands;
    for (const InstructionIndex operand : instruction.operands)
      operands.push_back(wide_operands ? wide(operand) : narrow(operand));
    if (!arithmetic && !carried_[index]) return rewriter_.copy(instruction, std::move(operands));
    Instruction computed = instruction;
    const bool narrow_result = is_narrow(instruction.shape);
    if (narrow_result) computed.shape = instruction.shape.with_element_type(ElementType::F32);
    const InstructionIndex result = rewriter_.copy(std::move(computed), std::move(operands));
    if (carried_[index] || !narrow_result) return result;
    return rewriter_.add(Opcode::Convert, instruction, instruction.shape.element_type(), {result});
  }

  InstructionIndex wide(InstructionIndex operand) {
    const Instruction& source = from_.instructions[operand];
    const InstructionIndex at = rewriter_.moved(operand);
    if (carried_[operand] || !source.shape.is_array() || !is_narrow(source.shape)) return at;
    return converted(operand, source, ElementType::F32, at);
  }

  InstructionIndex narrow(InstructionIndex operand) {
    const Instruction& source = from_.instructions[operand];
    const InstructionIndex at = rewriter_.moved(operand);
    return carried_[operand] ? converted(operand, source, source.shape.element_type(), at) : at;
  }

  InstructionIndex converted(InstructionIndex operand, const Instruction& source, ElementType type,
                             InstructionIndex at) {
    const auto [found, added] = converted_.try_emplace(operand, 0);
    if (added) found->second = rewriter_.add(Opcode::Convert, source, type, {at});
    return found->second;
  }

  const Computation& from_;
  std::vector<bool> carried_;  // is in f32 in the new computation, though it states a narrower type
  hlo::Rewriter rewriter_;
  std::map<InstructionIndex, InstructionIndex> converted_;  // carried ones made narrow, narrow ones made wide
};

}  // namespace

Module with_excess_precision(const Module& module) {
  Module result = with_calls_inlined(module);
  for (Computation& computation : result.computations) {
    Carrier carrier(computation);
    if (!carrier.changes_anything()) continue;
    Computation carried = carrier.run();
    computation = std::move(carried);
  }
  return result;
}

}  // namespace sapper::eval
