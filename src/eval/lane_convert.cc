// Lane functions: conversion between lane types.
// foreach_target.h must come before what it compiles for each target.
// clang-format off
#include "eval/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "eval/lane_convert.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "eval/lane_loop-inl.h"
#include "eval/lane_tables.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace sapper::eval::HWY_NAMESPACE {

template <class From, class To>
LaneFunction to() {
  return unary_detail<ConvertTo<To>, To, From>;
}

template <class From>
LaneFunction convert_from(hlo::ElementType type, bool narrow) {
  using hlo::ElementType;
  // Integers wrap the same way into signed and unsigned types.
  constexpr bool wraps = std::is_integral_v<From>;
  switch (type) {
    case ElementType::Pred: return unary<ConvertToPred, uint8_t, From>;
    case ElementType::S8: return wraps ? to<From, uint8_t>() : to<From, int8_t>();
    case ElementType::S16: return wraps ? to<From, uint16_t>() : to<From, int16_t>();
    case ElementType::S32: return wraps ? to<From, uint32_t>() : to<From, int32_t>();
    case ElementType::S64: return wraps ? to<From, uint64_t>() : to<From, int64_t>();
    case ElementType::U8: return to<From, uint8_t>();
    case ElementType::U16: return to<From, uint16_t>();
    case ElementType::U32: return to<From, uint32_t>();
    case ElementType::U64: return to<From, uint64_t>();
    case ElementType::F32: return narrow ? unary<ConvertToNarrowFloat, float, From> : to<From, float>();
    case ElementType::F64: return to<From, double>();
    case ElementType::C64: return to<From, std::complex<float>>();
    case ElementType::C128: return to<From, std::complex<double>>();
    default: return nullptr;
  }
}

template <class From>
LaneFunction convert_complex(hlo::ElementType type) {
  switch (type) {
    case hlo::ElementType::C64: return to<From, std::complex<float>>();
    case hlo::ElementType::C128: return to<From, std::complex<double>>();
    default: return nullptr;
  }
}

LaneFunction choose_convert(hlo::ElementType from, hlo::ElementType to, bool narrow) {
  using hlo::ElementType;
  switch (from) {
    case ElementType::Pred:
    case ElementType::U8: return convert_from<uint8_t>(to, narrow);
    case ElementType::U16: return convert_from<uint16_t>(to, narrow);
    case ElementType::U32: return convert_from<uint32_t>(to, narrow);
    case ElementType::U64: return convert_from<uint64_t>(to, narrow);
    case ElementType::S8: return convert_from<int8_t>(to, narrow);
    case ElementType::S16: return convert_from<int16_t>(to, narrow);
    case ElementType::S32: return convert_from<int32_t>(to, narrow);
    case ElementType::S64: return convert_from<int64_t>(to, narrow);
    case ElementType::F32: return convert_from<float>(to, narrow);
    case ElementType::F64: return convert_from<double>(to, narrow);
    case ElementType::C64: return convert_complex<std::complex<float>>(to);
    case ElementType::C128: return convert_complex<std::complex<double>>(to);
    default: return nullptr;
  }
}

}  // namespace sapper::eval::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sapper::eval {
HWY_EXPORT(choose_convert);
LaneFunction convert_function(hlo::ElementType from, hlo::ElementType to, bool narrow) {
  return HWY_DYNAMIC_DISPATCH(choose_convert)(from, to, narrow);
}
}  // namespace sapper::eval
#endif
