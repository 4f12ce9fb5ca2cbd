#include "eval/complex_math.h"

#include <cmath>

namespace sapper::eval {

// The algebraic formulas, without C's recovery of infinities: what HLO's complex multiply means.
Complex complex_multiply(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

Complex complex_divide(Complex a, Complex b) { return a / b; }

Complex complex_power(Complex a, Complex b) {
  if (b == Complex(0)) return 1;
  if (a == Complex(0)) return 0;
  return std::pow(a, b);
}

Complex complex_atan2(Complex y, Complex x) {
  const Complex i(0, 1);
  return -i * std::log((x + i * y) / std::sqrt(x * x + y * y));
}

Complex complex_exp(Complex a) { return std::exp(a); }

Complex complex_expm1(Complex a) {
  // e^(x+iy) - 1 = expm1(x) cos y - 2 sin^2(y/2) + i e^x sin y
  const double half = std::sin(a.imag() / 2);
  return {std::expm1(a.real()) * std::cos(a.imag()) - 2 * half * half, std::exp(a.real()) * std::sin(a.imag())};
}

Complex complex_log(Complex a) { return std::log(a); }

Complex complex_log1p(Complex a) {
  const double x = a.real();
  const double y = a.imag();
  const double square = x * (2 + x) + y * y;
  const double real = std::fabs(square) < 0.5 ? 0.5 * std::log1p(square) : std::log(std::hypot(1 + x, y));
  return {real, std::atan2(y, 1 + x)};
}

Complex complex_logistic(Complex a) { return 1.0 / (1.0 + std::exp(-a)); }
Complex complex_sqrt(Complex a) { return std::sqrt(a); }
Complex complex_rsqrt(Complex a) { return 1.0 / std::sqrt(a); }
Complex complex_cbrt(Complex a) { return a == Complex(0) ? a : std::pow(a, 1.0 / 3); }
Complex complex_sine(Complex a) { return std::sin(a); }
Complex complex_cosine(Complex a) { return std::cos(a); }
Complex complex_tan(Complex a) { return std::tan(a); }
Complex complex_tanh(Complex a) { return std::tanh(a); }

Complex complex_sign(Complex a) {
  const double modulus = std::abs(a);
  return modulus == 0 ? Complex(0) : a / modulus;
}

}  // namespace sapper::eval
