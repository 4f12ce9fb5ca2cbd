// The types that sums of products are taken in, and how elements enter and leave them. A sum starts at zero, adds its
// terms in a stated order in the accumulator's type, and is rounded once, into the result's element type.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "base/assert.h"
#include "base/error.h"
#include "hlo/literal.h"

namespace sapper::eval {

enum class Accumulator {
  F64,              // floats up to f32, and integers up to 16 bits in float sums: a product of two is exact in f64
  Extended,         // f64, and wide integers in float sums: long double, 64 bits of significand on x86
  U32,              // integer results up to 32 bits, modulo 2^32 (two's complement serves both signs)
  U64,              // integer results of 64 bits
  ComplexF64,       // c64
  ComplexExtended,  // c128
};

// The accumulator for sums of products of elements of the two operand types. Unsupported when floats would become
// integers.
[[nodiscard]] Result<Accumulator> choose_accumulator(hlo::ElementType lhs, hlo::ElementType rhs,
                                                     hlo::ElementType result);

// For each accumulator: the type of its sums (of one component of a complex sum), and the type that operands are held
// in, which converts to it exactly.
template <Accumulator accumulator>
struct AccumulatorTypes;
template <>
struct AccumulatorTypes<Accumulator::F64> {
  using Sum = double;
  using Operand = float;
};
template <>
struct AccumulatorTypes<Accumulator::Extended> {
  using Sum = long double;
  using Operand = double;
};
template <>
struct AccumulatorTypes<Accumulator::U32> {
  using Sum = uint32_t;
  using Operand = uint32_t;
};
template <>
struct AccumulatorTypes<Accumulator::U64> {
  using Sum = uint64_t;
  using Operand = uint64_t;
};
template <>
struct AccumulatorTypes<Accumulator::ComplexF64> {
  using Sum = double;
  using Operand = std::complex<float>;
};
template <>
struct AccumulatorTypes<Accumulator::ComplexExtended> {
  using Sum = long double;
  using Operand = std::complex<double>;
};

// Calls visit with the accumulator as a template argument: visit.template operator()<Accumulator::F64>().
template <class Visit>
decltype(auto) with_accumulator(Accumulator accumulator, Visit&& visit) {
  switch (accumulator) {
    case Accumulator::F64: return visit.template operator()<Accumulator::F64>();
    case Accumulator::Extended: return visit.template operator()<Accumulator::Extended>();
    case Accumulator::U32: return visit.template operator()<Accumulator::U32>();
    case Accumulator::U64: return visit.template operator()<Accumulator::U64>();
    case Accumulator::ComplexF64: return visit.template operator()<Accumulator::ComplexF64>();
    case Accumulator::ComplexExtended: break;
  }
  return visit.template operator()<Accumulator::ComplexExtended>();
}

// Bytes of one operand element: sizeof(AccumulatorTypes<accumulator>::Operand).
[[nodiscard]] size_t operand_bytes(Accumulator accumulator);

// The elements of an array as AccumulatorTypes<...>::Operand; the literal's own bytes where they are that already.
[[nodiscard]] std::shared_ptr<const hlo::AlignedBytes> widen(const hlo::Literal& literal, Accumulator accumulator);

// Rounds `count` sums to `type`, writing consecutive elements at `out`. Pred: whether a sum is not zero.
void round_sums(std::span<const double> sums, hlo::ElementType type, std::byte* out);
void round_sums(std::span<const long double> sums, hlo::ElementType type, std::byte* out);
void round_sums(std::span<const uint32_t> sums, hlo::ElementType type, std::byte* out);
void round_sums(std::span<const uint64_t> sums, hlo::ElementType type, std::byte* out);

// An array of `shape` with the numbers, real or complex, rounded into it.
template <class Number>
[[nodiscard]] hlo::Literal round_to_literal(const std::vector<Number>& numbers, const hlo::Shape& shape) {
  SAPPER_ASSERT(shape.element_count() == std::ssize(numbers));
  hlo::Literal result = hlo::Literal::uninitialized(shape);
  if constexpr (std::is_arithmetic_v<Number>) {
    round_sums(std::span<const Number>(numbers), shape.element_type(), result.mutable_bytes().data());
  } else {
    using Real = typename Number::value_type;
    const std::span<const Real> components(reinterpret_cast<const Real*>(numbers.data()), 2 * numbers.size());
    round_sums(components, hlo::component_type(shape.element_type()), result.mutable_bytes().data());
  }
  return result;
}

}  // namespace sapper::eval
