// Meanings of opcodes that work lane by lane, made from functions of one lane. The tables that use them are compiled
// once for each SIMD instruction set (Highway's foreach_target), the compiler vectorizes the loops, and every set gives
// the same bits, but for which of two NaNs a result is. Include after eval/simd_targets.h and hwy/foreach_target.h.
//
// A lane function is a lambda that captures nothing. It takes and gives lanes of one size: float, uint32_t, int32_t,
// int16_t, uint8_t, ...; what returns a bool is a comparison, whose lane is all ones or zero.

#include <cstring>
#include <type_traits>
#include <utility>

#include "hwy/highway.h"
#include "llo/machine.h"

#if defined(SAPPER_LLO_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SAPPER_LLO_LANES_INL_H_
#undef SAPPER_LLO_LANES_INL_H_
#else
#define SAPPER_LLO_LANES_INL_H_
#endif

// No lane depends on another, also when the result is written over an operand.
#ifdef __clang__
#define SAPPER_LANES _Pragma("clang loop vectorize(assume_safety)")
#pragma clang diagnostic ignored "-Wpass-failed"  // under a sanitizer loops are not vectorized
#else
#define SAPPER_LANES _Pragma("GCC ivdep")
#endif

HWY_BEFORE_NAMESPACE();
namespace sapper::llo::HWY_NAMESPACE {

template <int bytes>
using LaneBits = std::conditional_t<bytes == 4, uint32_t, std::conditional_t<bytes == 2, uint16_t, uint8_t>>;

template <class T>
[[gnu::always_inline]] inline T lane(const Vreg& from, int i) {
  T value;
  std::memcpy(&value, reinterpret_cast<const char*>(from.word) + static_cast<size_t>(i) * sizeof(T), sizeof(T));
  return value;
}
template <class T>
[[gnu::always_inline]] inline void set_lane(Vreg& to, int i, T value) {
  std::memcpy(reinterpret_cast<char*>(to.word) + static_cast<size_t>(i) * sizeof(T), &value, sizeof(T));
}

template <class F, class Pointer>
struct LaneLoop;
template <class F, class R, class First, class... Rest>
struct LaneLoop<F, R (*)(First, Rest...)> {
  static_assert(((sizeof(First) == sizeof(Rest)) && ...) && (std::is_same_v<R, bool> || sizeof(R) == sizeof(First)));
  static constexpr int bits = sizeof(First) * 8;
  static constexpr int lanes = sizeof(Vreg) / sizeof(First);

  static void compute(const Vreg* const* operands, Vreg& result) {
    over(operands, result, std::index_sequence_for<Rest...>());
  }

 private:
  template <size_t... k>
  static void over(const Vreg* const* operands, Vreg& result, std::index_sequence<k...>) {
    each(*operands[0], *operands[k + 1]..., result);
  }
  template <class T>
  using Operand = const Vreg&;
  static void each(const Vreg& first, Operand<Rest>... rest, Vreg& result) {
    SAPPER_LANES
    for (int i = 0; i < lanes; ++i) {
      if constexpr (std::is_same_v<R, bool>) {
        using Mask = LaneBits<sizeof(First)>;
        set_lane(result, i, static_cast<Mask>(F{}(lane<First>(first, i), lane<Rest>(rest, i)...) ? ~Mask{0} : Mask{0}));
      } else {
        set_lane(result, i, F{}(lane<First>(first, i), lane<Rest>(rest, i)...));
      }
    }
  }
};

template <class F>
using LaneLoopOf = LaneLoop<F, decltype(+F{})>;

// A lane of the result is undefined where one of the operands' is.
template <class F>
constexpr Lanewise lanewise(F) {
  return {LaneLoopOf<F>::compute, LaneLoopOf<F>::bits};
}

// The same, but `undefined` says which bits are: it takes each operand's lane and that lane's undefined bits, in turn.
template <class F, class Undefined>
void act_precisely(Machine& machine, const Step& step) {
  static const Vreg all_defined{};
  const Vreg* values[kMaxOperands];
  const Vreg* both[2 * kMaxOperands];
  bool clean = true;
  for (int k = 0; k < step.operand_count; ++k) {
    const Vreg* bits = machine.vector_undefined(step.operand[k]);
    clean = clean && bits == nullptr;
    both[2 * k] = values[k] = &machine.vector(step.operand[k]);
    both[2 * k + 1] = bits == nullptr ? &all_defined : bits;
  }
  if (clean) {
    LaneLoopOf<F>::compute(values, machine.write_vector(step.result));
    return;
  }
  Vreg bits;
  LaneLoopOf<Undefined>::compute(both, bits);
  LaneLoopOf<F>::compute(values, machine.write_vector(step.result));
  machine.set_vector_undefined(step.result, bits);
}
template <class F, class Undefined>
constexpr Action precise(F, Undefined) {
  return {act_precisely<F, Undefined>, LaneLoopOf<F>::bits};
}

}  // namespace sapper::llo::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
