// What each elementwise operation means, one lane at a time: the single place for it (transcendental functions are in
// float_math.h, complex ones in complex_math.h). Sources: XLA's operation semantics, IEEE 754-2019.
//
// Each operation is a struct named as its opcode with a static `of`. Types are lanes (lane.h); what depends on the
// width of a type narrower than its lane takes that width in bits.
#pragma once

#include <cmath>

#include "eval/lane.h"

namespace sapper::eval {

struct Add {
  template <class T>
  SAPPER_LANE T of(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
    else
      return a + b;
  }
};

struct Subtract {
  template <class T>
  SAPPER_LANE T of(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
    else
      return a - b;
  }
};

struct Multiply {
  template <class T>
  SAPPER_LANE T of(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
    else
      return a * b;
  }
};

// Integers: x / 0 has all bits set, the lowest value divided by -1 is itself.
struct Divide {
  template <class T>
  SAPPER_LANE T of(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return static_cast<T>(-1);
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(a));
      }
      return static_cast<T>(a / b);
    } else {
      return a / b;
    }
  }
};

// The sign of the dividend; integers: x % 0 = x.
struct Remainder {
  template <class T>
  SAPPER_LANE T of(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return a;
      if constexpr (std::is_signed_v<T>) {
        if (b == -1) return 0;
      }
      return static_cast<T>(a % b);
    } else {
      return std::fmod(a, b);
    }
  }
};

// NaN wins; +0 is above -0.
struct Maximum {
  template <class T>
  SAPPER_LANE T of(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      const T equal = a == 0 ? a + b : a;  // the sum of two zeros is -0 only when both are
      const T larger = a > b ? a : b;      // b when b is NaN
      const T value = a == b ? equal : larger;
      return a != a ? a : value;
    } else {
      return a > b ? a : b;
    }
  }
};

struct Minimum {
  template <class T>
  SAPPER_LANE T of(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
      return -Maximum::of(-a, -b);
    } else {
      return a < b ? a : b;
    }
  }
};

struct And {
  template <class T>
  SAPPER_LANE T of(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  SAPPER_LANE T of(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  SAPPER_LANE T of(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
struct Not {
  template <class T>
  SAPPER_LANE T of(T a) {
    return static_cast<T>(~a);
  }
};
struct LogicalNot {  // `not` of pred
  SAPPER_LANE uint8_t of(uint8_t a) { return a ^ 1; }
};

// The low `width` bits of `a`, zero-extended.
template <class T>
SAPPER_LANE std::make_unsigned_t<T> low_bits(T a, uint32_t width) {
  using U = std::make_unsigned_t<T>;
  constexpr uint32_t bits = sizeof(T) * 8;
  return static_cast<U>(static_cast<U>(a) & static_cast<U>(static_cast<U>(-1) >> (bits - width)));
}

// Shift amounts are unsigned; at or beyond the width everything is shifted out.
struct ShiftLeft {
  template <class T>
  SAPPER_LANE T of(T a, T amount, uint32_t width) {
    const auto by = low_bits(amount, width);
    const auto shifted = static_cast<Wrapping<T>>(a) << (by & (sizeof(T) * 8 - 1));
    return by < width ? static_cast<T>(shifted) : T{0};
  }
};
struct ShiftRightLogical {
  template <class T>
  SAPPER_LANE T of(T a, T amount, uint32_t width) {
    const auto by = low_bits(amount, width);
    const auto shifted = low_bits(a, width) >> (by & (sizeof(T) * 8 - 1));
    return by < width ? static_cast<T>(shifted) : T{0};
  }
};
struct ShiftRightArithmetic {
  template <class T>
  SAPPER_LANE T of(T a, T amount, uint32_t width) {
    using S = std::make_signed_t<T>;
    const auto by = low_bits(amount, width);
    const uint32_t unused = sizeof(T) * 8 - width;  // unsigned types of fewer bits: their top bit is the sign
    const auto value = static_cast<S>(static_cast<S>(static_cast<Wrapping<T>>(a) << unused) >> unused);
    const auto bounded = by < width ? by : static_cast<decltype(by)>(width - 1);
    return static_cast<T>(value >> bounded);
  }
};

struct Abs {
  template <class T>
  SAPPER_LANE T of(T a) {
    if constexpr (std::is_floating_point_v<T>)
      return std::fabs(a);
    else if constexpr (std::is_signed_v<T>)
      return a < 0 ? static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(a)) : a;
    else
      return a;
  }
};

struct Negate {
  template <class T>
  SAPPER_LANE T of(T a) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(a));
    else
      return -a;
  }
};

// -1, 0 or 1; zeros keep their sign, NaN stays NaN.
struct Sign {
  template <class T>
  SAPPER_LANE T of(T a) {
    if constexpr (std::is_floating_point_v<T>) {
      const T positive = a > 0 ? T{1} : a;
      return a < 0 ? T{-1} : positive;
    } else {
      return static_cast<T>((a > T{0}) - (a < T{0}));
    }
  }
};

struct Ceil {
  template <class T>
  SAPPER_LANE T of(T a) {
    return std::ceil(a);
  }
};
struct Floor {
  template <class T>
  SAPPER_LANE T of(T a) {
    return std::floor(a);
  }
};
struct RoundNearestEven {
  template <class T>
  SAPPER_LANE T of(T a) {
    return std::nearbyint(a);
  }
};
struct RoundNearestAfz {
  template <class T>
  SAPPER_LANE T of(T a) {
    // Half a unit is added to the fraction, which is exact, not to the value, which may not be.
    const T whole = std::trunc(a);
    const T away = std::copysign(T{1}, a);
    const T rounded = std::fabs(a - whole) >= T{0.5} ? whole + away : whole;
    return std::copysign(rounded, a);
  }
};

struct Sqrt {
  template <class T>
  SAPPER_LANE T of(T a) {
    return std::sqrt(a);
  }
};

struct IsFinite {
  template <class T>
  SAPPER_LANE uint8_t of(T a) {
    return std::fabs(a) <= std::numeric_limits<T>::max();
  }
};

struct Popcnt {
  template <class T>
  SAPPER_LANE T of(T a, uint32_t width) {
    return static_cast<T>(std::popcount(low_bits(a, width)));
  }
};
struct CountLeadingZeros {
  template <class T>
  SAPPER_LANE T of(T a, uint32_t width) {
    return static_cast<T>(std::countl_zero(low_bits(a, width)) - static_cast<int>(sizeof(T) * 8 - width));
  }
};

// The high half of the product.
struct Mulhi {
  template <class T>
  SAPPER_LANE T of(T a, T b, uint32_t width) {
    if constexpr (sizeof(T) == 8) {
      __extension__ using Wide = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
      return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> width);
    } else {
      using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
      return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> width);
    }
  }
};

// Integers: wraps; a negative exponent gives the truncated reciprocal (0 for a base of 0).
struct IntegerPower {
  template <class T>
  SAPPER_LANE T of(T base, T exponent) {
    if constexpr (std::is_signed_v<T>) {
      if (exponent < 0) {
        if (base == 1) return 1;
        if (base == -1) return (exponent & 1) != 0 ? T{-1} : T{1};
        return 0;
      }
    }
    Wrapping<T> power = 1;
    auto square = static_cast<Wrapping<T>>(base);
    for (auto left = static_cast<std::make_unsigned_t<T>>(exponent); left != 0;
         left = static_cast<decltype(left)>(left >> 1)) {
      if ((left & 1) != 0) power *= square;
      square *= square;
    }
    return static_cast<T>(power);
  }
};

// min(max(value, low), high); a NaN anywhere gives NaN.
struct Clamp {
  template <class T>
  SAPPER_LANE T of(T low, T value, T high) {
    return Minimum::of(Maximum::of(value, low), high);
  }
};

struct Select {
  template <class T>
  SAPPER_LANE T of(uint8_t choice, T on_true, T on_false) {
    return choice != 0 ? on_true : on_false;
  }
};

// Comparisons with NaN are false, but for Ne.
struct CompareEq {
  template <class T>
  SAPPER_LANE uint8_t of(T a, T b) {
    return a == b;
  }
};
struct CompareNe {
  template <class T>
  SAPPER_LANE uint8_t of(T a, T b) {
    return a != b;
  }
};
struct CompareLt {
  template <class T>
  SAPPER_LANE uint8_t of(T a, T b) {
    return a < b;
  }
};
struct CompareLe {
  template <class T>
  SAPPER_LANE uint8_t of(T a, T b) {
    return a <= b;
  }
};
struct CompareGt {
  template <class T>
  SAPPER_LANE uint8_t of(T a, T b) {
    return a > b;
  }
};
struct CompareGe {
  template <class T>
  SAPPER_LANE uint8_t of(T a, T b) {
    return a >= b;
  }
};

// Floats in total order, as integers in the same order: -NaN < -inf < ... < -0 < +0 < ... < +inf < +NaN.
template <class T>
SAPPER_LANE auto total_order_key(T a) {
  using S = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  const auto bits = std::bit_cast<S>(a);
  return static_cast<S>(bits ^ ((bits >> (sizeof(T) * 8 - 1)) & std::numeric_limits<S>::max()));
}
template <class Comparison>
struct InTotalOrder {
  template <class T>
  SAPPER_LANE uint8_t of(T a, T b) {
    return Comparison::of(total_order_key(a), total_order_key(b));
  }
};

// Between integers: wraps. From floats to integers of `width` bits: truncates toward zero, saturates, NaN gives 0. To
// pred: is it not zero.
template <class To>
struct ConvertTo {
  template <class From>
  SAPPER_LANE To of(From a, uint32_t width) {
    if constexpr (is_complex_lane<From>) {
      if constexpr (is_complex_lane<To>) {
        using R = typename To::value_type;
        return To(static_cast<R>(a.real()), static_cast<R>(a.imag()));
      } else {
        return of(a.real(), width);
      }
    } else if constexpr (is_complex_lane<To>) {
      return To(static_cast<typename To::value_type>(a), 0);
    } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
      // 2^(width - 1) or 2^width, one above the highest value, is exact in From; the highest value itself need not be.
      const uint32_t digits = std::is_signed_v<To> ? width - 1 : width;
      const From end = std::bit_cast<From>(power_of_two_bits<From>(digits));
      const From start = std::is_signed_v<To> ? -end : From{0};
      const auto highest = static_cast<To>(static_cast<std::make_unsigned_t<To>>(-1) >> (sizeof(To) * 8 - digits));
      const To lowest = std::is_signed_v<To> ? static_cast<To>(-highest - 1) : To{0};
      const bool inside = a > start && a < end;
      const To truncated = static_cast<To>(inside ? a : From{0});
      const To clamped = a >= end ? highest : lowest;
      const To outside = a != a ? To{0} : clamped;
      return inside ? truncated : outside;
    } else {
      return static_cast<To>(a);
    }
  }

 private:
  template <class From>
  SAPPER_LANE auto power_of_two_bits(uint32_t exponent) {
    if constexpr (sizeof(From) == 4)
      return uint32_t{127 + exponent} << 23;
    else
      return uint64_t{1023 + exponent} << 52;
  }
};

struct ConvertToPred {
  template <class From>
  SAPPER_LANE uint8_t of(From a) {
    return a != From{0};
  }
};

// To float lanes whose values will be rounded to a narrower type: Odd keeps that the only rounding.
struct ConvertToNarrowFloat {
  template <class From>
  SAPPER_LANE float of(From a) {
    if constexpr (is_complex_lane<From>) {
      return of(a.real());
    } else if constexpr (std::is_same_v<From, double>) {
      return Odd::round(a);
    } else if constexpr (sizeof(From) == 8 && std::is_integral_v<From>) {
      // 64 bits into a double, to odd: bits that do not fit are or-ed into the last that does.
      const bool negative = std::is_signed_v<From> && a < 0;
      const uint64_t magnitude = negative ? uint64_t{0} - static_cast<uint64_t>(a) : static_cast<uint64_t>(a);
      const uint64_t sticky = (magnitude & 0xfff) != 0 ? uint64_t{1} << 12 : 0;
      const uint64_t shortened = magnitude >> 53 != 0 ? (magnitude & ~uint64_t{0xfff}) | sticky : magnitude;
      const auto value = static_cast<double>(shortened);
      return Odd::round(negative ? -value : value);
    } else if constexpr (std::is_integral_v<From>) {
      return Odd::round(static_cast<double>(a));
    } else {
      return a;
    }
  }
};

// `a` with `exponent_bits` of exponent and `mantissa_bits` of mantissa: rounded to nearest even, beyond the range to
// infinity or to zero of its sign (HLO's reduce-precision has no subnormals).
struct ReducePrecision {
  template <class T>
  SAPPER_LANE T of(T a, uint32_t detail) {
    using U = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
    constexpr uint32_t mantissa = std::numeric_limits<T>::digits - 1;
    constexpr uint32_t exponent_field = sizeof(T) * 8 - 1 - mantissa;
    constexpr U bias = (U{1} << (exponent_field - 1)) - 1;
    constexpr U sign_mask = U{1} << (sizeof(T) * 8 - 1);
    constexpr U infinity = ((U{1} << exponent_field) - 1) << mantissa;
    const uint32_t exponent_bits = detail >> 8;
    const uint32_t mantissa_bits = detail & 0xff;
    const U bits = std::bit_cast<U>(a);
    const U sign = bits & sign_mask;
    U magnitude = bits & ~sign_mask;
    if (mantissa_bits < mantissa) {
      const uint32_t drop = mantissa - mantissa_bits;
      const U half = (U{1} << (drop - 1)) - 1;
      magnitude = (magnitude + half + ((magnitude >> drop) & 1)) & ~((U{1} << drop) - 1);
    }
    if (exponent_bits < exponent_field) {
      const U reduced_bias = (U{1} << (exponent_bits - 1)) - 1;
      const U largest = (bias + reduced_bias) << mantissa | ((U{1} << mantissa) - 1);
      const U smallest = (bias - reduced_bias + 1) << mantissa;
      const U bounded = magnitude > largest ? infinity : magnitude;
      magnitude = bounded < smallest ? U{0} : bounded;
    }
    return a != a ? a : std::bit_cast<T>(static_cast<U>(sign | magnitude));
  }
};

}  // namespace sapper::eval
