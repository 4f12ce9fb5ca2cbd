// Loops over lanes that apply one scalar operation, compiled once for each SIMD target (Highway's foreach_target): the
// compiler vectorizes them. Include after eval/simd_targets.h and hwy/foreach_target.h.

#include "eval/lane_function.h"
#include "eval/scalar_ops.h"
#include "hwy/highway.h"

#if defined(SAPPER_EVAL_LANE_LOOP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SAPPER_EVAL_LANE_LOOP_INL_H_
#undef SAPPER_EVAL_LANE_LOOP_INL_H_
#else
#define SAPPER_EVAL_LANE_LOOP_INL_H_
#endif

// No lane depends on another, also when the result is written over an operand.
#ifdef __clang__
#define SAPPER_LANE_LOOP _Pragma("clang loop vectorize(assume_safety)")
#pragma clang diagnostic ignored "-Wpass-failed"  // under a sanitizer loops are not vectorized
#else
#define SAPPER_LANE_LOOP _Pragma("GCC ivdep")
#endif

HWY_BEFORE_NAMESPACE();
namespace sapper::eval::HWY_NAMESPACE {

template <class Op, class R, class A>
void unary(size_t n, void* result, const void* a, const void*, const void*, uint32_t) {
  auto* r = static_cast<R*>(result);
  const auto* x = static_cast<const A*>(a);
  SAPPER_LANE_LOOP
  for (size_t i = 0; i < n; ++i) r[i] = Op::of(x[i]);
}

// An operation that takes the detail (a width, a precision) too.
template <class Op, class R, class A>
void unary_detail(size_t n, void* result, const void* a, const void*, const void*, uint32_t detail) {
  auto* r = static_cast<R*>(result);
  const auto* x = static_cast<const A*>(a);
  SAPPER_LANE_LOOP
  for (size_t i = 0; i < n; ++i) r[i] = Op::of(x[i], detail);
}

template <class Op, class R, class A>
void binary(size_t n, void* result, const void* a, const void* b, const void*, uint32_t) {
  auto* r = static_cast<R*>(result);
  const auto* x = static_cast<const A*>(a);
  const auto* y = static_cast<const A*>(b);
  SAPPER_LANE_LOOP
  for (size_t i = 0; i < n; ++i) r[i] = Op::of(x[i], y[i]);
}

template <class Op, class R, class A>
void binary_detail(size_t n, void* result, const void* a, const void* b, const void*, uint32_t detail) {
  auto* r = static_cast<R*>(result);
  const auto* x = static_cast<const A*>(a);
  const auto* y = static_cast<const A*>(b);
  SAPPER_LANE_LOOP
  for (size_t i = 0; i < n; ++i) r[i] = Op::of(x[i], y[i], detail);
}

template <class Op, class R, class A, class B, class C>
void ternary(size_t n, void* result, const void* a, const void* b, const void* c, uint32_t) {
  auto* r = static_cast<R*>(result);
  const auto* x = static_cast<const A*>(a);
  const auto* y = static_cast<const B*>(b);
  const auto* z = static_cast<const C*>(c);
  SAPPER_LANE_LOOP
  for (size_t i = 0; i < n; ++i) r[i] = Op::of(x[i], y[i], z[i]);
}

}  // namespace sapper::eval::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
