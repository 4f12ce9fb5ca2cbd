// The magnitude of a complex number as compilers expand it.
#pragma once

#include "bounds/site.h"

namespace sapper::bounds {

// How far the select that ends such an expansion may deviate, by what it means; nullopt: it ends none, or nothing
// deviates.
[[nodiscard]] Deviation expanded_modulus(const Site& site);

}  // namespace sapper::bounds
