// How large a shape may be that comes from outside: recursion over one is bounded.
#pragma once

#include <cstddef>

namespace sapper::hlo {

// Far more than any program has. Literals are read and written dimension by dimension.
constexpr size_t max_rank = 200;
constexpr int max_shape_nesting = 64;

}  // namespace sapper::hlo
