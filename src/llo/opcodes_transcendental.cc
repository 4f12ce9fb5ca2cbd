// The transcendental unit (EUP): functions whose results wait in its queue. `.pop` in a name stands for the pair that
// pushes and pops at once.
//
// The hardware's approximations are not known. Results are correctly rounded (computed in double, rounded once), and
// each row states an error bound, in units in the last place: MachineOptions::perturb_transcendentals moves every
// result by up to as much, always in the same way for the same function, operand and seed.
// foreach_target.h must come before what it compiles for each target.
// clang-format off
#include "eval/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "llo/opcodes_transcendental.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "llo/lanes-inl.h"
// clang-format on

#include "eval/float_math.h"
#include "llo/bfloat16.h"
#include "llo/result_queue.h"

HWY_BEFORE_NAMESPACE();
namespace sapper::llo::HWY_NAMESPACE {
namespace {

// Functions of f32 lanes.
constexpr auto exp2_f32 = [](float x) {
  const double bounded = eval::bounded(x, 300);  // where floats have long become 0 or infinity
  const double shifted = bounded + eval::rounding_shift;
  const double power = shifted - eval::rounding_shift;
  const double rest = (bounded - power) * 0x1.62e42fefa39efp-1;  // log(2)
  const double scale = std::bit_cast<double>((std::bit_cast<uint64_t>(shifted) + 1023) << 52);
  return static_cast<float>((1 + rest * eval::exp_slope(rest)) * scale);
};
constexpr auto log2_f32 = [](float x) {
  return static_cast<float>(eval::Log::wide(x) * 0x1.71547652b82fep0);  // 1 / log(2)
};
constexpr auto reciprocal_f32 = [](float x) { return static_cast<float>(1 / static_cast<double>(x)); };
constexpr auto reciprocal_root_f32 = [](float x) { return static_cast<float>(1 / std::sqrt(static_cast<double>(x))); };
constexpr auto tanh_f32 = [](float x) { return static_cast<float>(eval::Tanh::wide(x)); };
constexpr auto erf_f32 = [](float x) { return static_cast<float>(eval::Erf::wide(x)); };
constexpr auto sine_f32 = [](float x) { return static_cast<float>(eval::Sine::wide(x)); };
constexpr auto cosine_f32 = [](float x) { return static_cast<float>(eval::Cosine::wide(x)); };
constexpr auto power_f32 = [](float x, float y) { return static_cast<float>(eval::Power::wide(x, y)); };

// The same of packed bf16 lanes.
template <class F>
constexpr auto of_bfloat16 = [](uint16_t x) { return to_bfloat16(F{}(from_bfloat16(x))); };

// Moves finite results other than zero by up to `ulps`, not beyond the smallest and the largest normal number.
template <class Bits>
void perturb(uint64_t seed, int ulps, const Vreg* const* operands, int operand_count, Vreg& result) {
  constexpr Bits sign = Bits{1} << (sizeof(Bits) * 8 - 1);
  constexpr int mantissa = sizeof(Bits) == 4 ? 23 : 7;
  constexpr int64_t smallest = int64_t{1} << mantissa;
  constexpr int64_t largest = (int64_t{255} << mantissa) - 1;
  for (int i = 0; i < static_cast<int>(sizeof(Vreg) / sizeof(Bits)); ++i) {
    const auto bits = lane<Bits>(result, i);
    const int64_t magnitude = bits & ~sign;
    uint64_t hash = seed;
    for (int k = 0; k < operand_count; ++k) {
      hash = (hash ^ lane<Bits>(*operands[k], i)) * 0x9e3779b97f4a7c15;
      hash ^= hash >> 29;
    }
    const int64_t to = magnitude + static_cast<int64_t>(hash % (2 * static_cast<uint64_t>(ulps) + 1)) - ulps;
    const bool moves = magnitude >= smallest && magnitude <= largest && to >= smallest && to <= largest;
    if (moves) set_lane<Bits>(result, i, static_cast<Bits>(static_cast<Bits>(to) | (bits & sign)));
  }
}

template <class F, int ulps, class Bits>
Queued evaluate(const Machine& machine, const Step& step) {
  Queued result;
  const Vreg* operands[kMaxOperands];
  for (int k = 0; k < step.operand_count; ++k) {
    operands[k] = &machine.vector(step.operand[k]);
    if (const Vreg* undefined = machine.vector_undefined(step.operand[k])) {
      if (!result.undefined) result.undefined.emplace();
      for (int i = 0; i < static_cast<int>(sizeof(Vreg) / sizeof(Bits)); ++i)
        if (lane<Bits>(*undefined, i) != 0) set_lane<Bits>(*result.undefined, i, static_cast<Bits>(~Bits{0}));
    }
  }
  LaneLoopOf<F>::compute(operands, result.value);
  if (const uint64_t seed = machine.options().perturb_transcendentals)
    perturb<Bits>(seed, ulps, operands, step.operand_count, result.value);
  return result;
}

template <class F, int ulps, class Bits>
void push(Machine& machine, const Step& step) {
  push_result(machine, step, QueueKind::Transcendental, 0, evaluate<F, ulps, Bits>(machine, step));
}
template <class F, int ulps, class Bits>
void push_and_pop(Machine& machine, const Step& step) {
  const Queued result = evaluate<F, ulps, Bits>(machine, step);
  machine.write_vector(step.result) = result.value;
  if (result.undefined) machine.set_vector_undefined(step.result, *result.undefined);
}

template <class F, int ulps, class Bits>
constexpr Action to_queue{push<F, ulps, Bits>, sizeof(Bits) * 8};
template <class F, int ulps, class Bits>
constexpr Action at_once{push_and_pop<F, ulps, Bits>, sizeof(Bits) * 8};

// In units in the last place. Kernels refine reciprocals and roots by a step of Newton's method, which 12 bits allow.
constexpr int kRough = 1 << 11;
constexpr int kFine = 4;

void pop(Machine& machine, const Step& step) { pop_result(machine, step, QueueKind::Transcendental, 0); }

std::span<const OpcodeInfo> transcendental_rows() {
#define SAPPER_ROUGH " Error assumed: 2048 ulp."
#define SAPPER_FINE " Error assumed: 4 ulp."
#define SAPPER_PAIR(name, function, ulps, Bits, what)                                             \
  {name, "t = v", Unit::Transcendental, to_queue<function, ulps, Bits>, what " To the queue."}, { \
    name ".pop", "v = v", Unit::Transcendental, at_once<function, ulps, Bits>, what               \
  }
#define SAPPER_BOTH(name, function, ulps, what, error)                                  \
  SAPPER_PAIR(name ".f32", decltype(function), ulps, uint32_t, what " of f32." error),  \
      SAPPER_PAIR(name ".bf16", decltype(of_bfloat16<decltype(function)>), 1, uint16_t, \
                  what " of packed bf16. Error assumed: 1 ulp.")
  static const OpcodeInfo rows[] = {
      SAPPER_BOTH("vexp2", exp2_f32, kFine, "2^x", SAPPER_FINE),
      SAPPER_BOTH("vlog2", log2_f32, kFine, "The logarithm to base 2", SAPPER_FINE),
      SAPPER_BOTH("vrcp", reciprocal_f32, kRough, "1/x", SAPPER_ROUGH),
      SAPPER_BOTH("vrsqrt", reciprocal_root_f32, kRough, "1/sqrt(x)", SAPPER_ROUGH),
      SAPPER_BOTH("vtanh", tanh_f32, kFine, "The hyperbolic tangent", SAPPER_FINE),
      SAPPER_BOTH("verf", erf_f32, kFine, "The error function", SAPPER_FINE),
      SAPPER_BOTH("vsinq", sine_f32, kFine, "The sine (kernels reduce x to [-pi/4, pi/4] before)", SAPPER_FINE),
      SAPPER_BOTH("vcosq", cosine_f32, kFine, "The cosine (kernels reduce x to [-pi/4, pi/4] before)", SAPPER_FINE),
      {"vpow.f32", "v = v v", Unit::Transcendental, at_once<decltype(power_f32), kFine, uint32_t>,
       "x^y of f32; lowered to vlog2 and vexp2 later." SAPPER_FINE},
      {"vpow2.f32", "t = v", Unit::Transcendental, to_queue<decltype(exp2_f32), kFine, uint32_t>,
       "2^x of f32, to the queue, as older releases spell it." SAPPER_FINE},
      {"vpow.pop", "v = v", Unit::Transcendental, at_once<decltype(exp2_f32), kFine, uint32_t>,
       "2^x of f32: vexp2.f32.pop as older releases spell it." SAPPER_FINE},
      {"vlog2.pop", "v = v", Unit::Transcendental, at_once<decltype(log2_f32), kFine, uint32_t>,
       "vlog2.f32.pop as older releases spell it." SAPPER_FINE},
      {"vrcp.pop", "v = v", Unit::Transcendental, at_once<decltype(reciprocal_f32), kRough, uint32_t>,
       "vrcp.f32.pop as older releases spell it." SAPPER_ROUGH},
      {"vrsqrt.pop", "v = v", Unit::Transcendental, at_once<decltype(reciprocal_root_f32), kRough, uint32_t>,
       "vrsqrt.f32.pop as older releases spell it." SAPPER_ROUGH},
      {"vpop.erf|eup", "v = t?", Unit::Transcendental, Action{pop, /*lane_bits=*/32}, "The next result of the queue."},
  };
#undef SAPPER_BOTH
#undef SAPPER_PAIR
#undef SAPPER_FINE
#undef SAPPER_ROUGH
  return rows;
}

}  // namespace

std::span<const OpcodeInfo> choose_transcendental_rows() { return transcendental_rows(); }

}  // namespace sapper::llo::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sapper::llo {
HWY_EXPORT(choose_transcendental_rows);
std::span<const OpcodeInfo> transcendental_opcodes() { return HWY_DYNAMIC_DISPATCH(choose_transcendental_rows)(); }
}  // namespace sapper::llo
#endif
