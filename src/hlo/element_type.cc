#include "hlo/element_type.h"

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "base/assert.h"

namespace sapper::hlo {
namespace {

struct TypeInfo {
  std::string_view name;
  ElementClass element_class = ElementClass::None;
  int bits = 0;
};

constexpr std::array<TypeInfo, 35> infos = [] {
  std::array<TypeInfo, 35> table;
  const auto set = [&](ElementType type, TypeInfo info) { table[static_cast<size_t>(type)] = info; };
  set(ElementType::Invalid, {"invalid"});
  set(ElementType::Pred, {"pred", ElementClass::Pred, 8});
  set(ElementType::S1, {"s1", ElementClass::Signed, 1});
  set(ElementType::S2, {"s2", ElementClass::Signed, 2});
  set(ElementType::S4, {"s4", ElementClass::Signed, 4});
  set(ElementType::S8, {"s8", ElementClass::Signed, 8});
  set(ElementType::S16, {"s16", ElementClass::Signed, 16});
  set(ElementType::S32, {"s32", ElementClass::Signed, 32});
  set(ElementType::S64, {"s64", ElementClass::Signed, 64});
  set(ElementType::U1, {"u1", ElementClass::Unsigned, 1});
  set(ElementType::U2, {"u2", ElementClass::Unsigned, 2});
  set(ElementType::U4, {"u4", ElementClass::Unsigned, 4});
  set(ElementType::U8, {"u8", ElementClass::Unsigned, 8});
  set(ElementType::U16, {"u16", ElementClass::Unsigned, 16});
  set(ElementType::U32, {"u32", ElementClass::Unsigned, 32});
  set(ElementType::U64, {"u64", ElementClass::Unsigned, 64});
  set(ElementType::F4E2M1FN, {"f4e2m1fn", ElementClass::Float, 4});
  set(ElementType::F8E3M4, {"f8e3m4", ElementClass::Float, 8});
  set(ElementType::F8E4M3, {"f8e4m3", ElementClass::Float, 8});
  set(ElementType::F8E4M3FN, {"f8e4m3fn", ElementClass::Float, 8});
  set(ElementType::F8E4M3B11FNUZ, {"f8e4m3b11fnuz", ElementClass::Float, 8});
  set(ElementType::F8E4M3FNUZ, {"f8e4m3fnuz", ElementClass::Float, 8});
  set(ElementType::F8E5M2, {"f8e5m2", ElementClass::Float, 8});
  set(ElementType::F8E5M2FNUZ, {"f8e5m2fnuz", ElementClass::Float, 8});
  set(ElementType::F8E8M0FNU, {"f8e8m0fnu", ElementClass::Float, 8});
  set(ElementType::F16, {"f16", ElementClass::Float, 16});
  set(ElementType::BF16, {"bf16", ElementClass::Float, 16});
  set(ElementType::F32, {"f32", ElementClass::Float, 32});
  set(ElementType::F64, {"f64", ElementClass::Float, 64});
  set(ElementType::C64, {"c64", ElementClass::Complex, 64});
  set(ElementType::C128, {"c128", ElementClass::Complex, 128});
  set(ElementType::Tuple, {"tuple"});
  set(ElementType::Opaque, {"opaque"});
  set(ElementType::Token, {"token"});
  set(ElementType::Buffer, {"b"});
  return table;
}();

const TypeInfo& info(ElementType type) { return infos[static_cast<size_t>(type)]; }

}  // namespace

std::string_view to_string(ElementType type) { return info(type).name; }

std::optional<ElementType> parse_element_type(std::string_view name) {
  for (size_t i = 0; i < infos.size(); ++i)
    if (infos[i].name == name && i != 0) return static_cast<ElementType>(i);
  return std::nullopt;
}

ElementClass element_class(ElementType type) { return info(type).element_class; }
int bit_width(ElementType type) { return info(type).bits; }
int host_bytes(ElementType type) { return (info(type).bits + 7) / 8; }

ElementType component_type(ElementType complex) {
  return complex == ElementType::C128 ? ElementType::F64 : ElementType::F32;
}

std::optional<FloatFormat> float_format(ElementType type) {
  using Specials = FloatFormat::Specials;
  switch (type) {
    case ElementType::F64: return FloatFormat{11, 52, 1023, true, Specials::IEEE};
    case ElementType::F32: return FloatFormat{8, 23, 127, true, Specials::IEEE};
    case ElementType::BF16: return FloatFormat{8, 7, 127, true, Specials::IEEE};
    case ElementType::F16: return FloatFormat{5, 10, 15, true, Specials::IEEE};
    case ElementType::F8E5M2: return FloatFormat{5, 2, 15, true, Specials::IEEE};
    case ElementType::F8E4M3: return FloatFormat{4, 3, 7, true, Specials::IEEE};
    case ElementType::F8E3M4: return FloatFormat{3, 4, 3, true, Specials::IEEE};
    case ElementType::F8E4M3FN: return FloatFormat{4, 3, 7, true, Specials::FN};
    case ElementType::F8E4M3B11FNUZ: return FloatFormat{4, 3, 11, true, Specials::FNUZ};
    case ElementType::F8E4M3FNUZ: return FloatFormat{4, 3, 8, true, Specials::FNUZ};
    case ElementType::F8E5M2FNUZ: return FloatFormat{5, 2, 16, true, Specials::FNUZ};
    case ElementType::F4E2M1FN: return FloatFormat{2, 1, 1, true, Specials::Finite};
    case ElementType::F8E8M0FNU: return FloatFormat{8, 0, 127, false, Specials::E8M0};
    default: return std::nullopt;
  }
}

namespace {

using Specials = FloatFormat::Specials;

uint64_t ones(int bits) { return (uint64_t{1} << bits) - 1; }

double with_sign(double magnitude, bool negative) { return negative ? -magnitude : magnitude; }

// Bits without the sign of the largest finite value.
uint64_t largest_finite_bits(const FloatFormat& format) {
  const uint64_t all = ones(format.exponent_bits + format.mantissa_bits);
  switch (format.specials) {
    case Specials::IEEE: return all - (uint64_t{1} << format.mantissa_bits);
    case Specials::FN:
    case Specials::E8M0: return all - 1;
    case Specials::FNUZ:
    case Specials::Finite: return all;
  }
  return all;
}

uint64_t nan_bits(const FloatFormat& format, bool negative) {
  const uint64_t sign = uint64_t{1} << (format.exponent_bits + format.mantissa_bits);
  const uint64_t all = ones(format.exponent_bits + format.mantissa_bits);
  switch (format.specials) {
    case Specials::IEEE: {
      const uint64_t quiet =
          (ones(format.exponent_bits) << format.mantissa_bits) | (uint64_t{1} << (format.mantissa_bits - 1));
      return quiet | (negative ? sign : 0);
    }
    case Specials::FN: return all | (negative ? sign : 0);
    case Specials::FNUZ: return sign;
    case Specials::E8M0: return all;
    case Specials::Finite: return sign;  // no NaN to say; XLA gives -0
  }
  return all;
}

// What an overflow becomes, without the sign.
uint64_t overflow_bits(const FloatFormat& format) {
  switch (format.specials) {
    case Specials::IEEE: return ones(format.exponent_bits) << format.mantissa_bits;
    case Specials::FN:
    case Specials::E8M0: return ones(format.exponent_bits + format.mantissa_bits);
    case Specials::FNUZ: return uint64_t{1} << (format.exponent_bits + format.mantissa_bits);
    case Specials::Finite: return largest_finite_bits(format);
  }
  return 0;
}

constexpr int double_mantissa_bits = 52;
constexpr int double_bias = 1023;

// Drops the lowest bits, rounding to nearest, ties to even.
uint64_t round_off(uint64_t value, int dropped) {
  const uint64_t below_half = ones(dropped - 1);
  const uint64_t odd = (value >> dropped) & 1;
  return (value + below_half + odd) >> dropped;
}

// f8e8m0 of a finite value above zero: the power of two next to it; a tie goes to the even exponent field.
uint64_t encode_power(const FloatFormat& format, double value) {
  const int exponent = std::max(std::ilogb(value), -format.bias);
  const int biased = exponent + format.bias;
  const auto field = static_cast<uint64_t>(biased);
  const double significand = std::ldexp(value, -exponent);
  const bool up = significand > 1.5 || (significand == 1.5 && (field & 1) != 0);
  const uint64_t power = field + (up ? 1 : 0);
  return power > largest_finite_bits(format) ? overflow_bits(format) : power;
}

}  // namespace

double largest_finite(const FloatFormat& format) { return decode_float(format, largest_finite_bits(format)); }

double least_normal(const FloatFormat& format) {
  // E8M0 has no mantissa and no subnormals: its least number is that of exponent bits 0.
  return std::ldexp(1.0, (format.specials == FloatFormat::Specials::E8M0 ? 0 : 1) - format.bias);
}

double decode_float(const FloatFormat& format, uint64_t bits) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const uint64_t sign = format.has_sign ? uint64_t{1} << (format.exponent_bits + format.mantissa_bits) : 0;
  const bool negative = (bits & sign) != 0;
  const uint64_t magnitude = bits & ones(format.exponent_bits + format.mantissa_bits);
  const auto exponent = static_cast<int>(magnitude >> format.mantissa_bits);
  const uint64_t mantissa = magnitude & ones(format.mantissa_bits);
  if (format.specials == Specials::IEEE && exponent == static_cast<int>(ones(format.exponent_bits)))
    return with_sign(mantissa == 0 ? std::numeric_limits<double>::infinity() : nan, negative);
  if (format.specials == Specials::FN && magnitude == ones(format.exponent_bits + format.mantissa_bits))
    return with_sign(nan, negative);
  if (format.specials == Specials::FNUZ && bits == sign) return with_sign(nan, true);
  if (format.specials == Specials::E8M0)
    return magnitude == ones(format.exponent_bits) ? nan : std::ldexp(1.0, exponent - format.bias);
  if (exponent == 0)
    return with_sign(std::ldexp(static_cast<double>(mantissa), 1 - format.bias - format.mantissa_bits), negative);
  const int rebiased = exponent - format.bias + double_bias;
  const auto double_exponent = static_cast<uint64_t>(rebiased);
  return std::bit_cast<double>((uint64_t{negative} << 63) | (double_exponent << double_mantissa_bits) |
                               (mantissa << (double_mantissa_bits - format.mantissa_bits)));
}

uint64_t encode_float(const FloatFormat& format, double value) {
  const auto source = std::bit_cast<uint64_t>(value);
  const bool negative = (source >> 63) != 0;
  if (format.mantissa_bits == double_mantissa_bits) return source;
  if (std::isnan(value)) return nan_bits(format, negative);
  const uint64_t sign = format.has_sign && negative ? uint64_t{1} << (format.exponent_bits + format.mantissa_bits) : 0;
  if (std::isinf(value)) {
    if (format.specials == Specials::FNUZ) return overflow_bits(format);
    return format.specials == Specials::E8M0 ? nan_bits(format, false) : overflow_bits(format) | sign;
  }
  if (format.specials == Specials::E8M0 && (negative || value == 0)) return value == 0 ? 0 : nan_bits(format, false);
  const uint64_t magnitude = source & ones(63);
  if (magnitude == 0) return format.specials == Specials::FNUZ ? 0 : sign;
  if (format.specials == Specials::E8M0) return encode_power(format, std::fabs(value));

  // The field of the exponent lies above the mantissa, so that a carry out of rounding is right there too. Below the
  // smallest normal value units in the last place stay the same.
  const int dropped = double_mantissa_bits - format.mantissa_bits;
  const int exponent = static_cast<int>(magnitude >> double_mantissa_bits) - double_bias;
  const int lowest = 1 - format.bias;
  uint64_t bits = 0;
  if (exponent >= lowest) {
    bits = round_off(magnitude, dropped) - (static_cast<uint64_t>(double_bias - format.bias) << format.mantissa_bits);
  } else if (lowest - exponent <= format.mantissa_bits + 1) {
    const uint64_t significand = (magnitude & ones(double_mantissa_bits)) | (uint64_t{1} << double_mantissa_bits);
    bits = round_off(significand, dropped + lowest - exponent);
  }
  if (bits > largest_finite_bits(format)) {
    return format.specials == Specials::FNUZ ? overflow_bits(format) : overflow_bits(format) | sign;
  }
  if (bits == 0 && format.specials == Specials::FNUZ) return 0;
  return bits | sign;
}

}  // namespace sapper::hlo
