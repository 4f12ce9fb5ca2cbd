// Lane functions: arithmetic and rounding of floats.
// foreach_target.h must come before what it compiles for each target.
// clang-format off
#include "eval/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "eval/lane_float.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "eval/lane_loop-inl.h"
#include "eval/lane_tables.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace sapper::eval::HWY_NAMESPACE {

template <class T>
LaneFunction float_function_of(hlo::Opcode opcode) {
  using hlo::Opcode;
  switch (opcode) {
    case Opcode::Add: return binary<Add, T, T>;
    case Opcode::Subtract: return binary<Subtract, T, T>;
    case Opcode::Multiply: return binary<Multiply, T, T>;
    case Opcode::Divide: return binary<Divide, T, T>;
    case Opcode::Remainder: return binary<Remainder, T, T>;
    case Opcode::Maximum: return binary<Maximum, T, T>;
    case Opcode::Minimum: return binary<Minimum, T, T>;
    case Opcode::Abs: return unary<Abs, T, T>;
    case Opcode::Negate: return unary<Negate, T, T>;
    case Opcode::Sign: return unary<Sign, T, T>;
    case Opcode::Ceil: return unary<Ceil, T, T>;
    case Opcode::Floor: return unary<Floor, T, T>;
    case Opcode::RoundNearestEven: return unary<RoundNearestEven, T, T>;
    case Opcode::RoundNearestAfz: return unary<RoundNearestAfz, T, T>;
    case Opcode::Sqrt: return unary<Sqrt, T, T>;
    case Opcode::IsFinite: return unary<IsFinite, uint8_t, T>;
    case Opcode::Clamp: return ternary<Clamp, T, T, T, T>;
    case Opcode::ReducePrecision: return unary_detail<ReducePrecision, T, T>;
    default: return nullptr;
  }
}

LaneFunction choose_float(hlo::Opcode opcode, hlo::ElementType type) {
  switch (type) {
    case hlo::ElementType::F32: return float_function_of<float>(opcode);
    case hlo::ElementType::F64: return float_function_of<double>(opcode);
    default: return nullptr;
  }
}

}  // namespace sapper::eval::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sapper::eval {
HWY_EXPORT(choose_float);
LaneFunction float_function(hlo::Opcode opcode, hlo::ElementType type) {
  return HWY_DYNAMIC_DISPATCH(choose_float)(opcode, type);
}
}  // namespace sapper::eval
#endif
