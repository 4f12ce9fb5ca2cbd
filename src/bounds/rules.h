// The rules: for each opcode, how far the result may deviate. find_rule() is the table.
#pragma once

#include "bounds/site.h"

namespace sapper::bounds {

// Given the instruction's copy (Site::result), the deviations of its leaves.
using Rule = Deviations (*)(const Site& site);
// Rules that make the value themselves: they call other computations.
using ControlRule = Value (*)(const Site& site);

// A table of rules: the one for an opcode; null: none.
using RuleTable = Rule (*)(hlo::Opcode);

[[nodiscard]] Rule find_rule(hlo::Opcode opcode);
[[nodiscard]] ControlRule find_control_rule(hlo::Opcode opcode);  // null: none

// elementwise.cc: one element of each operand makes one of the result.
Deviations bound_elementwise(const Site& site);
// movement.cc: elements of the operands become elements of the result.
Deviations bound_movement(const Site& site);
Deviations bound_bitcast(const Site& site);
Deviations bound_dynamic_slice(const Site& site);
Deviations bound_dynamic_update_slice(const Site& site);
Deviations bound_gather(const Site& site);
Deviations bound_tuple(const Site& site);
Deviations bound_get_tuple_element(const Site& site);
Deviations bound_pass_through(const Site& site);
// Collectives among one device.
Deviations bound_collective(const Site& site);
Deviations bound_exact(const Site& site);
// sums.cc: sums of products.
Deviations bound_dot(const Site& site);
Deviations bound_convolution(const Site& site);
Deviations bound_fft(const Site& site);
// reductions.cc
Deviations bound_reduce(const Site& site);
Deviations bound_reduce_window(const Site& site);
// scatters.cc
Deviations bound_scatter(const Site& site);
Deviations bound_select_and_scatter(const Site& site);
// order.cc
Deviations bound_sort(const Site& site);
Deviations bound_topk(const Site& site);
// linear_algebra.cc
Deviations bound_cholesky(const Site& site);
Deviations bound_triangular_solve(const Site& site);
Deviations bound_lower_cholesky(const Site& site);
Deviations bound_triangular_inverse(const Site& site, bool lower);
// custom_calls.cc
Deviations bound_custom_call(const Site& site);
// control.cc
Value bound_call(const Site& site);
Value bound_while(const Site& site);
Value bound_conditional(const Site& site);

}  // namespace sapper::bounds
