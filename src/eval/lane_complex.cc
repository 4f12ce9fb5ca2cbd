// Lane functions: complex arithmetic (complex_math.h), plain loops.
#include "eval/complex_math.h"
#include "eval/lane_tables.h"

namespace sapper::eval {
namespace {

template <Complex (*function)(Complex), class T>
void unary(size_t n, void* result, const void* a, const void*, const void*, uint32_t) {
  auto* r = static_cast<std::complex<T>*>(result);
  const auto* x = static_cast<const std::complex<T>*>(a);
  for (size_t i = 0; i < n; ++i) r[i] = std::complex<T>(function(Complex(x[i])));
}

template <Complex (*function)(Complex, Complex), class T>
void binary(size_t n, void* result, const void* a, const void* b, const void*, uint32_t) {
  auto* r = static_cast<std::complex<T>*>(result);
  const auto* x = static_cast<const std::complex<T>*>(a);
  const auto* y = static_cast<const std::complex<T>*>(b);
  for (size_t i = 0; i < n; ++i) r[i] = std::complex<T>(function(Complex(x[i]), Complex(y[i])));
}

Complex add(Complex a, Complex b) { return a + b; }
Complex subtract(Complex a, Complex b) { return a - b; }
Complex negate(Complex a) { return -a; }

// A function of the standard library.
#define SAPPER_STANDARD(name) \
  Complex standard_##name(Complex a) { return std::name(a); }
SAPPER_STANDARD(acos)
SAPPER_STANDARD(acosh)
SAPPER_STANDARD(asin)
SAPPER_STANDARD(asinh)
SAPPER_STANDARD(atanh)
SAPPER_STANDARD(cos)
SAPPER_STANDARD(cosh)
SAPPER_STANDARD(exp)
SAPPER_STANDARD(log)
SAPPER_STANDARD(sin)
SAPPER_STANDARD(sinh)
SAPPER_STANDARD(sqrt)
SAPPER_STANDARD(tan)
SAPPER_STANDARD(tanh)
#undef SAPPER_STANDARD

template <class T>
void abs(size_t n, void* result, const void* a, const void*, const void*, uint32_t) {
  auto* r = static_cast<T*>(result);
  const auto* x = static_cast<const std::complex<T>*>(a);
  for (size_t i = 0; i < n; ++i) r[i] = static_cast<T>(std::abs(Complex(x[i])));
}

template <class T>
void real(size_t n, void* result, const void* a, const void*, const void*, uint32_t) {
  auto* r = static_cast<T*>(result);
  const auto* x = static_cast<const std::complex<T>*>(a);
  for (size_t i = 0; i < n; ++i) r[i] = x[i].real();
}

template <class T>
void imag(size_t n, void* result, const void* a, const void*, const void*, uint32_t) {
  auto* r = static_cast<T*>(result);
  const auto* x = static_cast<const std::complex<T>*>(a);
  for (size_t i = 0; i < n; ++i) r[i] = x[i].imag();
}

template <class T>
void is_finite(size_t n, void* result, const void* a, const void*, const void*, uint32_t) {
  auto* r = static_cast<uint8_t*>(result);
  const auto* x = static_cast<const std::complex<T>*>(a);
  for (size_t i = 0; i < n; ++i) r[i] = std::isfinite(x[i].real()) && std::isfinite(x[i].imag());
}

template <class T>
LaneFunction function_of(hlo::Opcode opcode) {
  using hlo::Opcode;
  switch (opcode) {
    case Opcode::Add: return binary<add, T>;
    case Opcode::Subtract: return binary<subtract, T>;
    case Opcode::Multiply: return binary<complex_multiply, T>;
    case Opcode::Divide: return binary<complex_divide, T>;
    case Opcode::Power: return binary<complex_power, T>;
    case Opcode::Atan2: return binary<complex_atan2, T>;
    case Opcode::Negate: return unary<negate, T>;
    case Opcode::Sign: return unary<complex_sign, T>;
    case Opcode::Exponential: return unary<standard_exp, T>;
    case Opcode::ExponentialMinusOne: return unary<complex_expm1, T>;
    case Opcode::Log: return unary<standard_log, T>;
    case Opcode::LogPlusOne: return unary<complex_log1p, T>;
    case Opcode::Logistic: return unary<complex_logistic, T>;
    case Opcode::Sqrt: return unary<standard_sqrt, T>;
    case Opcode::Rsqrt: return unary<complex_rsqrt, T>;
    case Opcode::Cbrt: return unary<complex_cbrt, T>;
    case Opcode::Sine: return unary<standard_sin, T>;
    case Opcode::Cosine: return unary<standard_cos, T>;
    case Opcode::Tan: return unary<standard_tan, T>;
    case Opcode::Tanh: return unary<standard_tanh, T>;
    case Opcode::Acos: return unary<standard_acos, T>;
    case Opcode::Acosh: return unary<standard_acosh, T>;
    case Opcode::Asin: return unary<standard_asin, T>;
    case Opcode::Asinh: return unary<standard_asinh, T>;
    case Opcode::Atanh: return unary<standard_atanh, T>;
    case Opcode::Cosh: return unary<standard_cosh, T>;
    case Opcode::Sinh: return unary<standard_sinh, T>;
    case Opcode::Abs: return abs<T>;
    case Opcode::Real: return real<T>;
    case Opcode::Imag: return imag<T>;
    case Opcode::IsFinite: return is_finite<T>;
    default: return nullptr;
  }
}

template <class T>
void make_complex(size_t n, void* result, const void* a, const void* b, const void*, uint32_t) {
  auto* r = static_cast<std::complex<T>*>(result);
  const auto* x = static_cast<const T*>(a);
  const auto* y = static_cast<const T*>(b);
  for (size_t i = 0; i < n; ++i) r[i] = {x[i], y[i]};
}

}  // namespace

LaneFunction complex_function(hlo::Opcode opcode, hlo::ElementType type) {
  if (type == hlo::ElementType::F32 && opcode == hlo::Opcode::Complex) return make_complex<float>;
  if (type == hlo::ElementType::F64 && opcode == hlo::Opcode::Complex) return make_complex<double>;
  if (type == hlo::ElementType::C64) return function_of<float>(opcode);
  if (type == hlo::ElementType::C128) return function_of<double>(opcode);
  return nullptr;
}

}  // namespace sapper::eval
