// Lanes: the form in which elements are computed on. A lane holds an element exactly, in a C++ type that the machine
// has arithmetic for: f16, bf16 and the f8 and f4 families are lanes of float; s1..s4 and u1..u4 are lanes of int8_t
// and uint8_t; pred is a lane of uint8_t (0 or 1); every other type is its own lane. A result that is computed in a
// lane wider than its type is then made narrow: rounded (once: see Odd) or wrapped to the type, and stays in the wider
// lane.
#pragma once

#include <bit>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "hlo/element_type.h"

namespace sapper::eval {

// Every function of one lane is inlined into loops that are compiled once for each SIMD instruction set.
#define SAPPER_LANE [[gnu::always_inline]] static inline

// The type whose host form a lane of `type` has: F32 for f16, S8 for s4, ..., else `type`.
[[nodiscard]] inline hlo::ElementType lane_type(hlo::ElementType type) {
  using enum hlo::ElementType;
  switch (type) {
    case F16:
    case BF16:
    case F8E5M2:
    case F8E4M3:
    case F8E3M4:
    case F8E4M3FN:
    case F8E4M3B11FNUZ:
    case F8E4M3FNUZ:
    case F8E5M2FNUZ:
    case F4E2M1FN:
    case F8E8M0FNU: return F32;
    case S1:
    case S2:
    case S4: return S8;
    case U1:
    case U2:
    case U4: return U8;
    default: return type;
  }
}

template <class T>
inline constexpr bool is_complex_lane = false;
template <class T>
inline constexpr bool is_complex_lane<std::complex<T>> = true;

// The unsigned type to do wrapping arithmetic of T in: at least as wide as int, so that nothing is promoted to signed.
template <class T>
using Wrapping = std::conditional_t<(sizeof(T) < sizeof(unsigned)), unsigned, std::make_unsigned_t<T>>;

// double -> float, to nearest even: the last rounding of an f32 operation.
struct Nearest {
  SAPPER_LANE float round(double value) { return static_cast<float>(value); }
};

// double -> float, to odd: where float cannot say `value`, the neighbour with an odd last bit. A second rounding to a
// type of at most 22 bits then gives what one rounding would have given.
struct Odd {
  SAPPER_LANE float round(double value) {
    const auto nearest = static_cast<float>(value);
    const auto bits = std::bit_cast<uint32_t>(nearest);
    constexpr uint64_t magnitude_mask = ~uint64_t{0} >> 1;
    const auto back = static_cast<double>(nearest);
    const double magnitude = std::bit_cast<double>(std::bit_cast<uint64_t>(value) & magnitude_mask);
    const double back_magnitude = std::bit_cast<double>(std::bit_cast<uint64_t>(back) & magnitude_mask);
    // One step toward `value`: magnitude up when the nearest is too small, down when it is too large; NaN is neither.
    const uint64_t down = back_magnitude > magnitude ? ~uint64_t{0} : 0;
    const auto step = static_cast<uint32_t>(back_magnitude < magnitude ? 1 : down);
    return std::bit_cast<float>((bits & 1) != 0 ? bits : bits + step);
  }
};

}  // namespace sapper::eval
