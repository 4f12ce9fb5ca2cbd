// Lane functions: the transcendental functions of floats (float_math.h).
// foreach_target.h must come before what it compiles for each target.
// clang-format off
#include "eval/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "eval/lane_transcendental.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "eval/lane_loop-inl.h"
#include "eval/float_math.h"
#include "eval/lane_tables.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace sapper::eval::HWY_NAMESPACE {

struct DoubleForm {
  template <class Function>
  struct Unary {
    SAPPER_LANE double of(double x) { return Function::exact(x); }
    SAPPER_LANE double of(double x, double y) { return Function::exact(x, y); }
  };
  using Lane = double;
};

template <class Rounding>
struct FloatForm {
  template <class Function>
  struct Unary {
    SAPPER_LANE float of(float x) { return Rounding::round(Function::wide(x)); }
    SAPPER_LANE float of(float x, float y) { return Rounding::round(Function::wide(x, y)); }
  };
  using Lane = float;
};

template <class Form>
LaneFunction function_of(hlo::Opcode opcode) {
  using hlo::Opcode;
  using T = typename Form::Lane;
  switch (opcode) {
#define SAPPER_FLOAT_FUNCTION(name) \
  case Opcode::name: return unary<typename Form::template Unary<name>, T, T>;
    SAPPER_FLOAT_FUNCTION(Acos)
    SAPPER_FLOAT_FUNCTION(Acosh)
    SAPPER_FLOAT_FUNCTION(Asin)
    SAPPER_FLOAT_FUNCTION(Asinh)
    SAPPER_FLOAT_FUNCTION(Atanh)
    SAPPER_FLOAT_FUNCTION(Cbrt)
    SAPPER_FLOAT_FUNCTION(Cosh)
    SAPPER_FLOAT_FUNCTION(Cosine)
    SAPPER_FLOAT_FUNCTION(Erf)
    SAPPER_FLOAT_FUNCTION(Exponential)
    SAPPER_FLOAT_FUNCTION(ExponentialMinusOne)
    SAPPER_FLOAT_FUNCTION(Log)
    SAPPER_FLOAT_FUNCTION(LogPlusOne)
    SAPPER_FLOAT_FUNCTION(Logistic)
    SAPPER_FLOAT_FUNCTION(Rsqrt)
    SAPPER_FLOAT_FUNCTION(Sine)
    SAPPER_FLOAT_FUNCTION(Sinh)
    SAPPER_FLOAT_FUNCTION(Tan)
    SAPPER_FLOAT_FUNCTION(Tanh)
#undef SAPPER_FLOAT_FUNCTION
    case Opcode::Atan2: return binary<typename Form::template Unary<Atan2>, T, T>;
    case Opcode::Power: return binary<typename Form::template Unary<Power>, T, T>;
    default: return nullptr;
  }
}

LaneFunction choose_transcendental(hlo::Opcode opcode, hlo::ElementType type, bool narrow) {
  if (type == hlo::ElementType::F64) return function_of<DoubleForm>(opcode);
  if (type != hlo::ElementType::F32) return nullptr;
  return narrow ? function_of<FloatForm<Odd>>(opcode) : function_of<FloatForm<Nearest>>(opcode);
}

}  // namespace sapper::eval::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sapper::eval {
HWY_EXPORT(choose_transcendental);
LaneFunction transcendental_function(hlo::Opcode opcode, hlo::ElementType type, bool narrow) {
  return HWY_DYNAMIC_DISPATCH(choose_transcendental)(opcode, type, narrow);
}
}  // namespace sapper::eval
#endif
