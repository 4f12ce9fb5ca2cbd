// Lane functions: comparison, selection, copying.
// foreach_target.h must come before what it compiles for each target.
// clang-format off
#include "eval/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "eval/lane_compare.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "eval/lane_loop-inl.h"
#include "eval/lane_tables.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace sapper::eval::HWY_NAMESPACE {

template <class T>
LaneFunction compare_of(Comparison comparison) {
  switch (comparison) {
    case Comparison::Eq: return binary<CompareEq, uint8_t, T>;
    case Comparison::Ne: return binary<CompareNe, uint8_t, T>;
    case Comparison::Lt: return binary<CompareLt, uint8_t, T>;
    case Comparison::Le: return binary<CompareLe, uint8_t, T>;
    case Comparison::Gt: return binary<CompareGt, uint8_t, T>;
    case Comparison::Ge: return binary<CompareGe, uint8_t, T>;
  }
  return nullptr;
}

template <class T>
LaneFunction compare_total_of(Comparison comparison) {
  switch (comparison) {
    case Comparison::Eq: return binary<InTotalOrder<CompareEq>, uint8_t, T>;
    case Comparison::Ne: return binary<InTotalOrder<CompareNe>, uint8_t, T>;
    case Comparison::Lt: return binary<InTotalOrder<CompareLt>, uint8_t, T>;
    case Comparison::Le: return binary<InTotalOrder<CompareLe>, uint8_t, T>;
    case Comparison::Gt: return binary<InTotalOrder<CompareGt>, uint8_t, T>;
    case Comparison::Ge: return binary<InTotalOrder<CompareGe>, uint8_t, T>;
  }
  return nullptr;
}

template <class T>
LaneFunction compare_complex_of(Comparison comparison) {
  if (comparison == Comparison::Eq) return binary<CompareEq, uint8_t, T>;
  return comparison == Comparison::Ne ? binary<CompareNe, uint8_t, T> : nullptr;
}

LaneFunction choose_compare(Comparison comparison, hlo::ElementType type, bool total_order) {
  using hlo::ElementType;
  switch (type) {
    case ElementType::Pred:
    case ElementType::U8: return compare_of<uint8_t>(comparison);
    case ElementType::U16: return compare_of<uint16_t>(comparison);
    case ElementType::U32: return compare_of<uint32_t>(comparison);
    case ElementType::U64: return compare_of<uint64_t>(comparison);
    case ElementType::S8: return compare_of<int8_t>(comparison);
    case ElementType::S16: return compare_of<int16_t>(comparison);
    case ElementType::S32: return compare_of<int32_t>(comparison);
    case ElementType::S64: return compare_of<int64_t>(comparison);
    case ElementType::F32: return total_order ? compare_total_of<float>(comparison) : compare_of<float>(comparison);
    case ElementType::F64: return total_order ? compare_total_of<double>(comparison) : compare_of<double>(comparison);
    case ElementType::C64: return compare_complex_of<std::complex<float>>(comparison);
    case ElementType::C128: return compare_complex_of<std::complex<double>>(comparison);
    default: return nullptr;
  }
}

using Lane16 = std::complex<double>;  // any type of 16 bytes: only copied

LaneFunction choose_select(int bytes) {
  switch (bytes) {
    case 1: return ternary<Select, uint8_t, uint8_t, uint8_t, uint8_t>;
    case 2: return ternary<Select, uint16_t, uint8_t, uint16_t, uint16_t>;
    case 4: return ternary<Select, uint32_t, uint8_t, uint32_t, uint32_t>;
    case 8: return ternary<Select, uint64_t, uint8_t, uint64_t, uint64_t>;
    case 16: return ternary<Select, Lane16, uint8_t, Lane16, Lane16>;
    default: return nullptr;
  }
}

}  // namespace sapper::eval::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sapper::eval {
HWY_EXPORT(choose_compare);
HWY_EXPORT(choose_select);

LaneFunction compare_function(Comparison comparison, hlo::ElementType type, bool total_order) {
  return HWY_DYNAMIC_DISPATCH(choose_compare)(comparison, type, total_order);
}

LaneFunction select_function(int lane_bytes) { return HWY_DYNAMIC_DISPATCH(choose_select)(lane_bytes); }

namespace {
template <size_t bytes>
void copy(size_t n, void* result, const void* a, const void*, const void*, uint32_t) {
  if (result != a) std::memcpy(result, a, n * bytes);
}
}  // namespace

LaneFunction copy_function(int lane_bytes) {
  switch (lane_bytes) {
    case 1: return copy<1>;
    case 2: return copy<2>;
    case 4: return copy<4>;
    case 8: return copy<8>;
    case 16: return copy<16>;
    default: return nullptr;
  }
}
}  // namespace sapper::eval
#endif
