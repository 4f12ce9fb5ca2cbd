// Complex functions on doubles: c64 operands are widened and the results rounded once. Zeros, infinities and NaNs are
// as in Annex G of C, but for multiplication, which HLO defines by its algebraic formula.
#pragma once

#include <complex>

namespace sapper::eval {

using Complex = std::complex<double>;

[[nodiscard]] Complex complex_multiply(Complex a, Complex b);
[[nodiscard]] Complex complex_divide(Complex a, Complex b);
[[nodiscard]] Complex complex_power(Complex a, Complex b);
[[nodiscard]] Complex complex_atan2(Complex y, Complex x);

[[nodiscard]] Complex complex_expm1(Complex a);
[[nodiscard]] Complex complex_log1p(Complex a);
[[nodiscard]] Complex complex_logistic(Complex a);
[[nodiscard]] Complex complex_rsqrt(Complex a);
[[nodiscard]] Complex complex_cbrt(Complex a);
[[nodiscard]] Complex complex_sign(Complex a);  // on the unit circle; of zero: zero

}  // namespace sapper::eval
