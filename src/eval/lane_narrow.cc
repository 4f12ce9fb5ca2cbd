// Lane functions: loading, storing and narrowing types that are narrower than their lane.
// foreach_target.h must come before what it compiles for each target.
// clang-format off
#include "eval/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "eval/lane_narrow.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "eval/lane_loop-inl.h"
#include "eval/narrow_types.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace sapper::eval::HWY_NAMESPACE {

enum class Step { Load, Narrow, Store };

template <class Type>
struct Load {
  SAPPER_LANE float of(typename Type::Storage a) { return Type::load(a); }
};
template <class Type>
struct Narrow {
  template <class T>
  SAPPER_LANE T of(T a) {
    return Type::narrow(a);
  }
};
template <class Type>
struct Store {
  SAPPER_LANE typename Type::Storage of(float a) { return Type::store(a); }
};

template <class Type>
LaneFunction float_step(Step step) {
  using Storage = typename Type::Storage;
  switch (step) {
    case Step::Load: return unary<Load<Type>, float, Storage>;
    case Step::Narrow: return unary<Narrow<Type>, float, float>;
    case Step::Store: return unary<Store<Type>, Storage, float>;
  }
  return nullptr;
}

template <class T, int width>
LaneFunction integer_step(Step step) {
  return step == Step::Narrow ? unary<Narrow<NarrowInteger<T, width>>, T, T> : nullptr;
}

LaneFunction step_function(Step step, hlo::ElementType type) {
  using hlo::ElementType;
  switch (type) {
    case ElementType::F16: return float_step<F16Type>(step);
    case ElementType::BF16: return float_step<BF16Type>(step);
    case ElementType::F8E5M2: return float_step<F8E5M2Type>(step);
    case ElementType::F8E4M3: return float_step<F8E4M3Type>(step);
    case ElementType::F8E3M4: return float_step<F8E3M4Type>(step);
    case ElementType::F8E4M3FN: return float_step<F8E4M3FNType>(step);
    case ElementType::F8E4M3B11FNUZ: return float_step<F8E4M3B11FNUZType>(step);
    case ElementType::F8E4M3FNUZ: return float_step<F8E4M3FNUZType>(step);
    case ElementType::F8E5M2FNUZ: return float_step<F8E5M2FNUZType>(step);
    case ElementType::F4E2M1FN: return float_step<F4E2M1FNType>(step);
    case ElementType::F8E8M0FNU: return float_step<F8E8M0Type>(step);
    case ElementType::S1: return integer_step<int8_t, 1>(step);
    case ElementType::S2: return integer_step<int8_t, 2>(step);
    case ElementType::S4: return integer_step<int8_t, 4>(step);
    case ElementType::U1: return integer_step<uint8_t, 1>(step);
    case ElementType::U2: return integer_step<uint8_t, 2>(step);
    case ElementType::U4: return integer_step<uint8_t, 4>(step);
    default: return nullptr;
  }
}

LaneFunction choose_load(hlo::ElementType type) { return step_function(Step::Load, type); }
LaneFunction choose_narrow(hlo::ElementType type) { return step_function(Step::Narrow, type); }
LaneFunction choose_store(hlo::ElementType type) { return step_function(Step::Store, type); }

}  // namespace sapper::eval::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sapper::eval {
HWY_EXPORT(choose_load);
HWY_EXPORT(choose_narrow);
HWY_EXPORT(choose_store);
LaneFunction load_lanes(hlo::ElementType type) { return HWY_DYNAMIC_DISPATCH(choose_load)(type); }
LaneFunction narrow_lanes(hlo::ElementType type) { return HWY_DYNAMIC_DISPATCH(choose_narrow)(type); }
LaneFunction store_lanes(hlo::ElementType type) { return HWY_DYNAMIC_DISPATCH(choose_store)(type); }
}  // namespace sapper::eval
#endif
