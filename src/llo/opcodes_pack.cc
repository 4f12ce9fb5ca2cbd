// Packing narrow lanes into words and unpacking them. `c`, compact: a register of w-bit lanes holds logical rows, 32/w
// of them to a sublane (packing-inl.h). `i`, interleaved: the halves of a word are the same row of two registers.
// foreach_target.h must come before what it compiles for each target.
// clang-format off
#include "eval/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "llo/opcodes_pack.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "llo/lanes-inl.h"
#include "llo/packing-inl.h"
// clang-format on

#include <fmt/format.h>

#include <algorithm>

#include "llo/bfloat16.h"
#include "llo/narrow_float.h"

HWY_BEFORE_NAMESPACE();
namespace sapper::llo::HWY_NAMESPACE {
namespace {

constexpr uint32_t low_bytes = 0x00ff00ff;  // of a word's 16-bit lanes

// Lanes that are undefined in part, made undefined as a whole.
constexpr auto whole_lanes = [](uint32_t bits) { return bits != 0 ? ~uint32_t{0} : 0; };

// A number made narrow, and which bits of that are undefined when those of `undefined` are.
struct RoundedBfloat16 {
  static uint32_t narrow(uint32_t bits) { return to_bfloat16(std::bit_cast<float>(bits)); }
  // Nothing is rounded where the lower half is zero: the upper half stays, that of a NaN too. v4 packs bytes so, those
  // of rows that nobody wrote beside others. Else a carry may reach every bit.
  static uint32_t undefined(uint32_t bits, uint32_t undefined) {
    const uint32_t half = ((bits | undefined) & 0xffff) == 0 ? undefined >> 16 : whole_lanes(undefined);
    return half & 0xffff;
  }
};
template <class Format>
struct RoundedToFormat {
  static uint32_t narrow(uint32_t bits) { return Format::template encode<Overflow::Special>(bits); }
  static uint32_t undefined(uint32_t /*bits*/, uint32_t undefined) { return whole_lanes(undefined); }
};

template <int width>
void pack(const Machine&, const Step&, const Vreg* const* operands, Vreg& result) {
  pack_compact<width>(*operands[0], *operands[1], result);
}

// Packs two registers of f32, each number made narrow.
template <class Rounded>
void pack_rounded(Machine& machine, const Step& step) {
  static const Vreg all_defined{};
  const Vreg* values[] = {&machine.vector(step.operand[0]), &machine.vector(step.operand[1])};
  const Vreg* undefined[] = {machine.vector_undefined(step.operand[0]), machine.vector_undefined(step.operand[1])};
  Vreg result;
  pack_compact<32>(*values[0], *values[1], result, [](uint32_t bits) { return Rounded::narrow(bits); });
  if (undefined[0] == nullptr && undefined[1] == nullptr) {
    machine.write_vector(step.result) = result;
    return;
  }
  Vreg narrow[2];
  for (int k = 0; k < 2; ++k) {
    const Vreg& bits = undefined[k] == nullptr ? all_defined : *undefined[k];
    for (int i = 0; i < kVregWords; ++i) narrow[k].word[i] = Rounded::undefined(values[k]->word[i], bits.word[i]);
  }
  Vreg undefined_result;
  pack_compact<32>(narrow[0], narrow[1], undefined_result);
  machine.write_vector(step.result) = result;
  machine.set_vector_undefined(step.result, undefined_result);
}

// The third operand describes the format. Its encoding is not known, only these two of its values.
void pack_described(Machine& machine, const Step& step) {
  constexpr uint32_t e4m3 = 0xf15c;
  constexpr uint32_t e5m2 = 0xe195;
  const uint32_t description = machine.decisive(step, step.operand[2], "the format of a conversion");
  if (description == e4m3) {
    pack_rounded<RoundedToFormat<FloatE4M3>>(machine, step);
  } else if (description == e5m2) {
    pack_rounded<RoundedToFormat<FloatE5M2>>(machine, step);
  } else {
    machine.fail_with({ErrorKind::Unsupported, fmt::format("vpack.c.f32.eXmY of format {:#x}", description)});
  }
}

// Which of the `parts` pieces an unpack takes: its first choice; u and h both name the upper half.
template <int parts>
int part_of(const Step& step) {
  return std::min<int>(step.choice[0], parts - 1);
}

template <int width, int to, bool sign>
void unpack(const Machine&, const Step& step, const Vreg* const* operands, Vreg& result) {
  unpack_compact<width, to, sign>(*operands[0], part_of<to / width>(step), result);
}

// bf16 is the upper half of an f32.
void widen_bfloat16(const Machine&, const Step& step, const Vreg* const* operands, Vreg& result) {
  unpack_compact<16, 32, false>(*operands[0], part_of<2>(step), result);
  for (uint32_t& word : result.word) word <<= 16;
}

template <int first_bit>
void extend_half(const Machine&, const Step&, const Vreg* const* operands, Vreg& result) {
  for (int i = 0; i < kVregWords; ++i)
    result.word[i] = static_cast<uint32_t>(static_cast<int32_t>(operands[0]->word[i] << (16 - first_bit)) >> 16);
}

// Unpacks lanes of `width` bits, then converts each.
template <int width, int to, bool sign, class Convert>
void act_unpack_converted(Machine& machine, const Step& step) {
  using Lane = LaneBits<to / 8>;
  const auto convert = [&](const Vreg& from, Vreg& result, auto each) {
    unpack_compact<width, to, sign>(from, part_of<to / width>(step), result);
    for (int i = 0; i < kVregWords * lanes_per_word<to>; ++i) set_lane<Lane>(result, i, each(lane<Lane>(result, i)));
  };
  const Vreg* undefined = machine.vector_undefined(step.operand[0]);
  Vreg bits;
  if (undefined != nullptr)
    convert(*undefined, bits, [](Lane lane) { return static_cast<Lane>(lane != 0 ? ~Lane{0} : 0); });
  Vreg result;
  convert(machine.vector(step.operand[0]), result, [](Lane lane) { return static_cast<Lane>(Convert{}(lane)); });
  machine.write_vector(step.result) = result;
  if (undefined != nullptr) machine.set_vector_undefined(step.result, bits);
}
template <int width, int to, bool sign, class Convert>
constexpr Action unpack_converted(Convert) {
  return {.act = act_unpack_converted<width, to, sign, Convert>, .moves = unpack<width, to, sign>};
}

// Sublane s takes lane s mod (32 / width) of its own word: rows of a load that gave each packed row to as many
// sublanes.
template <int width, bool sign>
void unpack_in_place(const Machine&, const Step&, const Vreg* const* operands, Vreg& result) {
  for (int sublane = 0; sublane < kSublanes; ++sublane) {
    const int left = 32 - width - sublane % lanes_per_word<width> * width;
    for (int i = sublane * kLanes; i < (sublane + 1) * kLanes; ++i) {
      const uint32_t top = operands[0]->word[i] << left;
      result.word[i] = sign ? static_cast<uint32_t>(static_cast<int32_t>(top) >> (32 - width)) : top >> (32 - width);
    }
  }
}

// The same, then converts each.
template <class Convert>
void act_unpack_in_place_converted(Machine& machine, const Step& step) {
  Vreg result;
  const Vreg* operand = &machine.vector(step.operand[0]);
  unpack_in_place<8, false>(machine, step, &operand, result);
  for (uint32_t& word : result.word) word = Convert{}(word);
  const Vreg* undefined = machine.vector_undefined(step.operand[0]);
  Vreg bits;
  if (undefined != nullptr) {
    unpack_in_place<8, false>(machine, step, &undefined, bits);
    for (uint32_t& word : bits.word) word = whole_lanes(word);
  }
  machine.write_vector(step.result) = result;
  if (undefined != nullptr) machine.set_vector_undefined(step.result, bits);
}
template <class Convert>
constexpr Action unpack_in_place_converted(Convert) {
  return {.act = act_unpack_in_place_converted<Convert>, .moves = unpack_in_place<8, false>};
}

// The low parts of words, packed into the first sublanes.
template <int width>
void pack_in_place(const Machine&, const Step&, const Vreg* const* operands, Vreg& result) {
  static const Vreg zeros{};
  Vreg half;
  Vreg& first = width == 16 ? result : half;
  pack_compact<32>(zeros, *operands[0], first);
  if constexpr (width == 8) pack_compact<16>(zeros, half, result);
}

constexpr auto bfloat16_of_integer = [](uint16_t lane) {
  return to_bfloat16(static_cast<float>(static_cast<int16_t>(lane)));
};

std::span<const OpcodeInfo> pack_rows() {
  static const OpcodeInfo rows[] = {
      {"vpack.c.(b32).b16", "v = v v", Unit::Vector, Movement{pack<32>},
       "The low halves of words, packed: rows 8-15 from the first operand, 0-7 from the second."},
      {"vpack.c.(b16).b8", "v = v v", Unit::Vector, Movement{pack<16>},
       "The low bytes of packed 16-bit lanes: rows 16-31 from the first operand, 0-15 from the second."},
      {"vpack.c.b8.b4", "v = v v", Unit::Vector, Movement{pack<8>},
       "The low nibbles of packed bytes: rows 32-63 from the first operand, 0-31 from the second."},
      {"vpack.c.(f32).bf16", "v = v v", Unit::Vector, Action{.act = pack_rounded<RoundedBfloat16>, .moves = pack<32>},
       "f32 rounded to bf16 (nearest even, subnormals and the upper halves of NaN as they are: v4 packs bytes this "
       "way), packed: rows 8-15 from the first operand, 0-7 from the second."},
      {"vpack.c.f32.eXmY", "v = v v s", Unit::Vector, Action{.act = pack_described, .moves = pack<32>},
       "f32 rounded to an 8-bit float in the low half of 16-bit lanes, packed as by vpack.c.f32.bf16. The third "
       "operand "
       "describes the format: 0xf15c is f8e4m3fn, 0xe195 f8e5m2 (from tpu7x's use); beyond the range as HLO's convert "
       "(assumed)."},
      {"vpack.i.b32.b16", "v = v v", Unit::Vector,
       precise([](uint32_t high, uint32_t low) { return high << 16 | (low & 0xffff); },
               [](uint32_t, uint32_t high, uint32_t, uint32_t low) { return high << 16 | (low & 0xffff); }),
       "The low halves of two registers' words: the first operand's above, the second's below."},
      {"vpack.i.b16.b8", "v = v v", Unit::Vector,
       precise(
           [](uint32_t high, uint32_t low) { return (high & low_bytes) << 8 | (low & low_bytes); },
           [](uint32_t, uint32_t high, uint32_t, uint32_t low) { return (high & low_bytes) << 8 | (low & low_bytes); }),
       "The low bytes of two registers' 16-bit lanes: the first operand's above, the second's below (the order as of "
       "vpack.i.b32.b16; kernels are seen to give it the same register twice)."},
      {"vpack.i.f32.bf16", "v = v v", Unit::Vector,
       precise([](uint32_t high,
                  uint32_t low) { return RoundedBfloat16::narrow(high) << 16 | RoundedBfloat16::narrow(low); },
               [](uint32_t high, uint32_t high_undefined, uint32_t low, uint32_t low_undefined) {
                 return RoundedBfloat16::undefined(high, high_undefined) << 16 |
                        RoundedBfloat16::undefined(low, low_undefined);
               }),
       "f32 rounded to bf16 (nearest even): the first operand in the upper halves, the second in the lower ones."},

      {"vunpack.c.l|u|h.s16|b16.(s32).(s16)", "v = v", Unit::Vector, Movement{unpack<16, 32, true>},
       "Packed 16-bit integers as words, signed: rows 0-7 (l) or 8-15 (u, h)."},
      {"vunpack.c.l|u|h.u16.u32|s32.(u16)", "v = v", Unit::Vector, Movement{unpack<16, 32, false>},
       "Packed 16-bit integers as words, unsigned: rows 0-7 (l) or 8-15 (u, h)."},
      {"vunpack.c.0|1|2|3.s8.s32.(s8|s4)", "v = v", Unit::Vector, Movement{unpack<8, 32, true>},
       "Packed bytes as words, signed: rows 8k to 8k+7."},
      {"vunpack.c.0|1|2|3.u8.u32|s32.(u8)", "v = v", Unit::Vector, Movement{unpack<8, 32, false>},
       "Packed bytes as words, unsigned: rows 8k to 8k+7."},
      {"vunpack.c.l|u|h.s8.s16.(s8)", "v = v", Unit::Vector, Movement{unpack<8, 16, true>},
       "Packed bytes as packed 16-bit integers, signed: rows 0-15 (l) or 16-31 (u, h)."},
      {"vunpack.c.l|u|h.s4.(s8).(s4)", "v = v", Unit::Vector, Movement{unpack<4, 8, true>},
       "Packed nibbles as packed bytes, signed: rows 0-31 (l) or 32-63 (u, h)."},
      {"vunpack.c.l|u|h.u4.(u8).(u4)", "v = v", Unit::Vector, Movement{unpack<4, 8, false>},
       "Packed nibbles as packed bytes, unsigned: rows 0-31 (l) or 32-63 (u, h)."},
      {"vunpack.c.l|u|h.bf16.(f32)", "v = v", Unit::Vector, Movement{widen_bfloat16},
       "Packed bf16 as f32: rows 0-7 (l) or 8-15 (u, h)."},
      {"vunpack.c.l|u|h.s8.bf16", "v = v", Unit::Vector, unpack_converted<8, 16, true>(bfloat16_of_integer),
       "Packed signed bytes as packed bf16: rows 0-15 (l) or 16-31 (u, h)."},
      {"vunpack.c.0|1|2|3.if8|f8e4m3b11.(f32)", "v = v", Unit::Vector,
       unpack_converted<8, 32, false>([](uint32_t bits) { return FloatE4M3B11::decode(bits); }),
       "Packed f8e4m3b11fnuz as f32: rows 8k to 8k+7."},
      {"vunpack.c.0|1|2|3.e4m3.f32", "v = v", Unit::Vector,
       unpack_converted<8, 32, false>([](uint32_t bits) { return FloatE4M3::decode(bits); }),
       "Packed f8e4m3fn as f32: rows 8k to 8k+7."},
      {"vunpack.c.l|u|h.hf16.(f32)", "v = v", Unit::Vector,
       unpack_converted<16, 32, false>([](uint32_t bits) { return Float16::decode(bits); }),
       "Packed f16 as f32: rows 0-7 (l) or 8-15 (u, h)."},
      {"vunpack.c.0|1|2|3.e5m2|f8e5m2|bf8.(f32)", "v = v", Unit::Vector,
       unpack_converted<8, 32, false>([](uint32_t bits) { return FloatE5M2::decode(bits); }),
       "Packed f8e5m2 as f32: rows 8k to 8k+7."},
      {"vpack.pseudo.s8|u8|pred", "v = v", Unit::Pseudo, Movement{pack_in_place<8>},
       "The low bytes of 8 rows of words, packed into sublanes 0 and 1 (compact), zeros elsewhere; lowered later."},
      {"vpack.pseudo.s16|u16", "v = v", Unit::Pseudo, Movement{pack_in_place<16>},
       "The low halves of 8 rows of words, packed into sublanes 0 to 3 (compact), zeros elsewhere; lowered later."},
      {"vunpack.pseudo.s8", "v = v", Unit::Pseudo, Movement{unpack_in_place<8, true>},
       "In sublane s byte s mod 4 of each word, signed; lowered later."},
      {"vunpack.pseudo.u8|pred", "v = v", Unit::Pseudo, Movement{unpack_in_place<8, false>},
       "In sublane s byte s mod 4 of each word, unsigned; lowered later."},
      {"vunpack.pseudo.f8e4m3fn", "v = v", Unit::Pseudo,
       unpack_in_place_converted([](uint32_t bits) { return FloatE4M3::decode(bits); }),
       "In sublane s byte s mod 4 of each word, an f8e4m3fn, as f32; lowered later."},
      {"vunpack.pseudo.f8e5m2", "v = v", Unit::Pseudo,
       unpack_in_place_converted([](uint32_t bits) { return FloatE5M2::decode(bits); }),
       "In sublane s byte s mod 4 of each word, an f8e5m2, as f32; lowered later."},
      {"vunpack.pseudo.s16", "v = v", Unit::Pseudo, Movement{unpack_in_place<16, true>},
       "In sublane s half s mod 2 of each word, signed; lowered later."},
      {"vunpack.pseudo.u16", "v = v", Unit::Pseudo, Movement{unpack_in_place<16, false>},
       "In sublane s half s mod 2 of each word, unsigned; lowered later."},
      {"vunpack.i.l.s16.s32.(s16)", "v = v", Unit::Vector, Movement{extend_half<0>},
       "The lower halves of words, signed."},
      {"vunpack.i.u|h.s16.s32.(s16)", "v = v", Unit::Vector, Movement{extend_half<16>},
       "The upper halves of words, signed."},
      {"vunpack.i.l.bf16.(f32)", "v = v", Unit::Vector,
       precise([](uint32_t x) { return x << 16; }, [](uint32_t, uint32_t undefined) { return undefined << 16; }),
       "The bf16 in the lower halves of words as f32."},
      {"vunpack.i.u|h.bf16.(f32)", "v = v", Unit::Vector,
       precise([](uint32_t x) { return x & 0xffff0000; },
               [](uint32_t, uint32_t undefined) { return undefined & 0xffff0000; }),
       "The bf16 in the upper halves of words as f32."},
  };
  return rows;
}

}  // namespace

std::span<const OpcodeInfo> choose_pack_rows() { return pack_rows(); }

}  // namespace sapper::llo::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sapper::llo {
HWY_EXPORT(choose_pack_rows);
std::span<const OpcodeInfo> pack_opcodes() { return HWY_DYNAMIC_DISPATCH(choose_pack_rows)(); }
}  // namespace sapper::llo
#endif
