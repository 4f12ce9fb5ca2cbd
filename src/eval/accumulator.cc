#include "eval/accumulator.h"

#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstring>

#include "base/assert.h"
#include "base/parallel.h"

namespace sapper::eval {
namespace {

using hlo::ElementClass;
using hlo::ElementType;

// Whether every value converts exactly to f32, so that a product of two is exact in f64.
bool fits_f32(ElementType type) {
  if (hlo::is_float(type)) return type != ElementType::F64;
  return type == ElementType::Pred || hlo::bit_width(type) <= 16;
}

template <class Stored, class Operand>
void convert(const std::byte* from, int64_t count, Operand* to) {
  const auto* stored = reinterpret_cast<const Stored*>(from);
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<Operand>(stored[i]);
}

template <class Operand>
void convert_bf16(const std::byte* from, int64_t count, Operand* to) {
  const auto* stored = reinterpret_cast<const uint16_t*>(from);
  for (int64_t i = 0; i < count; ++i)
    to[i] = static_cast<Operand>(std::bit_cast<float>(static_cast<uint32_t>(stored[i]) << 16));
}

template <class Operand>
void convert_narrow_float(ElementType type, const std::byte* from, int64_t count, Operand* to) {
  const hlo::FloatFormat format = *hlo::float_format(type);
  if (hlo::host_bytes(type) == 1) {
    std::array<Operand, 256> values;
    for (size_t bits = 0; bits < values.size(); ++bits)
      values[bits] = static_cast<Operand>(hlo::decode_float(format, bits & ((1U << format.width()) - 1)));
    for (int64_t i = 0; i < count; ++i) to[i] = values[static_cast<uint8_t>(from[i])];
    return;
  }
  const auto* stored = reinterpret_cast<const uint16_t*>(from);
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<Operand>(hlo::decode_float(format, stored[i]));
}

template <class Operand>
void convert_integer(ElementType type, const std::byte* from, int64_t count, Operand* to) {
  const bool is_signed = hlo::element_class(type) == ElementClass::Signed;
  switch (hlo::host_bytes(type)) {
    case 1: return is_signed ? convert<int8_t>(from, count, to) : convert<uint8_t>(from, count, to);
    case 2: return is_signed ? convert<int16_t>(from, count, to) : convert<uint16_t>(from, count, to);
    case 4: return is_signed ? convert<int32_t>(from, count, to) : convert<uint32_t>(from, count, to);
    default: return is_signed ? convert<int64_t>(from, count, to) : convert<uint64_t>(from, count, to);
  }
}

template <class Operand>
void convert_any(ElementType type, const std::byte* from, int64_t count, Operand* to) {
  if (!hlo::is_float(type)) return convert_integer(type, from, count, to);
  if constexpr (!std::integral<Operand>) {
    switch (type) {
      case ElementType::F64: return convert<double>(from, count, to);
      case ElementType::F32: return convert<float>(from, count, to);
      case ElementType::BF16: return convert_bf16(from, count, to);
      default: return convert_narrow_float(type, from, count, to);
    }
  }
  SAPPER_ASSERT(!"a float operand of an integer sum");
}

template <class Component>
void convert_any(ElementType type, const std::byte* from, int64_t count, std::complex<Component>* to) {
  if (type == ElementType::C64) return convert<std::complex<float>>(from, count, to);
  if (type == ElementType::C128) return convert<std::complex<double>>(from, count, to);
  std::array<Component, 256> real;
  const int64_t bytes = hlo::host_bytes(type);
  for (int64_t done = 0; done < count; done += std::ssize(real)) {
    const int64_t n = std::min(count - done, std::ssize(real));
    convert_any(type, from + done * bytes, n, real.data());
    std::copy_n(real.data(), n, to + done);
  }
}

bool is_operand_type(ElementType type, Accumulator accumulator) {
  switch (accumulator) {
    case Accumulator::F64: return type == ElementType::F32;
    case Accumulator::Extended: return type == ElementType::F64;
    case Accumulator::U32: return type == ElementType::S32 || type == ElementType::U32;
    case Accumulator::U64: return type == ElementType::S64 || type == ElementType::U64;
    case Accumulator::ComplexF64: return type == ElementType::C64;
    case Accumulator::ComplexExtended: return type == ElementType::C128;
  }
  return false;
}

// Rounds to odd: rounding the result to a format of at most 51 bits equals rounding `value` to it.
double to_odd(long double value) {
  const auto nearest = static_cast<double>(value);
  if (nearest == value || !std::isfinite(nearest)) return nearest;
  const auto bits = std::bit_cast<uint64_t>(nearest);
  if ((bits & 1) != 0) return nearest;
  // The other neighbour of `value` has an odd last bit.
  return std::nextafter(nearest, static_cast<long double>(nearest) < value ? INFINITY : -INFINITY);
}

template <class Stored, class Sum>
void store_as(std::span<const Sum> sums, std::byte* out) {
  auto* stored = reinterpret_cast<Stored*>(out);
  for (size_t i = 0; i < sums.size(); ++i) stored[i] = static_cast<Stored>(sums[i]);
}

template <class Sum>
void round_floats(std::span<const Sum> sums, ElementType type, std::byte* out) {
  if (type == ElementType::F32) return store_as<float>(sums, out);
  if (type == ElementType::F64) return store_as<double>(sums, out);
  if (type == ElementType::Pred) {
    for (size_t i = 0; i < sums.size(); ++i) out[i] = static_cast<std::byte>(sums[i] != 0);
    return;
  }
  const hlo::FloatFormat format = *hlo::float_format(type);
  const auto bytes = static_cast<size_t>(hlo::host_bytes(type));
  for (size_t i = 0; i < sums.size(); ++i) {
    const uint64_t bits = hlo::encode_float(format, std::same_as<Sum, double> ? sums[i] : to_odd(sums[i]));
    std::memcpy(out + i * bytes, &bits, bytes);
  }
}

template <class Sum>
void wrap_integers(std::span<const Sum> sums, ElementType type, std::byte* out) {
  const int unused = hlo::host_bytes(type) * 8 - hlo::bit_width(type);
  const bool is_signed = hlo::element_class(type) == ElementClass::Signed;
  switch (hlo::host_bytes(type)) {
    case 1:
      for (size_t i = 0; i < sums.size(); ++i) {
        const auto shifted = static_cast<uint8_t>(sums[i] << unused);
        out[i] = static_cast<std::byte>(is_signed ? static_cast<int8_t>(shifted) >> unused : shifted >> unused);
      }
      return;
    case 2: return store_as<uint16_t>(sums, out);
    case 4: return store_as<uint32_t>(sums, out);
    default: return store_as<uint64_t>(sums, out);
  }
}

}  // namespace

Result<Accumulator> choose_accumulator(ElementType lhs, ElementType rhs, ElementType result) {
  if (hlo::is_complex(result))
    return result == ElementType::C64 && lhs != ElementType::C128 && rhs != ElementType::C128
               ? Accumulator::ComplexF64
               : Accumulator::ComplexExtended;
  if (hlo::is_float(result) || result == ElementType::Pred)
    return fits_f32(lhs) && fits_f32(rhs) ? Accumulator::F64 : Accumulator::Extended;
  if (hlo::is_integer(result) && !hlo::is_float(lhs) && !hlo::is_float(rhs))
    return hlo::bit_width(result) <= 32 ? Accumulator::U32 : Accumulator::U64;
  return fail(ErrorKind::Unsupported, "not evaluated: a product of {} and {} as {}", hlo::to_string(lhs),
              hlo::to_string(rhs), hlo::to_string(result));
}

size_t operand_bytes(Accumulator accumulator) {
  return with_accumulator(accumulator,
                          []<Accumulator chosen>() { return sizeof(typename AccumulatorTypes<chosen>::Operand); });
}

std::shared_ptr<const hlo::AlignedBytes> widen(const hlo::Literal& literal, Accumulator accumulator) {
  const ElementType type = literal.shape().element_type();
  if (is_operand_type(type, accumulator)) return literal.shared_bytes();
  const int64_t count = literal.element_count();
  auto widened = std::make_shared<hlo::AlignedBytes>(static_cast<size_t>(count) * operand_bytes(accumulator));
  with_accumulator(accumulator, [&]<Accumulator chosen>() {
    auto* to = reinterpret_cast<typename AccumulatorTypes<chosen>::Operand*>(widened->data());
    const std::byte* from = literal.bytes().data();
    parallel_for(count, 1 << 16, [&](int64_t begin, int64_t end) {
      convert_any(type, from + begin * hlo::host_bytes(type), end - begin, to + begin);
    });
  });
  return widened;
}

void round_sums(std::span<const double> sums, ElementType type, std::byte* out) { round_floats(sums, type, out); }
void round_sums(std::span<const long double> sums, ElementType type, std::byte* out) { round_floats(sums, type, out); }
void round_sums(std::span<const uint32_t> sums, ElementType type, std::byte* out) { wrap_integers(sums, type, out); }
void round_sums(std::span<const uint64_t> sums, ElementType type, std::byte* out) { wrap_integers(sums, type, out); }

}  // namespace sapper::eval
