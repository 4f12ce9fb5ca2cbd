// Scalar unit: integers, floats, compares, selects, predicates, addresses (scalar_lea, int_to_ptr).
#include <bit>
#include <cmath>

#include "llo/isa.h"
#include "llo/machine.h"
#include "llo/result_queue.h"

namespace sapper::llo {
namespace {

constexpr uint32_t kAllBits = ~uint32_t{0};

// A result that depends on every bit of both operands.
template <uint32_t (*compute)(uint32_t, uint32_t)>
void binary(Machine& machine, const Step& step) {
  const Slot a = step.operand[0];
  const Slot b = step.operand[1];
  const bool undefined = (machine.scalar_undefined(a) | machine.scalar_undefined(b)) != 0;
  machine.set_scalar(step.result, compute(machine.scalar(a), machine.scalar(b)), undefined ? kAllBits : 0);
}

uint32_t add(uint32_t a, uint32_t b) { return a + b; }
uint32_t subtract(uint32_t a, uint32_t b) { return a - b; }
uint32_t multiply(uint32_t a, uint32_t b) { return a * b; }
uint32_t multiply_high(uint32_t a, uint32_t b) { return static_cast<uint32_t>(uint64_t{a} * b >> 32); }
uint32_t multiply_low_24(uint32_t a, uint32_t b) { return (a & 0xffffff) * (b & 0xffffff); }
// Division by zero gives what RISC cores give; nothing is known of the hardware's.
uint32_t divide(uint32_t a, uint32_t b) { return b == 0 ? kAllBits : a / b; }
uint32_t remainder(uint32_t a, uint32_t b) { return b == 0 ? a : a % b; }

void divide_for_pops(Machine& machine, const Step& step) {
  const Slot a = step.operand[0];
  const Slot b = step.operand[1];
  const bool undefined = (machine.scalar_undefined(a) | machine.scalar_undefined(b)) != 0;
  for (const auto compute : {divide, remainder}) {
    Queued queued;
    queued.value.word[0] = compute(machine.scalar(a), machine.scalar(b));
    if (undefined) queued.undefined.emplace().word[0] = kAllBits;
    push_result(machine, step, QueueKind::Division, 0, queued);
  }
}
void pop_division(Machine& machine, const Step& step) { pop_scalar(machine, step, QueueKind::Division); }

uint32_t min_signed(uint32_t a, uint32_t b) { return static_cast<int32_t>(a) < static_cast<int32_t>(b) ? a : b; }
uint32_t max_signed(uint32_t a, uint32_t b) { return static_cast<int32_t>(a) > static_cast<int32_t>(b) ? a : b; }
uint32_t min_unsigned(uint32_t a, uint32_t b) { return a < b ? a : b; }
uint32_t max_unsigned(uint32_t a, uint32_t b) { return a > b ? a : b; }

template <float (*compute)(float, float)>
uint32_t on_floats(uint32_t a, uint32_t b) {
  return std::bit_cast<uint32_t>(compute(std::bit_cast<float>(a), std::bit_cast<float>(b)));
}
float add_floats(float a, float b) { return a + b; }
float subtract_floats(float a, float b) { return a - b; }
float multiply_floats(float a, float b) { return a * b; }
float min_floats(float a, float b) { return std::isnan(a) || std::isnan(b) ? NAN : std::fmin(a, b); }
float max_floats(float a, float b) { return std::isnan(a) || std::isnan(b) ? NAN : std::fmax(a, b); }

enum class Logic { And, Or, Xor };

template <Logic logic>
void bitwise(Machine& machine, const Step& step) {
  const uint32_t a = machine.scalar(step.operand[0]);
  const uint32_t b = machine.scalar(step.operand[1]);
  const uint32_t a_undefined = machine.scalar_undefined(step.operand[0]);
  const uint32_t b_undefined = machine.scalar_undefined(step.operand[1]);
  uint32_t undefined = a_undefined | b_undefined;
  if constexpr (logic == Logic::And) {
    undefined &= (a | a_undefined) & (b | b_undefined);
    machine.set_scalar(step.result, a & b, undefined);
  } else if constexpr (logic == Logic::Or) {
    undefined &= (~a | a_undefined) & (~b | b_undefined);
    machine.set_scalar(step.result, a | b, undefined);
  } else {
    machine.set_scalar(step.result, a ^ b, undefined);
  }
}

uint32_t shift_left(uint32_t a, uint32_t n) { return n < 32 ? a << n : 0; }
uint32_t shift_left_ones(uint32_t a, uint32_t n) { return n < 32 ? (a << n) | ((uint32_t{1} << n) - 1) : kAllBits; }
uint32_t shift_right(uint32_t a, uint32_t n) { return n < 32 ? a >> n : 0; }
uint32_t shift_right_signed(uint32_t a, uint32_t n) {
  return static_cast<uint32_t>(static_cast<int32_t>(a) >> (n < 32 ? n : 31));
}

// `shift_undefined` moves the undefined bits as `shift` moves the others, with what comes in defined.
template <uint32_t (*shift)(uint32_t, uint32_t), uint32_t (*shift_undefined)(uint32_t, uint32_t) = shift>
void shifted(Machine& machine, const Step& step) {
  const uint32_t a = machine.scalar(step.operand[0]);
  const uint32_t n = machine.scalar(step.operand[1]);
  const bool lost = machine.scalar_undefined(step.operand[1]) != 0;
  machine.set_scalar(step.result, shift(a, n),
                     lost ? kAllBits : shift_undefined(machine.scalar_undefined(step.operand[0]), n));
}

void move(Machine& machine, const Step& step) {
  const Slot from = step.operand[step.operand_count - 1];
  machine.set_scalar(step.result, machine.scalar(from), machine.scalar_undefined(from));
}

void select(Machine& machine, const Step& step) {
  const Slot predicate = step.operand[0];
  const Slot on_true = step.operand[1];
  const Slot on_false = step.operand[2];
  const Slot chosen = machine.predicate(predicate) ? on_true : on_false;
  uint32_t undefined = machine.scalar_undefined(chosen);
  if (machine.predicate_undefined(predicate)) {
    undefined = machine.scalar_undefined(on_true) | machine.scalar_undefined(on_false) |
                (machine.scalar(on_true) ^ machine.scalar(on_false));
  }
  machine.set_scalar(step.result, machine.scalar(chosen), undefined);
}

// --- compares; choice 0 is the relation
template <class T>
bool related(uint16_t relation, T a, T b) {
  switch (relation) {
    case 0: return a == b;
    case 1: return a != b;
    case 2: return a < b;
    case 3: return a <= b;
    case 4: return a > b;
    default: return a >= b;
  }
}

template <class T>
void compare(Machine& machine, const Step& step) {
  const Slot a = step.operand[0];
  const Slot b = step.operand[1];
  machine.set_predicate(
      step.result, related(step.choice[0], std::bit_cast<T>(machine.scalar(a)), std::bit_cast<T>(machine.scalar(b))),
      (machine.scalar_undefined(a) | machine.scalar_undefined(b)) != 0);
}

void is_not_finite(Machine& machine, const Step& step) {
  const Slot a = step.operand[0];
  machine.set_predicate(step.result, !std::isfinite(std::bit_cast<float>(machine.scalar(a))),
                        machine.scalar_undefined(a) != 0);
}

// --- conversions
void to_float(Machine& machine, const Step& step) {
  const Slot a = step.operand[0];
  const auto value = static_cast<float>(static_cast<int32_t>(machine.scalar(a)));
  machine.set_scalar(step.result, std::bit_cast<uint32_t>(value), machine.scalar_undefined(a) != 0 ? kAllBits : 0);
}

void to_integer(Machine& machine, const Step& step) {
  const Slot a = step.operand[0];
  const auto value = std::bit_cast<float>(machine.scalar(a));
  int32_t result = 0;
  if (value >= 0x1p31F) {
    result = INT32_MAX;
  } else if (value < -0x1p31F) {
    result = INT32_MIN;
  } else if (!std::isnan(value)) {
    result = static_cast<int32_t>(value);
  }
  machine.set_scalar(step.result, static_cast<uint32_t>(result), machine.scalar_undefined(a) != 0 ? kAllBits : 0);
}

void count_leading_zeros(Machine& machine, const Step& step) {
  const Slot a = step.operand[0];
  machine.set_scalar(step.result, static_cast<uint32_t>(std::countl_zero(machine.scalar(a))),
                     machine.scalar_undefined(a) != 0 ? kAllBits : 0);
}

void count_ones(Machine& machine, const Step& step) {
  const Slot a = step.operand[0];
  machine.set_scalar(step.result, static_cast<uint32_t>(std::popcount(machine.scalar(a))),
                     machine.scalar_undefined(a) != 0 ? kAllBits : 0);
}

// --- predicates. A result that one operand alone decides is defined by it.
enum class PredicateLogic { And, Or, Nand, Nor, Xor };

template <PredicateLogic logic>
void combine(Machine& machine, const Step& step) {
  const bool a = machine.predicate(step.operand[0]);
  const bool b = machine.predicate(step.operand[1]);
  const bool a_undefined = machine.predicate_undefined(step.operand[0]);
  const bool b_undefined = machine.predicate_undefined(step.operand[1]);
  bool undefined = a_undefined || b_undefined;
  bool value = false;
  if constexpr (logic == PredicateLogic::And || logic == PredicateLogic::Nand) {
    value = a && b;
    undefined = undefined && (a || a_undefined) && (b || b_undefined);
  } else if constexpr (logic == PredicateLogic::Or || logic == PredicateLogic::Nor) {
    value = a || b;
    undefined = undefined && (!a || a_undefined) && (!b || b_undefined);
  } else {
    value = a != b;
  }
  if constexpr (logic == PredicateLogic::Nand || logic == PredicateLogic::Nor) value = !value;
  machine.set_predicate(step.result, value, undefined);
}

void negate(Machine& machine, const Step& step) {
  machine.set_predicate(step.result, !machine.predicate(step.operand[0]), machine.predicate_undefined(step.operand[0]));
}

void move_predicate(Machine& machine, const Step& step) {
  const Slot from = step.operand[step.operand_count - 1];
  machine.set_predicate(step.result, machine.predicate(from), machine.predicate_undefined(from));
}

constexpr OpcodeInfo kOpcodes[] = {
    {"sadd.s32", "s = s s", Unit::Scalar, Action{binary<add>}, "a + b, modulo 2^32."},
    {"ssub.s32", "s = s s", Unit::Scalar, Action{binary<subtract>}, "a - b, modulo 2^32."},
    {"smul.u32|addr", "s = s s", Unit::Scalar, Action{binary<multiply>}, "a * b, modulo 2^32."},
    {"smulhi.u32", "s = s s", Unit::Scalar, Action{binary<multiply_high>}, "The upper 32 bits of a * b."},
    {"smul.u24", "s = s s", Unit::Scalar, Action{binary<multiply_low_24>},
     "The low 24 bits of a times those of b, modulo 2^32."},
    {"sdiv.u32.pop", "s = s s", Unit::Scalar, Action{binary<divide>}, "a / b, unsigned, rounded down."},
    {"srem.u32.pop", "s = s s", Unit::Scalar, Action{binary<remainder>}, "a mod b, unsigned."},
    {"sdivrem.u32", "t = s s", Unit::Scalar, Action{divide_for_pops},
     "Sends a / b, unsigned, rounded down, and then a mod b to spop.drf."},
    {"spop.drf", "s = t?", Unit::Scalar, Action{pop_division}, "The next word that sdivrem sent."},
    {"smin.s32", "s = s s", Unit::Scalar, Action{binary<min_signed>}, "The smaller of a and b, signed."},
    {"smax.s32", "s = s s", Unit::Scalar, Action{binary<max_signed>}, "The larger of a and b, signed."},
    {"smin.u32", "s = s s", Unit::Scalar, Action{binary<min_unsigned>}, "The smaller of a and b, unsigned."},
    {"smax.u32", "s = s s", Unit::Scalar, Action{binary<max_unsigned>}, "The larger of a and b, unsigned."},
    {"sadd.f32", "s = s s", Unit::Scalar, Action{binary<on_floats<add_floats>>}, "a + b in f32."},
    {"ssub.f32", "s = s s", Unit::Scalar, Action{binary<on_floats<subtract_floats>>}, "a - b in f32."},
    {"smul.f32", "s = s s", Unit::Scalar, Action{binary<on_floats<multiply_floats>>}, "a * b in f32."},
    {"smin.f32", "s = s s", Unit::Scalar, Action{binary<on_floats<min_floats>>},
     "The smaller of a and b; NaN if one is."},
    {"smax.f32", "s = s s", Unit::Scalar, Action{binary<on_floats<max_floats>>},
     "The larger of a and b; NaN if one is."},
    {"sand.u32", "s = s s", Unit::Scalar, Action{bitwise<Logic::And>}, "a and b, bit by bit."},
    {"sor.u32", "s = s s", Unit::Scalar, Action{bitwise<Logic::Or>}, "a or b, bit by bit."},
    {"sxor.u32", "s = s s", Unit::Scalar, Action{bitwise<Logic::Xor>}, "a exclusive-or b, bit by bit."},
    {"sshll.u32", "s = s s", Unit::Scalar, Action{shifted<shift_left>}, "a << b; 0 for b of 32 and more."},
    {"sshllo.u32", "s = s s", Unit::Scalar, Action{shifted<shift_left_ones, shift_left>},
     "a << b with ones shifted in; all ones for b of 32 and more."},
    {"sshrl.u32", "s = s s", Unit::Scalar, Action{shifted<shift_right>},
     "a >> b, zeros shifted in; 0 for b of 32 and more."},
    {"sshra.s32", "s = s s", Unit::Scalar, Action{shifted<shift_right_signed>},
     "a >> b, copies of the sign shifted in."},
    {"sclz.u32", "s = s", Unit::Scalar, Action{count_leading_zeros}, "How many zeros a starts with; 32 for 0."},
    {"spcnt.u32", "s = s", Unit::Scalar, Action{count_ones}, "How many bits of a are set."},
    {"smov.(u32|f32|s32)", "s = s s?", Unit::Scalar, Action{move},
     "The last operand. `smov (p, old), new` is p ? new : old."},
    {"scalar_select", "s = p s s", Unit::Scalar, Action{select}, "p ? a : b."},
    {"scmp.eq|ne|lt|le|gt|ge.s32.totalorder", "p = s s", Unit::Scalar, Action{compare<int32_t>},
     "Compares a with b, signed."},
    {"scmp.eq|ne|lt|le|gt|ge.u32.totalorder", "p = s s", Unit::Scalar, Action{compare<uint32_t>},
     "Compares a with b, unsigned."},
    {"scmp.eq|ne|lt|le|gt|ge.f32.partialorder", "p = s s", Unit::Scalar, Action{compare<float>},
     "Compares a with b in f32; with a NaN only ne holds."},
    {"sweird.f32", "p = s", Unit::Scalar, Action{is_not_finite}, "Whether a is an infinity or NaN."},
    {"scvt.s32.f32", "s = s", Unit::Scalar, Action{to_float}, "The signed integer a as f32, rounded to nearest even."},
    {"scvt.f32.s32", "s = s", Unit::Scalar, Action{to_integer},
     "The f32 a as a signed integer, towards zero, saturating; 0 for NaN."},
    {"pand", "p = p p", Unit::Scalar, Action{combine<PredicateLogic::And>}, "a and b."},
    {"por", "p = p p", Unit::Scalar, Action{combine<PredicateLogic::Or>}, "a or b."},
    {"pnand", "p = p p", Unit::Scalar, Action{combine<PredicateLogic::Nand>}, "not (a and b)."},
    {"pnor", "p = p p", Unit::Scalar, Action{combine<PredicateLogic::Nor>}, "not (a or b)."},
    {"pxor", "p = p p", Unit::Scalar, Action{combine<PredicateLogic::Xor>}, "a differs from b."},
    {"pneg", "p = p", Unit::Scalar, Action{negate}, "not a."},
    {"pmov", "p = p p?", Unit::Scalar, Action{move_predicate},
     "The last operand. `pmov (p), old, new` has a guard: where it is false, old stays."},
    {"scalar_lea.hbm|vmem|smem|cmem|sflag", "s = s s x?", Unit::Scalar, Action{binary<add>},
     "The address b units of the space after a. A third operand names the allocation and means nothing."},
    {"int_to_ptr.hbm|vmem|smem|cmem|sflag|sparse_core_sequencer_sflag", "s = s", Unit::Pseudo, NoEffect{},
     "a, as an address of the space."},
};

}  // namespace

std::span<const OpcodeInfo> scalar_opcodes() { return kOpcodes; }

}  // namespace sapper::llo
