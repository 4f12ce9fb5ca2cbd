// Transcendental functions of float and double lanes. An f32 function is computed in double precision by `wide` and
// rounded once (to nearest, or to odd when a narrower type follows); f64 functions are the C library's.
#pragma once

#include <cmath>

#include "eval/lane.h"

namespace sapper::eval {

// One operation: `exact` for f64, `wide` for f32 operands held in a double.
#define SAPPER_FLOAT_FUNCTION(name, expression)               \
  struct name {                                               \
    SAPPER_LANE double exact(double x) { return expression; } \
    SAPPER_LANE double wide(double x) { return expression; }  \
  };

SAPPER_FLOAT_FUNCTION(Acos, std::acos(x))
SAPPER_FLOAT_FUNCTION(Acosh, std::acosh(x))
SAPPER_FLOAT_FUNCTION(Asin, std::asin(x))
SAPPER_FLOAT_FUNCTION(Asinh, std::asinh(x))
SAPPER_FLOAT_FUNCTION(Atanh, std::atanh(x))
SAPPER_FLOAT_FUNCTION(Cbrt, std::cbrt(x))
SAPPER_FLOAT_FUNCTION(Cosh, std::cosh(x))
SAPPER_FLOAT_FUNCTION(Cosine, std::cos(x))
SAPPER_FLOAT_FUNCTION(Erf, std::erf(x))
SAPPER_FLOAT_FUNCTION(Exponential, std::exp(x))
SAPPER_FLOAT_FUNCTION(ExponentialMinusOne, std::expm1(x))
SAPPER_FLOAT_FUNCTION(Log, std::log(x))
SAPPER_FLOAT_FUNCTION(LogPlusOne, std::log1p(x))
SAPPER_FLOAT_FUNCTION(Logistic, 1 / (1 + std::exp(-x)))
SAPPER_FLOAT_FUNCTION(Rsqrt, 1 / std::sqrt(x))
SAPPER_FLOAT_FUNCTION(Sine, std::sin(x))
SAPPER_FLOAT_FUNCTION(Sinh, std::sinh(x))
SAPPER_FLOAT_FUNCTION(Tan, std::tan(x))
SAPPER_FLOAT_FUNCTION(Tanh, std::tanh(x))
#undef SAPPER_FLOAT_FUNCTION

struct Atan2 {
  SAPPER_LANE double exact(double y, double x) { return std::atan2(y, x); }
  SAPPER_LANE double wide(double y, double x) { return std::atan2(y, x); }
};
struct Power {
  SAPPER_LANE double exact(double x, double y) { return std::pow(x, y); }
  SAPPER_LANE double wide(double x, double y) { return std::pow(x, y); }
};

}  // namespace sapper::eval
