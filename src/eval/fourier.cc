#include "eval/fourier.h"

#include <array>
#include <bit>
#include <cmath>
#include <numbers>

namespace sapper::eval {
namespace {

constexpr int64_t largest_radix = 61;  // primes beyond go through Bluestein's algorithm

// Fours first, then primes, ascending.
std::vector<int64_t> factorize(int64_t n) {
  std::vector<int64_t> factors;
  for (; n % 4 == 0; n /= 4) factors.push_back(4);
  for (int64_t p = 2; p * p <= n; ++p)
    for (; n % p == 0; n /= p) factors.push_back(p);
  if (n > 1) factors.push_back(n);
  return factors;
}

// exp(-2 pi i k / n), exact at multiples of an eighth turn, otherwise by an angle within the first octant.
template <class Real>
std::complex<Real> root(int64_t k, int64_t n) {
  k %= n;
  const int64_t octant = 8 * k / n;  // of eight
  // Distance to the nearest multiple of a quarter turn, in units of 1 / (4 n) turns.
  const int64_t quarter = (octant + 1) / 2;
  const int64_t distance = 4 * k - quarter * n;
  const long double angle =
      std::numbers::pi_v<long double> * static_cast<long double>(distance) / (2 * static_cast<long double>(n));
  const auto cosine = static_cast<Real>(std::cos(angle));
  const auto sine = static_cast<Real>(std::sin(angle));
  switch (quarter % 4) {
    case 0: return {cosine, -sine};
    case 1: return {-sine, -cosine};
    case 2: return {-cosine, sine};
    default: return {sine, cosine};
  }
}

template <class Real>
std::vector<std::complex<Real>> roots_of(int64_t n) {
  std::vector<std::complex<Real>> roots(static_cast<size_t>(n));
  for (int64_t k = 0; k < n; ++k) roots[static_cast<size_t>(k)] = root<Real>(k, n);
  return roots;
}

// The product by its definition: std::complex recovers infinities from NaNs, which costs time and is not asked for.
template <class Real>
std::complex<Real> product(std::complex<Real> a, std::complex<Real> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

template <class Real>
void conjugate(std::span<std::complex<Real>> line, Real scale) {
  for (std::complex<Real>& x : line) x = {x.real() * scale, -x.imag() * scale};
}

}  // namespace

template <class Real>
FourierTransform<Real>::FourierTransform(int64_t length) : length_(length), factors_(factorize(length)) {
  if (factors_.empty() || factors_.back() <= largest_radix) {
    roots_ = roots_of<Real>(length);
    return;
  }
  padded_length_ = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(2 * length - 1)));
  factors_ = factorize(padded_length_);
  roots_ = roots_of<Real>(padded_length_);
  chirp_.resize(static_cast<size_t>(length));
  int64_t square = 0;  // k * k modulo 2 * length
  for (int64_t k = 0; k < length; square = (square + 2 * k + 1) % (2 * length), ++k)
    chirp_[static_cast<size_t>(k)] = root<Real>(square, 2 * length);
  std::vector<Complex> wrapped(static_cast<size_t>(padded_length_));
  for (int64_t k = 0; k < length; ++k) {
    const Complex value = std::conj(chirp_[static_cast<size_t>(k)]) / static_cast<Real>(padded_length_);
    wrapped[static_cast<size_t>(k)] = wrapped[static_cast<size_t>((padded_length_ - k) % padded_length_)] = value;
  }
  spectrum_.resize(wrapped.size());
  transform_factors(spectrum_.data(), wrapped.data(), padded_length_, 1, 0);
}

template <class Real>
void FourierTransform<Real>::apply(std::span<Complex> line, bool inverse, std::vector<Complex>& scratch) const {
  // The inverse transform is the conjugate of the transform of the conjugate.
  if (inverse) conjugate(line, Real{1});
  if (padded_length_ != 0) {
    transform_chirp(line, scratch);
  } else {
    scratch.assign(line.begin(), line.end());
    transform_factors(line.data(), scratch.data(), length_, 1, 0);
  }
  if (inverse) conjugate(line, 1 / static_cast<Real>(length_));
}

// Decimation in time by factors_[factor] and those after it.
template <class Real>
void FourierTransform<Real>::transform_factors(Complex* out, const Complex* in, int64_t length, int64_t stride,
                                               size_t factor) const {
  if (length == 1) {
    *out = *in;
    return;
  }
  const int64_t radix = factors_[factor];
  const int64_t part = length / radix;
  for (int64_t q = 0; q < radix; ++q)
    transform_factors(out + q * part, in + q * stride, part, stride * radix, factor + 1);
  const auto twiddle = [&](int64_t k) { return roots_[static_cast<size_t>(k * stride)]; };
  if (radix == 2) {
    for (int64_t k = 0; k < part; ++k) {
      const Complex even = out[k];
      const Complex odd = product(out[k + part], twiddle(k));
      out[k] = even + odd;
      out[k + part] = even - odd;
    }
  } else if (radix == 4) {
    for (int64_t k = 0; k < part; ++k) {
      const Complex a = out[k];
      const Complex b = product(out[k + part], twiddle(k));
      const Complex c = product(out[k + 2 * part], twiddle(2 * k));
      const Complex d = product(out[k + 3 * part], twiddle(3 * k));
      const Complex sum = b + d;
      const Complex turned = {(b - d).imag(), -(b - d).real()};  // times -i
      out[k] = a + c + sum;
      out[k + part] = a - c + turned;
      out[k + 2 * part] = a + c - sum;
      out[k + 3 * part] = a - c - turned;
    }
  } else {
    std::array<Complex, largest_radix> terms;
    for (int64_t k = 0; k < part; ++k) {
      for (int64_t q = 0; q < radix; ++q) terms[static_cast<size_t>(q)] = product(out[k + q * part], twiddle(q * k));
      for (int64_t r = 0; r < radix; ++r) {
        Complex sum = terms[0];
        for (int64_t q = 1; q < radix; ++q)
          sum += product(terms[static_cast<size_t>(q)], twiddle(q * r % radix * part));
        out[k + r * part] = sum;
      }
    }
  }
}

// Bluestein: since 2 j k = j j + k k - (k - j) (k - j), the transform is a convolution with a chirp between two
// multiplications by it.
template <class Real>
void FourierTransform<Real>::transform_chirp(std::span<Complex> line, std::vector<Complex>& scratch) const {
  const auto padded = static_cast<size_t>(padded_length_);
  scratch.assign(2 * padded, Complex{});
  const std::span<Complex> signal(scratch.data(), padded);
  const std::span<Complex> transformed(scratch.data() + padded, padded);
  for (size_t k = 0; k < line.size(); ++k) signal[k] = product(line[k], chirp_[k]);
  transform_factors(transformed.data(), signal.data(), padded_length_, 1, 0);
  for (size_t k = 0; k < padded; ++k) transformed[k] = std::conj(product(transformed[k], spectrum_[k]));
  transform_factors(signal.data(), transformed.data(), padded_length_, 1, 0);
  for (size_t k = 0; k < line.size(); ++k) line[k] = product(std::conj(signal[k]), chirp_[k]);
}

template class FourierTransform<double>;
template class FourierTransform<long double>;

}  // namespace sapper::eval
