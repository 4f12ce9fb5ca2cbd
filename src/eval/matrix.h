// Batches of dense matrices in working precision, for the operations on whole matrices: f32 and narrower are computed
// in double, f64 in long double, complex types in complex of those, and rounded once.
#pragma once

#include <complex>
#include <type_traits>
#include <vector>

#include "base/parallel.h"
#include "eval/accumulator.h"
#include "hlo/literal.h"

namespace sapper::eval {

// A row-major matrix inside a batch.
template <class Number>
struct MatrixView {
  Number* data;
  int64_t rows, columns;
  Number& operator()(int64_t i, int64_t j) const { return data[i * columns + j]; }
};

template <class Number>
struct MatrixBatch {
  int64_t count, rows, columns;
  std::vector<Number> values;

  [[nodiscard]] MatrixView<Number> operator[](int64_t i) { return {values.data() + i * rows * columns, rows, columns}; }
};

template <class Number>
inline constexpr bool is_complex_number = !std::is_floating_point_v<Number>;

template <class Number>
Number conjugate(Number value) {
  if constexpr (is_complex_number<Number>) {
    return std::conj(value);
  } else {
    return value;
  }
}

// By the definition; std::complex's own operator recovers infinities from NaNs.
template <class Number>
Number product(Number a, Number b) {
  if constexpr (is_complex_number<Number>) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  } else {
    return a * b;
  }
}

// Calls visit.template operator()<Number>() with the working type for elements of `type`.
template <class Visit>
decltype(auto) with_working_type(hlo::ElementType type, Visit&& visit) {
  switch (type) {
    case hlo::ElementType::F64: return visit.template operator()<long double>();
    case hlo::ElementType::C64: return visit.template operator()<std::complex<double>>();
    case hlo::ElementType::C128: return visit.template operator()<std::complex<long double>>();
    default: return visit.template operator()<double>();
  }
}

// The last two dimensions are the matrices'. (One dimension: a row each.)
template <class Number>
MatrixBatch<Number> read_matrices(const hlo::Literal& literal) {
  constexpr Accumulator accumulator = std::is_same_v<Number, double>                 ? Accumulator::F64
                                      : std::is_same_v<Number, long double>          ? Accumulator::Extended
                                      : std::is_same_v<Number, std::complex<double>> ? Accumulator::ComplexF64
                                                                                     : Accumulator::ComplexExtended;
  using Operand = typename AccumulatorTypes<accumulator>::Operand;
  const std::vector<int64_t>& dimensions = literal.shape().dimensions();
  const int64_t columns = dimensions.back();
  const int64_t rows = dimensions.size() < 2 ? 1 : dimensions[dimensions.size() - 2];
  const int64_t size = rows * columns;
  const auto widened = widen(literal, accumulator);
  const auto* from = reinterpret_cast<const Operand*>(widened->data());
  return {size == 0 ? 0 : literal.element_count() / size, rows, columns, {from, from + literal.element_count()}};
}

// Calls visit(i) for each matrix of a batch, in parallel.
template <class Visit>
void for_each_matrix(int64_t count, const Visit& visit) {
  parallel_for_each(count, visit);
}

}  // namespace sapper::eval
