// What a parameter's elements are when nothing in the program says more: the magnitudes of everyday data.
#pragma once

#include <vector>

#include "inputs/flat_program.h"
#include "inputs/interval.h"

namespace sapper::inputs {

// Of an array type: floats of both signs over five binades; integers of both signs up to 100; preds. Large matrices are
// weights, smaller the more of their elements are summed, `terms` (0: not known, then the last dimension but one), so
// that long contractions keep the size of their inputs.
[[nodiscard]] Interval natural_values(const hlo::Shape& shape, double terms);

// For each leaf of the parameters, the most of its elements that one element of a dot or convolution sums over; 0 for
// those that are not contracted, as they are or after moves.
[[nodiscard]] std::vector<double> contracted_terms(const FlatProgram& program);

}  // namespace sapper::inputs
