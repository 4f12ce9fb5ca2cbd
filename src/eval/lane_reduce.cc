// Lane functions: folding many lanes into running values, for the reductions that fast_reduce.h does.
// foreach_target.h must come before what it compiles for each target.
// clang-format off
#include "eval/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "eval/lane_reduce.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "eval/lane_loop-inl.h"
#include "eval/lane_reduce.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace sapper::eval::HWY_NAMESPACE {

// Element i goes to running value i modulo `ways`; these are combined in halves. The same for every instruction set.
template <class Op, class T, class Running>
void fold_row(size_t n, const void* lanes, void* running) {
  constexpr size_t ways = 64 / sizeof(T) * 2;
  const auto* x = static_cast<const T*>(lanes);
  Running values[ways];
  const size_t whole = n / ways * ways;
  if (whole == 0) {
    Running value = *static_cast<Running*>(running);
    for (size_t i = 0; i < n; ++i) value = Op::of(value, static_cast<Running>(x[i]));
    *static_cast<Running*>(running) = value;
    return;
  }
  for (size_t j = 0; j < ways; ++j) values[j] = static_cast<Running>(x[j]);
  for (size_t i = ways; i < whole; i += ways)
    for (size_t j = 0; j < ways; ++j) values[j] = Op::of(values[j], static_cast<Running>(x[i + j]));
  for (size_t i = whole; i < n; ++i) values[i - whole] = Op::of(values[i - whole], static_cast<Running>(x[i]));
  for (size_t half = ways / 2; half > 0; half /= 2)
    for (size_t j = 0; j < half; ++j) values[j] = Op::of(values[j], values[j + half]);
  *static_cast<Running*>(running) = Op::of(*static_cast<Running*>(running), values[0]);
}

template <class Op, class T, class Running>
void fold_columns(size_t n, const void* lanes, void* running) {
  const auto* x = static_cast<const T*>(lanes);
  auto* values = static_cast<Running*>(running);
  SAPPER_LANE_LOOP
  for (size_t i = 0; i < n; ++i) values[i] = Op::of(values[i], static_cast<Running>(x[i]));
}

template <class Op, class T, class Running>
LaneFold fold() {
  return {fold_row<Op, T, Running>, fold_columns<Op, T, Running>};
}

template <class T>
LaneFold integer_fold(hlo::Opcode opcode) {
  using hlo::Opcode;
  switch (opcode) {
    case Opcode::Add: return fold<Add, T, T>();
    case Opcode::Multiply: return fold<Multiply, T, T>();
    case Opcode::Maximum: return fold<Maximum, T, T>();
    case Opcode::Minimum: return fold<Minimum, T, T>();
    case Opcode::And: return fold<And, T, T>();
    case Opcode::Or: return fold<Or, T, T>();
    case Opcode::Xor: return fold<Xor, T, T>();
    default: return {};
  }
}

template <class T>
LaneFold float_fold(hlo::Opcode opcode) {
  using hlo::Opcode;
  switch (opcode) {
    case Opcode::Add: return fold<Add, T, double>();
    case Opcode::Multiply: return fold<Multiply, T, double>();
    case Opcode::Maximum: return fold<Maximum, T, T>();
    case Opcode::Minimum: return fold<Minimum, T, T>();
    default: return {};
  }
}

LaneFold choose_fold(hlo::Opcode opcode, hlo::ElementType type) {
  using hlo::ElementType;
  using hlo::Opcode;
  switch (type) {
    case ElementType::Pred:
      switch (opcode) {
        case Opcode::Add:
        case Opcode::Maximum:
        case Opcode::Or: return fold<Or, uint8_t, uint8_t>();
        case Opcode::Multiply:
        case Opcode::Minimum:
        case Opcode::And: return fold<And, uint8_t, uint8_t>();
        case Opcode::Xor: return fold<Xor, uint8_t, uint8_t>();
        default: return {};
      }
    case ElementType::S8: return integer_fold<int8_t>(opcode);
    case ElementType::S16: return integer_fold<int16_t>(opcode);
    case ElementType::S32: return integer_fold<int32_t>(opcode);
    case ElementType::S64: return integer_fold<int64_t>(opcode);
    case ElementType::U8: return integer_fold<uint8_t>(opcode);
    case ElementType::U16: return integer_fold<uint16_t>(opcode);
    case ElementType::U32: return integer_fold<uint32_t>(opcode);
    case ElementType::U64: return integer_fold<uint64_t>(opcode);
    case ElementType::F32: return float_fold<float>(opcode);
    case ElementType::F64: return float_fold<double>(opcode);
    default: return {};
  }
}

}  // namespace sapper::eval::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sapper::eval {
HWY_EXPORT(choose_fold);
LaneFold lane_fold(hlo::Opcode opcode, hlo::ElementType lane_type) {
  return HWY_DYNAMIC_DISPATCH(choose_fold)(opcode, lane_type);
}
}  // namespace sapper::eval
#endif
