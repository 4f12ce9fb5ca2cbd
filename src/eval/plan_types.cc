// Late compiler passes mix f32, bf16 and f16 freely, and the verifier lets them. mixed_precision.cc makes explicit what
// it can; wherever a value would still have other bytes than its shape says, the plan stops.
#include <algorithm>

#include "eval/planner.h"
#include "hlo/verifier.h"

namespace sapper::eval {

using hlo::Instruction;
using hlo::InstructionIndex;
using hlo::Opcode;
using hlo::Shape;

namespace {

bool same_leaf_types(const Shape& a, const Shape& b) {
  if (!a.is_tuple()) return !b.is_tuple() && a.element_type() == b.element_type();
  return std::equal(a.elements().begin(), a.elements().end(), b.elements().begin(), b.elements().end(),
                    same_leaf_types);
}

}  // namespace

bool Planner::leaves_agree(std::span<const Slot> slots, const Shape& shape) const {
  size_t next = 0;
  bool agree = true;
  for_each_leaf(shape, [&](const Shape& leaf) {
    if (next < slots.size())
      agree = agree && (!leaf.is_array() || lanes_are_bits(slot_types_[slots[next]], leaf.element_type()));
    ++next;
  });
  return agree && next == slots.size();
}

bool Planner::types_agree(InstructionIndex i) const {
  const Instruction& it = instruction(i);
  switch (nodes_[i].role) {
    case Role::Unneeded:
    case Role::Lane:  // reads and writes each type as it is
    case Role::Constant:
    case Role::Substitute: return true;
    case Role::View: return it.operands.empty() || operand_shape(it, 0).element_type() == it.shape.element_type();
    case Role::Rename: return leaves_agree(slots_of(i), it.shape);
    case Role::Reduce:
    case Role::Step: break;
  }
  switch (it.opcode) {
    case Opcode::Parameter:
    case Opcode::Bitcast:
    case Opcode::BitcastConvert:
    case Opcode::CustomCall: return true;
    case Opcode::AsyncStart:
    case Opcode::AsyncUpdate:
    case Opcode::CopyStart: return leaves_agree(slots_of(i), it.shape);
    case Opcode::Dot:
    case Opcode::RaggedDot:
    case Opcode::ScaledDot:
    case Opcode::Convolution: return true;  // round to whatever type is stated
    default: {
      const Result<Shape> inferred = hlo::infer_shape(module_, computation_, it);
      return !inferred || same_leaf_types(*inferred, it.shape);
    }
  }
}

}  // namespace sapper::eval
