// Packing of narrow lanes. In the compact order a register of w-bit lanes has 256 / w logical rows of 128 lanes; row r
// lies in sublane r / (32 / w), at bits w * (r mod (32 / w)). Include as lanes-inl.h.

#include "hwy/highway.h"
#include "llo/vreg.h"

#if defined(SAPPER_LLO_PACKING_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SAPPER_LLO_PACKING_INL_H_
#undef SAPPER_LLO_PACKING_INL_H_
#else
#define SAPPER_LLO_PACKING_INL_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace sapper::llo::HWY_NAMESPACE {

template <int width>
constexpr int lanes_per_word = 32 / width;
template <int width>
constexpr uint32_t low_bits = width == 32 ? ~uint32_t{0} : (uint32_t{1} << (width % 32)) - 1;

struct SameBits {
  uint32_t operator()(uint32_t bits) const { return bits; }
};

// Lanes of `width` bits, each made half as wide by `narrow` (whose upper bits are dropped): the rows of `low`, then
// those of `high`.
template <int width, class Narrow = SameBits>
void pack_compact(const Vreg& high, const Vreg& low, Vreg& result, Narrow narrow = {}) {
  constexpr int to = width / 2;
  constexpr int parts = lanes_per_word<to>;
  constexpr int rows = kSublanes * lanes_per_word<width>;
  for (int sublane = 0; sublane < kSublanes; ++sublane) {
    const uint32_t* in[parts];
    int shift[parts];
    for (int part = 0; part < parts; ++part) {
      const int row = sublane * parts + part;
      const int from_row = row % rows;
      in[part] = (row < rows ? low : high).word + from_row / lanes_per_word<width> * kLanes;
      shift[part] = from_row % lanes_per_word<width> * width;
    }
    for (int lane = 0; lane < kLanes; ++lane) {
      uint32_t bits = 0;
      for (int part = 0; part < parts; ++part)
        bits |= (narrow(in[part][lane] >> shift[part] & low_bits<width>) & low_bits<to>) << (part * to);
      result.word[sublane * kLanes + lane] = bits;
    }
  }
}

// The logical rows of `from`, lanes of `width` bits, that fill a register when each is made `to` bits wide: the
// part-th such piece. Copies of the sign come in where `sign`, else zeros.
template <int width, int to, bool sign>
void unpack_compact(const Vreg& from, int part, Vreg& result) {
  constexpr int rows = kSublanes * lanes_per_word<to>;
  for (int sublane = 0; sublane < kSublanes; ++sublane) {
    uint32_t* out = result.word + sublane * kLanes;
    for (int at = 0; at < lanes_per_word<to>; ++at) {
      const int row = part * rows + sublane * lanes_per_word<to> + at;
      const uint32_t* in = from.word + row / lanes_per_word<width> * kLanes;
      const int left = 32 - width - row % lanes_per_word<width> * width;  // brings the lane to the top
      for (int lane = 0; lane < kLanes; ++lane) {
        const uint32_t top = in[lane] << left;
        const uint32_t wide =
            sign ? static_cast<uint32_t>(static_cast<int32_t>(top) >> (32 - width)) : top >> (32 - width);
        const uint32_t bits = (wide & low_bits<to>) << (at * to);
        out[lane] = at == 0 ? bits : out[lane] | bits;
      }
    }
  }
}

}  // namespace sapper::llo::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
