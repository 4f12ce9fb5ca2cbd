#include "eval/complex_math.h"

#include <cmath>

namespace sapper::eval {
namespace {

// A sum with the error of its rounding.
struct Sum {
  double value;
  double error;
};
Sum exact_sum(double a, double b) {
  const double sum = a + b;
  const double of_b = sum - a;
  return {sum, (a - (sum - of_b)) + (b - of_b)};
}

// |1 + a|^2 - 1 = 2 x + x^2 + y^2, which cancels near the unit circle around -1: rounded once, nearly.
double squared_modulus_minus_one(double x, double y) {
  const double xx = x * x;
  const double yy = y * y;
  const double tails = std::fma(x, x, -xx) + std::fma(y, y, -yy);
  const Sum first = exact_sum(2 * x, xx);
  const Sum second = exact_sum(first.value, yy);
  return second.value + (second.error + (first.error + tails));
}

// modulus * e^(i angle), without turning an infinite modulus times an exact zero into NaN.
Complex polar(double modulus, double angle) {
  if (angle == 0) return {modulus, angle};
  return {modulus * std::cos(angle), modulus * std::sin(angle)};
}

bool is_real(Complex a) { return a.imag() == 0; }

}  // namespace

Complex complex_multiply(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

Complex complex_divide(Complex a, Complex b) { return a / b; }

Complex complex_power(Complex a, Complex b) {
  if (b == Complex(0) || a == Complex(1)) return 1;
  if (is_real(a) && is_real(b) && a.real() >= 0) return std::pow(a.real(), b.real());
  if (a == Complex(0) && b.real() > 0) return 0;
  const double modulus = std::abs(a);
  const double angle = std::arg(a);
  if (is_real(b)) return polar(std::pow(modulus, b.real()), b.real() * angle);
  return polar(std::pow(modulus, b.real()) * std::exp(-b.imag() * angle),
               b.real() * angle + b.imag() * std::log(modulus));
}

// y / x on the unit circle's branch: -i log((x + i y) / sqrt(x^2 + y^2)).
Complex complex_atan2(Complex y, Complex x) {
  const Complex i(0, 1);
  return -i * std::log((x + i * y) / std::sqrt(x * x + y * y));
}

// e^(x + iy) - 1 = expm1(x) cos y - 2 sin^2(y / 2) + i e^x sin y.
Complex complex_expm1(Complex a) {
  if (is_real(a)) return {std::expm1(a.real()), a.imag()};
  const Complex exponential = std::exp(a);
  if (!std::isfinite(exponential.real()) || !std::isfinite(a.real())) return exponential - 1.0;
  const double half = std::sin(a.imag() / 2);
  return {std::expm1(a.real()) * std::cos(a.imag()) - 2 * half * half, exponential.imag()};
}

Complex complex_log1p(Complex a) {
  constexpr double far = 0.5;
  const double square = squared_modulus_minus_one(a.real(), a.imag());
  const double angle = std::atan2(a.imag(), 1 + a.real());
  if (std::fabs(square) < far) return {0.5 * std::log1p(square), angle};
  return {std::log(std::hypot(1 + a.real(), a.imag())), angle};
}

Complex complex_logistic(Complex a) { return 1.0 / (1.0 + std::exp(-a)); }
Complex complex_rsqrt(Complex a) { return 1.0 / std::sqrt(a); }
Complex complex_cbrt(Complex a) { return complex_power(a, 1.0 / 3); }

Complex complex_sign(Complex a) {
  const double modulus = std::abs(a);
  return modulus == 0 ? Complex(0) : a / modulus;
}

}  // namespace sapper::eval
