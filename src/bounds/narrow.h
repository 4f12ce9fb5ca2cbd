// Arithmetic on floats narrower than f32: computed in f32 and rounded once, by every implementation that rounds at all.
#pragma once

#include "bounds/site.h"

namespace sapper::bounds {

// Whether the instruction is such arithmetic, of an opcode whose result can be had in f32.
[[nodiscard]] bool is_narrow_arithmetic(const Site& site);

// Its value with its deviation: what f32 arithmetic may deviate by decides what it is rounded to, as in a conversion.
// Where that is not near a tie the result does not deviate at all. `rule` is the opcode's.
[[nodiscard]] Value narrow_arithmetic(const Site& site, Deviations (*rule)(const Site& site));

}  // namespace sapper::bounds
