// The same program over wider numbers: what it means when roundings and overflows of its own types are out of the way.
// Two programs that differ in f32 but agree widened are related by an identity of real algebra.
#pragma once

#include "base/error.h"
#include "hlo/module.h"

namespace sapper::check {

// `module` with every floating-point type as f64 and every complex type as c128, constants converted exactly.
// Unsupported when the program looks at bits (bitcast-convert, reduce-precision, ...), whose meaning depends on the
// width.
[[nodiscard]] Result<hlo::Module> widen(const hlo::Module& module);
[[nodiscard]] hlo::Literal widen(const hlo::Literal& literal);

}  // namespace sapper::check
