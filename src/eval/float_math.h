// Transcendental functions of float and double lanes.
//
// An f32 function is computed in double precision by `wide`, with a relative error below 2^-45, and rounded once (to
// nearest, or to odd when a narrower type follows), so that it is correctly rounded but for about one case in 2^20.
// `wide` has no branches, calls or fused multiply-adds: compilers vectorize it, and every instruction set gives the
// same bits. It takes any double that a float can be. f64 functions (`exact`) are the C library's.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "eval/lane.h"

namespace sapper::eval {

// coefficients[first] + coefficients[first + step] * x + coefficients[first + 2 * step] * x^2 + ..., by Horner's rule.
template <size_t first, size_t step, size_t n>
SAPPER_LANE double horner(double x, const double (&coefficients)[n]) {
  if constexpr (first + step >= n) {
    return coefficients[first];
  } else {
    return coefficients[first] + x * horner<first + step, step>(x, coefficients);
  }
}

// sum of coefficients[i] * x^i: even and odd powers apart, so that two chains of operations run side by side.
template <size_t n>
SAPPER_LANE double polynomial(double x, const double (&coefficients)[n]) {
  const double square = x * x;
  return horner<0, 2>(square, coefficients) + x * horner<1, 2>(square, coefficients);
}

// Adding and taking away rounds to an integer; its low bits are then the integer's.
constexpr double rounding_shift = 0x1.8p52;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double pi = 0x1.921fb54442d18p1;
constexpr double log_2_high = 0x1.62e42fefa38p-1;  // few enough bits that integers below 2^11 times it are exact
constexpr double log_2_low = 0x1.ef35793c7673p-45;

SAPPER_LANE double with_sign_of(double magnitude, double sign) {
  constexpr uint64_t mask = uint64_t{1} << 63;
  return std::bit_cast<double>((std::bit_cast<uint64_t>(magnitude) & ~mask) | (std::bit_cast<uint64_t>(sign) & mask));
}
SAPPER_LANE double magnitude_of(double x) { return with_sign_of(x, 0.0); }

// |x| at most `bound`; NaN stays.
SAPPER_LANE double bounded(double x, double bound) {
  const double below = x > bound ? bound : x;
  return below < -bound ? -bound : below;
}

// x = power * log(2) + rest, |rest| <= log(2) / 2; `scale` = 2^power.
struct ExponentSplit {
  double rest;
  double scale;
  SAPPER_LANE ExponentSplit of(double x) {
    const double shifted = x * 0x1.71547652b82fep0 + rounding_shift;
    const double power = shifted - rounding_shift;
    const double rest = (x - power * log_2_high) - power * log_2_low;
    const auto bits = std::bit_cast<uint64_t>(shifted) + 1023;
    return {rest, std::bit_cast<double>(bits << 52)};
  }
};

// (e^x - 1) / x for |x| <= log(2) / 2.
SAPPER_LANE double exp_slope(double x) {
  constexpr double coefficients[] = {1.0,          1.0 / 2,       1.0 / 6,        1.0 / 24,
                                     1.0 / 120,    1.0 / 720,     1.0 / 5040,     1.0 / 40320,
                                     1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600};
  return polynomial(x, coefficients);
}

// Where floats have long become 0 or infinity.
constexpr double exp_bound = 300;

SAPPER_LANE double wide_exp(double x) {
  const ExponentSplit split = ExponentSplit::of(bounded(x, exp_bound));
  return (1 + split.rest * exp_slope(split.rest)) * split.scale;
}

SAPPER_LANE double wide_expm1(double x) {
  const ExponentSplit split = ExponentSplit::of(bounded(x, exp_bound));
  const double small = split.rest * exp_slope(split.rest);
  const double sum = small * split.scale + (split.scale - 1);
  return x == 0 ? x : sum;
}

// log(1 + x) for 1 + x in [sqrt(1/2), sqrt(2)], with a small relative error: twice the area tangent of x / (2 + x).
SAPPER_LANE double log1p_near_zero(double x) {
  constexpr double coefficients[] = {2.0,      2.0 / 3,  2.0 / 5,  2.0 / 7,  2.0 / 9, 2.0 / 11,
                                     2.0 / 13, 2.0 / 15, 2.0 / 17, 2.0 / 19, 2.0 / 21};
  const double s = x / (2 + x);
  return s * polynomial(s * s, coefficients);
}

// x = mantissa * 2^power, mantissa in [sqrt(1/2), sqrt(2)); x is positive and normal.
struct PowerSplit {
  double mantissa;
  double power;
  SAPPER_LANE PowerSplit of(double x) {
    constexpr uint64_t sqrt_half = 0x3fe6a09e667f3bcd;
    const uint64_t bits = std::bit_cast<uint64_t>(x) - sqrt_half;
    const uint64_t mantissa = (bits & ((uint64_t{1} << 52) - 1)) + sqrt_half;
    // The exponent, signed, into a double without an integer conversion, which AVX2 lacks.
    const uint64_t exponent = (bits >> 52) ^ 0x800;
    const double biased = std::bit_cast<double>(exponent | std::bit_cast<uint64_t>(0x1p52)) - 0x1p52;
    return {std::bit_cast<double>(mantissa), biased - 0x800};
  }
};

// log(x) for x > 0, given log1p's argument where it is more exact than x.
SAPPER_LANE double log_of_split(PowerSplit split, double near_zero) {
  const double fraction = split.power == 0 ? near_zero : split.mantissa - 1;
  const double small = log1p_near_zero(fraction);
  return split.power == 0 ? small : split.power * log_2_high + (small + split.power * log_2_low);
}

// log of 1 + x, whose value (rounded) is `sum`.
SAPPER_LANE double log_with_specials(double sum, double x) {
  const double result = log_of_split(PowerSplit::of(sum), x);
  const double at_limits = sum == 0 ? -infinity : sum;  // infinity and NaN are themselves
  const double outside = sum < 0 ? not_a_number : at_limits;
  return sum > 0 && sum < infinity ? result : outside;
}
SAPPER_LANE double wide_log(double x) { return log_with_specials(x, x - 1); }
SAPPER_LANE double wide_log1p(double x) {
  const double result = log_with_specials(1 + x, x);
  return x == 0 ? x : result;
}

// The angle (y, x) in [0, pi / 2] for y, x >= 0, not both zero, neither infinite.
SAPPER_LANE double first_quadrant_angle(double y, double x) {
  // atan(t) of t in [-tan(pi / 8), tan(pi / 8)], from the octant of the angle.
  const bool swap = y > x;
  const double low = swap ? x : y;
  const double high = swap ? y : x;
  const bool turn = low > 0x1.a827999fcef32p-2 * high;  // tan(pi / 8)
  const double t = (turn ? low - high : low) / (turn ? low + high : high);
  constexpr double coefficients[] = {1.0,      -1.0 / 3,  1.0 / 5,  -1.0 / 7,  1.0 / 9,  -1.0 / 11,
                                     1.0 / 13, -1.0 / 15, 1.0 / 17, -1.0 / 19, 1.0 / 21, -1.0 / 23,
                                     1.0 / 25, -1.0 / 27, 1.0 / 29, -1.0 / 31, 1.0 / 33, -1.0 / 35};
  const double small = t * polynomial(t * t, coefficients);
  const double octant = turn ? pi / 4 + small : small;
  return swap ? pi / 2 - octant : octant;
}

SAPPER_LANE double wide_atan2(double y, double x) {
  constexpr double huge = 0x1p300;  // stands for infinity: its ratio to any float is 0, and to itself 1
  const double ay = magnitude_of(bounded(y, huge));
  const double ax = magnitude_of(bounded(x, huge));
  const double sum = ay + ax;
  const double angle = first_quadrant_angle(ay, sum == 0 ? 1 : ax);
  const bool left = (std::bit_cast<uint64_t>(x) >> 63) != 0;
  const double result = with_sign_of(left ? pi - angle : angle, y);
  return sum != sum ? sum : result;
}

// 2/pi * 2^(exponent - 23) modulo 4 for the exponents of floats, -149 to 127, in parts of 28, 28 and 53 bits: the first
// two times a 24-bit integer are exact. The rows before and after (of zero; of infinity and NaN) are 0.
struct ReducerTable {
  static constexpr int lowest = -149;
  static constexpr int size = 127 - lowest + 3;
  std::array<double, size> first{};
  std::array<double, size> second{};
  std::array<double, size> third{};

  constexpr ReducerTable() {
    for (int exponent = lowest; exponent <= 127; ++exponent) {
      const int shift = exponent - 23;
      // The first bit: that of weight 2, or where the value is smaller, its own first.
      const int begin = shift - 1 < 1 ? 1 : shift - 1;
      const auto row = static_cast<size_t>(exponent - lowest + 1);
      first[row] = bits(begin, 28, shift);
      second[row] = bits(begin + 28, 28, shift);
      third[row] = bits(begin + 56, 53, shift);
    }
  }

 private:
  // Bits `begin` to `begin + count` of 2/pi (bit 1 has weight 1/2), times 2^shift.
  static constexpr double bits(int begin, int count, int shift) {
    constexpr uint32_t two_over_pi[] = {0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0,
                                        0xdb629599, 0x3c439041, 0xfe5163ab};
    double value = 0;
    const int end = begin + count;
    for (int bit = begin; bit < end; ++bit)
      value = value * 2 + static_cast<double>(two_over_pi[(bit - 1) / 32] >> (31 - (bit - 1) % 32) & 1);
    int exponent = shift - (end - 1);  // of the last bit
    for (; exponent < 0; ++exponent) value /= 2;
    for (; exponent > 0; --exponent) value *= 2;
    return value;
  }
};
inline constexpr ReducerTable reducer_table;

// x = quadrant * pi / 2 + rest, |rest| <= pi / 4 (a little more when rounded), for any finite float; else `rest` is
// NaN.
struct QuadrantSplit {
  double rest;
  uint64_t quadrant;  // modulo 4
  SAPPER_LANE QuadrantSplit of(double x) {
    const uint64_t bits = std::bit_cast<uint64_t>(magnitude_of(x));
    const uint64_t integer_bits = (bits & ((uint64_t{1} << 52) - 1)) | std::bit_cast<uint64_t>(0x1p23);
    const auto integer = std::bit_cast<double>(integer_bits);  // the 24-bit significand
    constexpr uint64_t before = 1023 + ReducerTable::lowest - 1;
    constexpr uint64_t after = before + ReducerTable::size - 1;
    const uint64_t row = std::min(std::max(bits >> 52, before), after) - before;
    const double product = integer * reducer_table.first[row];
    const double whole_turns = (product * 0.25 + rounding_shift) - rounding_shift;
    const double first = product - 4 * whole_turns;
    const double second = integer * reducer_table.second[row];
    const double third = integer * reducer_table.third[row];
    const double shifted = (first + second) + rounding_shift;
    const double nearest = shifted - rounding_shift;
    const double turns = ((first - nearest) + second) + third;
    const double rest = turns * (pi / 2) + (x - x);
    const uint64_t quadrant = std::bit_cast<uint64_t>(shifted);
    const bool negative = (std::bit_cast<uint64_t>(x) >> 63) != 0;
    return {negative ? -rest : rest, (negative ? 0 - quadrant : quadrant) & 3};
  }
};

SAPPER_LANE double sine_near_zero(double x) {
  constexpr double coefficients[] = {1.0,          -1.0 / 6,        1.0 / 120,        -1.0 / 5040,
                                     1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000};
  return x * polynomial(x * x, coefficients);
}
SAPPER_LANE double cosine_near_zero(double x) {
  constexpr double coefficients[] = {1.0,
                                     -1.0 / 2,
                                     1.0 / 24,
                                     -1.0 / 720,
                                     1.0 / 40320,
                                     -1.0 / 3628800,
                                     1.0 / 479001600,
                                     -1.0 / 87178291200,
                                     1.0 / 20922789888000};
  return polynomial(x * x, coefficients);
}

// sin(x + quarter_turns * pi / 2).
SAPPER_LANE double wide_sine(double x, uint64_t quarter_turns) {
  const QuadrantSplit split = QuadrantSplit::of(x);
  const double sine = sine_near_zero(split.rest);
  const double cosine = cosine_near_zero(split.rest);
  const uint64_t quadrant = split.quadrant + quarter_turns;
  const double value = (quadrant & 1) != 0 ? cosine : sine;
  return (quadrant & 2) != 0 ? -value : value;
}

// Each function: `exact` for f64 operands, `wide` for f32 operands held in a double.
struct Exponential {
  SAPPER_LANE double exact(double x) { return std::exp(x); }
  SAPPER_LANE double wide(double x) { return wide_exp(x); }
};
struct ExponentialMinusOne {
  SAPPER_LANE double exact(double x) { return std::expm1(x); }
  SAPPER_LANE double wide(double x) { return wide_expm1(x); }
};
struct Log {
  SAPPER_LANE double exact(double x) { return std::log(x); }
  SAPPER_LANE double wide(double x) { return wide_log(x); }
};
struct LogPlusOne {
  SAPPER_LANE double exact(double x) { return std::log1p(x); }
  SAPPER_LANE double wide(double x) { return wide_log1p(x); }
};
struct Logistic {
  SAPPER_LANE double exact(double x) { return 1 / (1 + std::exp(-x)); }
  SAPPER_LANE double wide(double x) { return 1 / (1 + wide_exp(-x)); }
};
struct Rsqrt {
  SAPPER_LANE double exact(double x) { return 1 / std::sqrt(x); }
  SAPPER_LANE double wide(double x) { return 1 / std::sqrt(x); }
};

struct Sine {
  SAPPER_LANE double exact(double x) { return std::sin(x); }
  SAPPER_LANE double wide(double x) { return wide_sine(x, 0); }
};
struct Cosine {
  SAPPER_LANE double exact(double x) { return std::cos(x); }
  SAPPER_LANE double wide(double x) { return wide_sine(x, 1); }
};
struct Tan {
  SAPPER_LANE double exact(double x) { return std::tan(x); }
  SAPPER_LANE double wide(double x) {
    const QuadrantSplit split = QuadrantSplit::of(x);
    const double sine = sine_near_zero(split.rest);
    const double cosine = cosine_near_zero(split.rest);
    const bool odd = (split.quadrant & 1) != 0;
    return (odd ? -cosine : sine) / (odd ? sine : cosine);
  }
};

struct Sinh {
  SAPPER_LANE double exact(double x) { return std::sinh(x); }
  SAPPER_LANE double wide(double x) {
    const double t = wide_expm1(magnitude_of(x));
    return with_sign_of((t + t / (t + 1)) * 0.5, x);
  }
};
struct Cosh {
  SAPPER_LANE double exact(double x) { return std::cosh(x); }
  SAPPER_LANE double wide(double x) {
    const double e = wide_exp(magnitude_of(x));
    return (e + 1 / e) * 0.5;
  }
};
struct Tanh {
  SAPPER_LANE double exact(double x) { return std::tanh(x); }
  SAPPER_LANE double wide(double x) {
    const double t = wide_expm1(2 * bounded(magnitude_of(x), 30));
    return with_sign_of(t / (t + 2), x);
  }
};
struct Asinh {
  SAPPER_LANE double exact(double x) { return std::asinh(x); }
  SAPPER_LANE double wide(double x) {
    const double a = magnitude_of(x);
    const double square = a * a;
    const double result = with_sign_of(wide_log1p(a + square / (1 + std::sqrt(1 + square))), x);
    return a < infinity ? result : x;
  }
};
struct Acosh {
  SAPPER_LANE double exact(double x) { return std::acosh(x); }
  SAPPER_LANE double wide(double x) {
    const double t = x - 1;
    const double result = wide_log1p(t + std::sqrt(t * (2 + t)));
    return x < 1 ? not_a_number : result;
  }
};
struct Atanh {
  SAPPER_LANE double exact(double x) { return std::atanh(x); }
  SAPPER_LANE double wide(double x) {
    const double a = magnitude_of(x);
    const double result = with_sign_of(wide_log1p(2 * a / (1 - a)) * 0.5, x);
    return a <= 1 ? result : not_a_number;
  }
};
struct Asin {
  SAPPER_LANE double exact(double x) { return std::asin(x); }
  SAPPER_LANE double wide(double x) { return wide_atan2(x, std::sqrt((1 - x) * (1 + x))); }
};
struct Acos {
  SAPPER_LANE double exact(double x) { return std::acos(x); }
  SAPPER_LANE double wide(double x) { return wide_atan2(std::sqrt((1 - x) * (1 + x)), x); }
};

struct Cbrt {
  SAPPER_LANE double exact(double x) { return std::cbrt(x); }
  SAPPER_LANE double wide(double x) {
    // A third of the exponent gives 5 bits; each step of Halley's method triples them.
    const double a = magnitude_of(x);
    const uint64_t high = std::bit_cast<uint64_t>(a) >> 32;
    const uint64_t third = (high * 0xaaaaaaab) >> 33;
    double root = std::bit_cast<double>((third + 715094163) << 32);
    for (int step = 0; step < 3; ++step) {
      const double cube = root * root * root;
      root = root * ((cube + 2 * a) / (2 * cube + a));
    }
    const double result = with_sign_of(root, x);
    return a == 0 || !(a < infinity) ? x : result;
  }
};

struct Erf {
  SAPPER_LANE double exact(double x) { return std::erf(x); }
  SAPPER_LANE double wide(double x) {
    const double a = bounded(magnitude_of(x), 6);
    // erf(x) / x as a polynomial in x^2 on [0, 1].
    constexpr double near_zero[] = {1.1283791670955126,      -0.37612638903183543,   0.11283791670945006,
                                    -0.02686617064323777,    0.0052239776071164225,  -0.0008548325975389692,
                                    0.00012055294904839707,  -1.492473690741966e-05, 1.6447424703317362e-06,
                                    -1.6208483801871705e-07, 1.3720064546777686e-08, -7.795898827002142e-10};
    // e^(x^2) erfc(x) as a polynomial in (x - 2) / (x + 2) on [1, 6].
    constexpr double tail[] = {0.25539567631050575,     -0.4271858474139579,    0.24165819424246987,
                               -0.07897858101585253,    0.00373289240349224,    0.006997461747753573,
                               -0.0008471431980760424,  -0.0009819773208131022, 4.3554202452705896e-05,
                               0.00017436697232946864,  2.754312818566672e-05,  -2.7647305443610053e-05,
                               -1.4067532694582058e-05, 1.820143195975009e-06,  3.917059299925389e-06};
    const double small = a * polynomial(a * a, near_zero);
    const double large = 1 - wide_exp(-a * a) * polynomial((a - 2) / (a + 2), tail);
    return with_sign_of(a < 1 ? small : large, x);
  }
};

struct Atan2 {
  SAPPER_LANE double exact(double y, double x) { return std::atan2(y, x); }
  SAPPER_LANE double wide(double y, double x) { return wide_atan2(y, x); }
};

struct Power {
  SAPPER_LANE double exact(double x, double y) { return std::pow(x, y); }
  SAPPER_LANE double wide(double x, double y) {
    const double a = magnitude_of(x);
    const double power = wide_exp(bounded(y, 0x1p200) * wide_log(a));  // bounded: 1 to the infinity is 1
    // The distance of y / 2 from an integer: 0 for even y, 1/2 for odd y. Floats of 2^24 and more are even.
    const double half = bounded(y, 0x1p25) * 0.5;
    const double distance = magnitude_of(half - ((half + rounding_shift) - rounding_shift));
    const double of_infinity = a == infinity ? power : not_a_number;
    const double of_no_number = a == 0 ? power : of_infinity;
    const double odd = distance == 0.5 ? -power : of_no_number;
    const double of_negative = distance == 0 ? power : odd;
    const bool negative = (std::bit_cast<uint64_t>(x) >> 63) != 0;
    const double value = negative ? of_negative : power;
    const double of_one = magnitude_of(x - 1) == 0 ? 1.0 : value;
    return magnitude_of(y) == 0 ? 1.0 : of_one;
  }
};

}  // namespace sapper::eval
