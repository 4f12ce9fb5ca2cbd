// The forward pass: what each value of a program may be, from what its parameters may be.
#pragma once

#include <vector>

#include "inputs/flat_program.h"
#include "inputs/interval.h"

namespace sapper::inputs {

struct Estimate {
  Interval bounds;            // of every element, whatever the operands are within their bounds; finite
  double size = 1;            // of a typical element: sums of terms of either sign grow with the root of their number
  bool adjustable = false;    // depends on a parameter
  bool may_overflow = false;  // computed from finite values, it may leave its type
  bool may_leave_domain = false;

  // What elements are but for rare ones: the bounds, as far as eight times the typical size reaches.
  [[nodiscard]] Interval working() const;
};

// One estimate a node. `parameters`: those of the parameters' leaves; they are taken as they are.
// `assured`: empty, or bounds a node that hold for other reasons than its operands' bounds.
[[nodiscard]] std::vector<Estimate> estimate(const hlo::Module& module, const FlatProgram& program,
                                             std::span<const Estimate> parameters, std::span<const Interval> assured);

// Whether `candidate` is at least as large as each element of `value` that it meets: a maximum over it, broadcast.
[[nodiscard]] bool is_maximum_over(const hlo::Module& module, const FlatProgram& program, Node candidate, Node value);

}  // namespace sapper::inputs
