// fft: FFT, IFFT, RFFT and IRFFT over the last one to three dimensions, of any lengths. c64 and f32 are transformed in
// double, c128 and f64 in long double, and rounded once.
#include <tbb/enumerable_thread_specific.h>

#include <algorithm>

#include "base/parallel.h"
#include "eval/accumulator.h"
#include "eval/dimensions.h"
#include "eval/fourier.h"
#include "eval/op.h"

namespace sapper::eval {
namespace {

// An array of complex values in working precision, row-major.
template <class Real>
struct Field {
  std::vector<int64_t> dimensions;
  std::vector<std::complex<Real>> values;
};

template <class Real, Accumulator accumulator>
Field<Real> read(const hlo::Literal& literal) {
  using Operand = typename AccumulatorTypes<accumulator>::Operand;
  const auto widened = widen(literal, accumulator);
  const auto* from = reinterpret_cast<const Operand*>(widened->data());
  return {literal.shape().dimensions(), {from, from + literal.element_count()}};
}

// Transforms every line along dimension `axis`.
template <class Real>
void transform(Field<Real>& field, size_t axis, bool inverse) {
  struct Scratch {
    std::vector<std::complex<Real>> line, work;
  };
  const int64_t length = field.dimensions[axis];
  const int64_t stride = row_major_strides(field.dimensions)[axis];
  const FourierTransform<Real> plan(length);
  tbb::enumerable_thread_specific<Scratch> scratch;
  const int64_t lines = std::ssize(field.values) / length;
  parallel_for(lines, 1 + (1 << 12) / length, [&](int64_t begin, int64_t end) {
    auto& [line, work] = scratch.local();
    line.resize(static_cast<size_t>(length));
    for (int64_t i = begin; i != end; ++i) {
      std::complex<Real>* first = field.values.data() + i / stride * stride * length + i % stride;
      for (int64_t k = 0; k < length; ++k) line[static_cast<size_t>(k)] = first[k * stride];
      plan.apply(line, inverse, work);
      for (int64_t k = 0; k < length; ++k) first[k * stride] = line[static_cast<size_t>(k)];
    }
  });
}

// Makes the last dimension `length` long: drops the elements beyond, or adds those that the symmetry of the spectrum of
// real values gives.
template <class Real>
Field<Real> resize_spectrum(const Field<Real>& field, int64_t length) {
  const int64_t old_length = field.dimensions.back();
  const int64_t lines = std::ssize(field.values) / old_length;
  Field<Real> resized{field.dimensions, std::vector<std::complex<Real>>(static_cast<size_t>(lines * length))};
  resized.dimensions.back() = length;
  for (int64_t i = 0; i < lines; ++i) {
    const std::complex<Real>* from = field.values.data() + i * old_length;
    std::complex<Real>* to = resized.values.data() + i * length;
    for (int64_t k = 0; k < length; ++k) to[k] = k < old_length ? from[k] : std::conj(from[length - k]);
  }
  return resized;
}

template <class Real>
hlo::Literal transform_all(Field<Real> field, const hlo::Attributes& attributes, const hlo::Shape& shape) {
  const proto::FftType type = attributes.fft_type();
  const std::span<const int64_t> lengths = view(attributes.fft_length());
  const size_t last = field.dimensions.size() - 1;
  const size_t first = field.dimensions.size() - lengths.size();
  const bool inverse = type == proto::IFFT || type == proto::IRFFT;
  if (type == proto::RFFT) {
    transform(field, last, inverse);
    field = resize_spectrum(field, lengths.back() / 2 + 1);
  }
  const size_t end = type == proto::RFFT || type == proto::IRFFT ? last : last + 1;
  for (size_t axis = first; axis < end; ++axis) transform(field, axis, inverse);
  if (type == proto::IRFFT) {
    field = resize_spectrum(field, lengths.back());
    transform(field, last, inverse);
  }
  if (hlo::is_complex(shape.element_type())) return round_to_literal(field.values, shape);
  std::vector<Real> real(field.values.size());
  std::ranges::transform(field.values, real.begin(), [](std::complex<Real> value) { return value.real(); });
  return round_to_literal(real, shape);
}

}  // namespace

Result<hlo::Literal> fft(const OpContext& context, std::span<const hlo::Literal> operands) {
  const hlo::Attributes& attributes = context.instruction.attributes();
  const hlo::Shape& shape = context.instruction.shape;
  if (shape.element_count() == 0 || operands[0].element_count() == 0) return hlo::Literal(shape);
  const bool wide = shape.element_type() == hlo::ElementType::C128 || shape.element_type() == hlo::ElementType::F64;
  if (wide) return transform_all(read<long double, Accumulator::ComplexExtended>(operands[0]), attributes, shape);
  return transform_all(read<double, Accumulator::ComplexF64>(operands[0]), attributes, shape);
}

}  // namespace sapper::eval
