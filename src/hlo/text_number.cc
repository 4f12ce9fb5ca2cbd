#include "hlo/text_number.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>

namespace sapper::hlo {
namespace {

size_t digits_length(std::string_view text) {
  return static_cast<size_t>(std::find_if(text.begin(), text.end(), [](char c) { return c < '0' || c > '9'; }) -
                             text.begin());
}

// A format with more than one NaN tells them apart by the payload: all the mantissa bits.
bool has_payloads(const FloatFormat& format) { return format.specials == FloatFormat::Specials::IEEE; }

uint64_t mantissa_mask(const FloatFormat& format) { return (uint64_t{1} << format.mantissa_bits) - 1; }
uint64_t quiet_payload(const FloatFormat& format) { return uint64_t{1} << (format.mantissa_bits - 1); }

std::optional<uint64_t> nan_bits(const FloatFormat& format, bool negative, std::string_view payload_text) {
  const uint64_t sign = negative && format.has_sign ? uint64_t{1} << (format.width() - 1) : 0;
  if (format.specials == FloatFormat::Specials::FNUZ) return uint64_t{1} << (format.width() - 1);
  const uint64_t exponent = ((uint64_t{1} << format.exponent_bits) - 1) << format.mantissa_bits;
  if (!has_payloads(format)) return sign | exponent | mantissa_mask(format);
  uint64_t payload = quiet_payload(format);
  if (!payload_text.empty()) {
    const auto [past, problem] =
        std::from_chars(payload_text.data(), payload_text.data() + payload_text.size(), payload, 16);
    if (problem != std::errc() || payload == 0 || payload > mantissa_mask(format)) return std::nullopt;
  }
  return sign | exponent | payload;
}

// The double nearest to `number`, which is finite text; nullopt when it overflows. An underflow is zero or subnormal.
std::optional<double> nearest_double(std::string_view number) {
  double value = 0;
  const auto [past, problem] = std::from_chars(number.data(), number.data() + number.size(), value);
  if (problem == std::errc()) return value;
  // Out of range: from_chars does not say in which direction, strtod does.
  value = std::strtod(std::string(number).c_str(), nullptr);
  return std::isinf(value) ? std::nullopt : std::optional(value);
}

template <class Float>
std::string_view shortest(std::array<char, 64>& buffer, Float value) {
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr;
  const std::string_view text(buffer.data(), static_cast<size_t>(end - buffer.data()));
  // Plain digits read as an integer of 64 bits: too long ones would not fit.
  if (text.size() <= 16 || text.find_first_of(".e") != std::string_view::npos) return text;
  const auto scientific =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific).ptr;
  return {buffer.data(), static_cast<size_t>(scientific - buffer.data())};
}

// For the types that the standard library does not know: the fewest digits whose value rounds back to `bits`.
std::string_view shortest(std::array<char, 64>& buffer, const FloatFormat& format, uint64_t bits) {
  const double value = decode_float(format, bits);
  for (int digits = 1;; ++digits) {
    auto* const end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::general, digits).ptr;
    const std::string_view text(buffer.data(), static_cast<size_t>(end - buffer.data()));
    if (digits == 17 || encode_float(format, *nearest_double(text)) == bits) return text;
  }
}

}  // namespace

size_t number_length(std::string_view text) {
  const size_t sign = text.starts_with('-') ? 1 : 0;
  const std::string_view rest = text.substr(sign);
  if (rest.starts_with("inf")) return sign + 3;
  if (rest.starts_with("nan")) {
    if (!rest.starts_with("nan(0x")) return sign + 3;
    const size_t close = rest.substr(6, 17).find(')');
    return close == std::string_view::npos ? 0 : sign + 6 + close + 1;
  }
  size_t length = digits_length(rest);
  size_t digits = length;
  if (length < rest.size() && rest[length] == '.') {
    const size_t fraction = digits_length(rest.substr(length + 1));
    digits += fraction;
    length += 1 + fraction;
  }
  if (digits == 0) return 0;
  if (length < rest.size() && (rest[length] == 'e' || rest[length] == 'E')) {
    size_t exponent = length + 1;
    if (exponent < rest.size() && (rest[exponent] == '+' || rest[exponent] == '-')) ++exponent;
    const size_t exponent_digits = digits_length(rest.substr(exponent));
    if (exponent_digits > 0) length = exponent + exponent_digits;
  }
  return sign + length;
}

std::optional<double> parse_real(std::string_view number) {
  const bool negative = number.starts_with('-');
  const std::string_view magnitude = number.substr(negative ? 1 : 0);
  if (magnitude.starts_with("inf")) return negative ? -INFINITY : INFINITY;
  if (magnitude.starts_with("nan")) return negative ? -std::nan("") : std::nan("");
  return nearest_double(number);
}

std::optional<uint64_t> parse_float_bits(ElementType type, std::string_view number) {
  const bool negative = number.starts_with('-');
  const std::string_view magnitude = number.substr(negative ? 1 : 0);
  if (magnitude.starts_with("nan")) {
    const std::string_view payload = magnitude.size() > 3 ? magnitude.substr(6, magnitude.size() - 7) : "";
    return nan_bits(*float_format(type), negative, payload);
  }
  const std::optional<double> value = parse_real(number);
  if (!value) return std::nullopt;
  if (type == ElementType::F64) return std::bit_cast<uint64_t>(*value);
  if (type == ElementType::F32) {
    const auto narrow = static_cast<float>(*value);
    if (std::isinf(narrow) && std::isfinite(*value)) return std::nullopt;
    return std::bit_cast<uint32_t>(narrow);
  }
  const FloatFormat format = *float_format(type);
  const uint64_t bits = encode_float(format, *value);
  if (std::isfinite(*value) && !std::isfinite(decode_float(format, bits))) return std::nullopt;
  return bits;
}

void append_float(std::string& out, ElementType type, uint64_t bits) {
  const FloatFormat format = *float_format(type);
  const double value = decode_float(format, bits);
  const bool negative = format.has_sign && ((bits >> (format.width() - 1)) & 1) != 0;
  if (std::isnan(value)) {
    const uint64_t payload = bits & mantissa_mask(format);
    out += negative && format.specials != FloatFormat::Specials::FNUZ ? "-nan" : "nan";
    if (has_payloads(format) && payload != quiet_payload(format))
      fmt::format_to(std::back_inserter(out), "(0x{:x})", payload);
    return;
  }
  if (std::isinf(value)) {
    out += negative ? "-inf" : "inf";
    return;
  }
  std::array<char, 64> buffer{};
  if (value == 0) {
    out += negative ? "-0.0" : "0";  // -0 would read as the integer 0 in XLA
  } else if (type == ElementType::F32) {
    out += shortest(buffer, static_cast<float>(value));
  } else if (type == ElementType::F64) {
    out += shortest(buffer, value);
  } else {
    out += shortest(buffer, format, bits);
  }
}

void append_real(std::string& out, float value) { append_float(out, ElementType::F32, std::bit_cast<uint32_t>(value)); }

void append_real(std::string& out, double value) {
  append_float(out, ElementType::F64, std::bit_cast<uint64_t>(value));
}

}  // namespace sapper::hlo
