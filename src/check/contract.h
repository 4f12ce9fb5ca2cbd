// The same program with multiply-add contracted: a product that is only added to is not rounded on the way, as the
// fused multiply-add instructions of real processors do it.
#pragma once

#include "hlo/module.h"

namespace sapper::check {

// Which operand of an add or subtract is contracted when both are products.
enum class Contract { Left, Right };

// `module` with every f32 product that feeds an add or subtract of the same computation computed and added in f64, then
// rounded once. (Rounding f64 to f32 rounds twice: up to half an f32 ulp more than a fused operation, in rare cases.)
[[nodiscard]] hlo::Module contract_products(const hlo::Module& module, Contract which);

}  // namespace sapper::check
