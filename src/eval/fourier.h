// FourierTransform: the discrete Fourier transform of one line of any length, planned once and applied to many.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

namespace sapper::eval {

// Mixed radices where all prime factors of the length are small, Bluestein's algorithm otherwise; O(n log n) for every
// n. Real is double or long double; the error is a few units in its last place times log2(n), relative to the line's
// norm.
template <class Real>
class FourierTransform {
 public:
  using Complex = std::complex<Real>;

  explicit FourierTransform(int64_t length);

  [[nodiscard]] int64_t length() const { return length_; }

  // Element k becomes the sum over j of element j * exp(-2 pi i j k / n), or with +i and divided by n when `inverse`.
  // `scratch` is the caller's (one a thread) and keeps its memory between calls.
  void apply(std::span<Complex> line, bool inverse, std::vector<Complex>& scratch) const;

 private:
  void transform_factors(Complex* out, const Complex* in, int64_t length, int64_t stride, size_t factor) const;
  void transform_chirp(std::span<Complex> line, std::vector<Complex>& scratch) const;

  int64_t length_;
  std::vector<int64_t> factors_;   // of length_, or of padded_length_ for Bluestein's algorithm
  std::vector<Complex> roots_;     // exp(-2 pi i k / n) for the n that factors_ are of
  int64_t padded_length_ = 0;      // a power of two; 0: mixed radices
  std::vector<Complex> chirp_;     // exp(-pi i k k / length_)
  std::vector<Complex> spectrum_;  // transform of the conjugate chirp, wrapped around padded_length_, over its length
};

extern template class FourierTransform<double>;
extern template class FourierTransform<long double>;

}  // namespace sapper::eval
