// Masks: logic, constants, packing, selects by mask. A mask is a register of all ones where set, so that masks of
// packed lanes are nothing special.
// foreach_target.h must come before what it compiles for each target.
// clang-format off
#include "eval/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "llo/opcodes_mask.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep

#include "llo/lanes-inl.h"
#include "llo/packing-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace sapper::llo::HWY_NAMESPACE {
namespace {

// Whether `at` lies in first..last, which may go around the end.
bool within(uint32_t at, uint32_t first, uint32_t last) {
  return first <= last ? first <= at && at <= last : first <= at || at <= last;
}

void rectangle(Machine& machine, const Step& step) {
  const uint32_t code = machine.decisive(step, step.operand[0], "the rectangle of a mask");
  const auto field = [&](int begin, int bits) { return code >> begin & ((1U << bits) - 1); };
  Vreg& result = machine.write_vector(step.result);
  for (uint32_t sublane = 0; sublane < kSublanes; ++sublane) {
    const bool in_sublanes = within(sublane, field(0, 3), field(10, 3));
    for (uint32_t lane = 0; lane < kLanes; ++lane)
      result.word[sublane * kLanes + lane] = in_sublanes && within(lane, field(3, 7), field(13, 7)) ? ~uint32_t{0} : 0;
  }
}

// Thresholds of both halves of a word, in half sublanes.
uint32_t below_thresholds(uint32_t thresholds, uint32_t sublane) {
  const uint32_t low = 2 * sublane < (thresholds & 0xffff) ? 0xffff : 0;
  const uint32_t high = 2 * sublane + 1 < thresholds >> 16 ? 0xffff0000 : 0;
  return low | high;
}

void first_sublanes(Machine& machine, const Step& step) {
  const Vreg thresholds = machine.vector(step.operand[0]);
  const Vreg* undefined = machine.vector_undefined(step.operand[0]);
  Vreg bits;
  if (undefined != nullptr)
    for (int i = 0; i < kVregWords; ++i)
      bits.word[i] =
          ((undefined->word[i] & 0xffff) != 0 ? 0xffff : 0) | ((undefined->word[i] & 0xffff0000) != 0 ? 0xffff0000 : 0);
  Vreg& result = machine.write_vector(step.result);
  for (int i = 0; i < kVregWords; ++i)
    result.word[i] = below_thresholds(thresholds.word[i], static_cast<uint32_t>(i / kLanes));
  if (undefined != nullptr) machine.set_vector_undefined(step.result, bits);
}

void copy_mask(const Machine&, const Step&, const Vreg* const* operands, Vreg& result) { result = *operands[0]; }

void pack_masks(const Machine&, const Step&, const Vreg* const* operands, Vreg& result) {
  pack_compact<32>(*operands[0], *operands[1], result);
}

constexpr auto undefined_and = [](uint32_t a, uint32_t ua, uint32_t b, uint32_t ub) {
  return (ua & (b | ub)) | (ub & a);
};
constexpr auto undefined_or = [](uint32_t a, uint32_t ua, uint32_t b, uint32_t ub) {
  return (ua & (~b | ub)) | (ub & ~a);
};

std::span<const OpcodeInfo> mask_rows() {
  static const OpcodeInfo rows[] = {
      {"vsel.(f32|s32|u32|bf16|s16|u16|s8|u8|s4|u4)", "v = m v v", Unit::Vector,
       precise([](uint32_t m, uint32_t a, uint32_t b) { return (m & a) | (~m & b); },
               [](uint32_t m, uint32_t um, uint32_t a, uint32_t ua, uint32_t b, uint32_t ub) {
                 return (um & (ua | ub | (a ^ b))) | (~um & ((m & ua) | (~m & ub)));
               }),
       "The second operand where the mask is set, else the third; bit by bit, so masks of packed lanes choose packed "
       "lanes. An undefined mask bit between equal defined bits does no harm."},
      {"vcmask", "m = s", Unit::Vector, Action{rectangle},
       "A rectangle: bits 0-2 the first sublane, 3-9 the first lane, 10-12 the last sublane, 13-19 the last lane, "
       "inclusive; where the last is before the first, around the end (the sines of v6e rely on it for sublanes)."},
      {"vsmask", "m = v", Unit::Vector, Action{first_sublanes},
       "The first sublanes: the low half of a word is set in sublane s where 2s is below the low 16 bits of the "
       "operand, the high half where 2s + 1 is below the high ones (assumed for odd numbers)."},
      {"vmand", "m = m m", Unit::Vector, precise([](uint32_t a, uint32_t b) { return a & b; }, undefined_and),
       "Where both are set."},
      {"vmor", "m = m m", Unit::Vector, precise([](uint32_t a, uint32_t b) { return a | b; }, undefined_or),
       "Where one is set."},
      {"vmxor", "m = m m", Unit::Vector,
       precise([](uint32_t a, uint32_t b) { return a ^ b; },
               [](uint32_t, uint32_t ua, uint32_t, uint32_t ub) { return ua | ub; }),
       "Where exactly one is set."},
      {"vmneg", "m = m", Unit::Vector, precise([](uint32_t a) { return ~a; }, [](uint32_t, uint32_t ua) { return ua; }),
       "Where it is not set."},
      {"vmmov", "m = m", Unit::Vector, Movement{copy_mask}, "A copy, or a constant."},
      {"vmpackc.low", "m = m m", Unit::Vector, Movement{pack_masks},
       "A mask of packed 16-bit lanes from two masks of words: rows 8-15 from the first, 0-7 from the second "
       "(vpack.c)."},
  };
  return rows;
}

}  // namespace

std::span<const OpcodeInfo> choose_mask_rows() { return mask_rows(); }

}  // namespace sapper::llo::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sapper::llo {
HWY_EXPORT(choose_mask_rows);
std::span<const OpcodeInfo> mask_opcodes() { return HWY_DYNAMIC_DISPATCH(choose_mask_rows)(); }
}  // namespace sapper::llo
#endif
