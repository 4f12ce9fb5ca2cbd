// Complex functions, computed in double: c64 operands are widened and results rounded once.
#pragma once

#include <complex>

namespace sapper::eval {

using Complex = std::complex<double>;

[[nodiscard]] Complex complex_multiply(Complex a, Complex b);
[[nodiscard]] Complex complex_divide(Complex a, Complex b);
[[nodiscard]] Complex complex_power(Complex a, Complex b);
[[nodiscard]] Complex complex_atan2(Complex y, Complex x);

[[nodiscard]] Complex complex_exp(Complex a);
[[nodiscard]] Complex complex_expm1(Complex a);
[[nodiscard]] Complex complex_log(Complex a);
[[nodiscard]] Complex complex_log1p(Complex a);
[[nodiscard]] Complex complex_logistic(Complex a);
[[nodiscard]] Complex complex_sqrt(Complex a);
[[nodiscard]] Complex complex_rsqrt(Complex a);
[[nodiscard]] Complex complex_cbrt(Complex a);
[[nodiscard]] Complex complex_sine(Complex a);
[[nodiscard]] Complex complex_cosine(Complex a);
[[nodiscard]] Complex complex_tan(Complex a);
[[nodiscard]] Complex complex_tanh(Complex a);
[[nodiscard]] Complex complex_sign(Complex a);

}  // namespace sapper::eval
