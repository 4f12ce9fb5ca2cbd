// Dynamic dimensions: a shape states bounds, a literal carries the sizes that hold (Literal::dynamic_sizes, one a
// dimension, static ones too). Elements past a size are in memory but are no part of the value: operations that combine
// elements along a dimension leave them out, elementwise ones may compute them and nobody looks.
#pragma once

#include <cstdint>
#include <vector>

#include "hlo/literal.h"

namespace sapper::eval {

// The size of a dimension that takes part in the value: the dynamic size where there is one, else the bound.
[[nodiscard]] int64_t actual_size(const hlo::Literal& array, size_t dimension);
[[nodiscard]] const std::vector<int64_t>& actual_sizes(const hlo::Literal& array);

// States the sizes of a result, one a dimension; nothing to state when they are the bounds.
void set_actual_sizes(hlo::Literal& array, std::vector<int64_t> sizes);

}  // namespace sapper::eval
