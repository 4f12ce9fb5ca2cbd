// What operations that accumulate do: which function, over how many terms.
#pragma once

#include "inputs/flat_program.h"

namespace sapper::inputs {

enum class Reducer : uint8_t {
  Sum,
  Product,
  Maximum,
  Minimum,
  Pick,  // some element, by comparisons: arg-max and the like
  Other,
};

// What a computation that reduces does: its root, between converts.
[[nodiscard]] Reducer reducer_of(const hlo::Computation& computation);

// The largest number of terms of one element of the node's result: reductions, window sums, cumulative ones, scatters,
// dots and convolutions, transforms. At least 1.
[[nodiscard]] double term_count(const FlatProgram& program, const FlatNode& node);

}  // namespace sapper::inputs
