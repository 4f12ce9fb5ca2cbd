// Element types of HLO values and the bit-level meaning of each. The enumerators have the numbers of XLA's
// PrimitiveType.
//
// In memory (Literal, evaluator) an element takes host_bytes(type): types narrower than a byte take one byte each,
// sub-byte integers sign- or zero-extended, so that element i is always at i * host_bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sapper::hlo {

enum class ElementType : uint8_t {
  Invalid = 0,
  Pred = 1,
  S8 = 2,
  S16 = 3,
  S32 = 4,
  S64 = 5,
  U8 = 6,
  U16 = 7,
  U32 = 8,
  U64 = 9,
  F16 = 10,
  F32 = 11,
  F64 = 12,
  Tuple = 13,
  Opaque = 14,
  C64 = 15,
  BF16 = 16,
  Token = 17,
  C128 = 18,
  F8E5M2 = 19,
  F8E4M3FN = 20,
  S4 = 21,
  U4 = 22,
  F8E4M3B11FNUZ = 23,
  F8E5M2FNUZ = 24,
  F8E4M3FNUZ = 25,
  S2 = 26,
  U2 = 27,
  F8E4M3 = 28,
  F8E3M4 = 29,
  S1 = 30,
  U1 = 31,
  F4E2M1FN = 32,
  F8E8M0FNU = 33,
  Buffer = 34,
};

enum class ElementClass : uint8_t { None, Pred, Signed, Unsigned, Float, Complex };

// "f32", "bf16", "f8e4m3fn", "pred", "token": the spelling of HLO text.
[[nodiscard]] std::string_view to_string(ElementType type);
[[nodiscard]] std::optional<ElementType> parse_element_type(std::string_view name);

[[nodiscard]] ElementClass element_class(ElementType type);
[[nodiscard]] inline bool is_array_type(ElementType type) { return element_class(type) != ElementClass::None; }
[[nodiscard]] inline bool is_integer(ElementType type) {
  return element_class(type) == ElementClass::Signed || element_class(type) == ElementClass::Unsigned;
}
[[nodiscard]] inline bool is_float(ElementType type) { return element_class(type) == ElementClass::Float; }
[[nodiscard]] inline bool is_complex(ElementType type) { return element_class(type) == ElementClass::Complex; }

// Width in bits of one element (pred: 8, as XLA stores it; s4: 4; c64: 64); 0 for non-array types.
[[nodiscard]] int bit_width(ElementType type);
// Bytes that one element takes in a Literal.
[[nodiscard]] int host_bytes(ElementType type);
// F32 of C64, F64 of C128.
[[nodiscard]] ElementType component_type(ElementType complex);

// A binary floating-point format. A value is (-1)^sign * 2^(exponent - bias) * 1.mantissa, subnormals as in IEEE 754.
// Sources: IEEE 754-2019; OCP 8-bit floating point and MX specifications (e4m3fn, e5m2, e2m1, e8m0); the FNUZ family
// has no negative zero, whose bit pattern is its only NaN.
struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;  // stored bits, without the leading one
  int bias;
  bool has_sign;
  enum class Specials : uint8_t {
    IEEE,    // exponent all ones: infinity or NaN
    FN,      // finite: only exponent and mantissa all ones is NaN, no infinity
    FNUZ,    // the pattern of -0 is the NaN, no infinity
    Finite,  // neither infinity nor NaN (f4e2m1fn)
    E8M0,    // powers of two only, 0xff is NaN, no zero, no sign
  } specials;
  [[nodiscard]] int width() const { return exponent_bits + mantissa_bits + (has_sign ? 1 : 0); }
};

// The format of a float type (F16 .. F64, BF16, f8 and f4 families); nullopt for others.
[[nodiscard]] std::optional<FloatFormat> float_format(ElementType type);

// The largest finite number, and the least positive normal one, of a format.
[[nodiscard]] double largest_finite(const FloatFormat& format);
[[nodiscard]] double least_normal(const FloatFormat& format);

// The exact value of `bits` (exact for every format up to F64).
[[nodiscard]] double decode_float(const FloatFormat& format, uint64_t bits);

// `value` rounded to nearest, ties to even. Overflow gives infinity where the format has one, else NaN where it has one
// (as XLA's converts do), else the largest finite value. NaN keeps its sign where the format can say it.
[[nodiscard]] uint64_t encode_float(const FloatFormat& format, double value);

}  // namespace sapper::hlo
