// Lane functions: stochastic-convert, from floats to integers: rounds away from zero when the random bits, as a
// fraction of one, are below the fraction of the operand.
#include <bit>
#include <cmath>

#include "eval/lane_tables.h"

namespace sapper::eval {
namespace {

// The detail: random bits per lane, result width, result signedness, operand is double.
constexpr uint32_t pack(uint32_t random_bits, uint32_t width, bool is_signed, bool is_double) {
  return random_bits | width << 8 | uint32_t{is_signed} << 16 | uint32_t{is_double} << 17;
}

uint64_t load_unsigned(const void* lanes, size_t i, size_t bytes) {
  uint64_t value = 0;
  std::memcpy(&value, static_cast<const std::byte*>(lanes) + i * bytes, bytes);
  return value;
}

double load_real(const void* lanes, size_t i, bool is_double) {
  return is_double ? static_cast<const double*>(lanes)[i] : static_cast<const float*>(lanes)[i];
}

// The result as the low bits of a word.
uint64_t convert(double operand, uint64_t random, int random_bits, int width, bool is_signed) {
  if (std::isnan(operand)) return 0;
  const int digits = is_signed ? width - 1 : width;
  const double end = std::ldexp(1.0, digits);
  const uint64_t highest = ~uint64_t{0} >> (64 - digits);
  if (operand >= end) return highest;
  if (operand < (is_signed ? -end : 0.0)) return is_signed ? ~highest : 0;
  const double magnitude = std::fabs(operand);
  auto whole = static_cast<uint64_t>(magnitude);
  const double fraction = std::ldexp(magnitude - std::floor(magnitude), random_bits);
  const bool away = static_cast<double>(random) < fraction && static_cast<double>(whole) + 1 < end;
  whole += away ? 1 : 0;
  return operand < 0 ? uint64_t{0} - whole : whole;
}

void stochastic(size_t n, void* result, const void* a, const void* b, const void*, uint32_t detail) {
  const auto random_bits = static_cast<int>(detail & 0xff);
  const auto width = static_cast<int>(detail >> 8 & 0xff);
  const bool is_signed = (detail >> 16 & 1) != 0;
  const size_t result_bytes = static_cast<size_t>(width + 7) / 8;
  for (size_t i = 0; i < n; ++i) {
    const uint64_t value =
        convert(load_real(a, i, (detail >> 17 & 1) != 0), load_unsigned(b, i, static_cast<size_t>(random_bits) / 8),
                random_bits, width, is_signed);
    std::memcpy(static_cast<std::byte*>(result) + i * result_bytes, &value, result_bytes);
  }
}

}  // namespace

LaneOperation stochastic_convert(hlo::ElementType from, hlo::ElementType random, hlo::ElementType to) {
  const bool defined = hlo::is_float(from) && hlo::element_class(random) == hlo::ElementClass::Unsigned &&
                       hlo::bit_width(random) >= 8 && hlo::is_integer(to);
  if (!defined) return {};
  const uint32_t detail = pack(static_cast<uint32_t>(hlo::bit_width(random)), static_cast<uint32_t>(hlo::bit_width(to)),
                               hlo::element_class(to) == hlo::ElementClass::Signed, from == hlo::ElementType::F64);
  return {stochastic, detail, nullptr};
}

}  // namespace sapper::eval
