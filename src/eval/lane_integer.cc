// Lane functions: integer (and pred) arithmetic.
// foreach_target.h must come before what it compiles for each target.
// clang-format off
#include "eval/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "eval/lane_integer.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "eval/lane_loop-inl.h"
#include "eval/lane_tables.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace sapper::eval::HWY_NAMESPACE {

template <class T>
LaneFunction integer_function_of(hlo::Opcode opcode) {
  using hlo::Opcode;
  switch (opcode) {
    case Opcode::Add: return binary<Add, T, T>;
    case Opcode::Subtract: return binary<Subtract, T, T>;
    case Opcode::Multiply: return binary<Multiply, T, T>;
    case Opcode::Divide: return binary<Divide, T, T>;
    case Opcode::Remainder: return binary<Remainder, T, T>;
    case Opcode::Maximum: return binary<Maximum, T, T>;
    case Opcode::Minimum: return binary<Minimum, T, T>;
    case Opcode::Power: return binary<IntegerPower, T, T>;
    case Opcode::And: return binary<And, T, T>;
    case Opcode::Or: return binary<Or, T, T>;
    case Opcode::Xor: return binary<Xor, T, T>;
    case Opcode::Not: return unary<Not, T, T>;
    case Opcode::ShiftLeft: return binary_detail<ShiftLeft, T, T>;
    case Opcode::ShiftRightLogical: return binary_detail<ShiftRightLogical, T, T>;
    case Opcode::ShiftRightArithmetic: return binary_detail<ShiftRightArithmetic, T, T>;
    case Opcode::Mulhi: return binary_detail<Mulhi, T, T>;
    case Opcode::Abs: return unary<Abs, T, T>;
    case Opcode::Negate: return unary<Negate, T, T>;
    case Opcode::Sign: return unary<Sign, T, T>;
    case Opcode::Popcnt: return unary_detail<Popcnt, T, T>;
    case Opcode::CountLeadingZeros: return unary_detail<CountLeadingZeros, T, T>;
    case Opcode::Clamp: return ternary<Clamp, T, T, T, T>;
    default: return nullptr;
  }
}

// pred is a Boolean algebra: add is or, multiply is and.
LaneFunction pred_function_of(hlo::Opcode opcode) {
  using hlo::Opcode;
  switch (opcode) {
    case Opcode::Add:
    case Opcode::Maximum:
    case Opcode::Or: return binary<Or, uint8_t, uint8_t>;
    case Opcode::Multiply:
    case Opcode::Minimum:
    case Opcode::And: return binary<And, uint8_t, uint8_t>;
    case Opcode::Subtract:
    case Opcode::Xor: return binary<Xor, uint8_t, uint8_t>;
    case Opcode::Not: return unary<LogicalNot, uint8_t, uint8_t>;
    case Opcode::Clamp: return ternary<Clamp, uint8_t, uint8_t, uint8_t, uint8_t>;
    default: return nullptr;
  }
}

LaneFunction choose_integer(hlo::Opcode opcode, hlo::ElementType type) {
  using hlo::ElementType;
  switch (type) {
    case ElementType::Pred: return pred_function_of(opcode);
    case ElementType::S8: return integer_function_of<int8_t>(opcode);
    case ElementType::S16: return integer_function_of<int16_t>(opcode);
    case ElementType::S32: return integer_function_of<int32_t>(opcode);
    case ElementType::S64: return integer_function_of<int64_t>(opcode);
    case ElementType::U8: return integer_function_of<uint8_t>(opcode);
    case ElementType::U16: return integer_function_of<uint16_t>(opcode);
    case ElementType::U32: return integer_function_of<uint32_t>(opcode);
    case ElementType::U64: return integer_function_of<uint64_t>(opcode);
    default: return nullptr;
  }
}

}  // namespace sapper::eval::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sapper::eval {
HWY_EXPORT(choose_integer);
LaneFunction integer_function(hlo::Opcode opcode, hlo::ElementType type) {
  return HWY_DYNAMIC_DISPATCH(choose_integer)(opcode, type);
}
}  // namespace sapper::eval
#endif
