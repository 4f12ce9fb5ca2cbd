// The functions of the table (rules.cc): which shapes an opcode can make, and how its operands are sampled. Each group
// is in the file named above it.
#pragma once

#include "fuzz/builder.h"
#include "fuzz/rule.h"

namespace sapper::fuzz {

using Index = Builder::Index;
using hlo::ElementType;
using hlo::Opcode;
using hlo::Shape;

// Whether the element type is of a class that the verifier's rule of the opcode accepts.
[[nodiscard]] bool accepts(Opcode opcode, ElementType type);

// rules_elementwise.cc
bool makes_same_type(const Rule& rule, const Grammar& grammar, const Shape& wanted);
bool makes_real_function(const Rule& rule, const Grammar& grammar, const Shape& wanted);
bool makes_copy(const Rule& rule, const Grammar& grammar, const Shape& wanted);
bool makes_quotient(const Rule& rule, const Grammar& grammar, const Shape& wanted);
bool makes_float(const Rule& rule, const Grammar& grammar, const Shape& wanted);
bool makes_predicate(const Rule& rule, const Grammar& grammar, const Shape& wanted);
bool makes_part(const Rule& rule, const Grammar& grammar, const Shape& wanted);
bool makes_magnitude(const Rule& rule, const Grammar& grammar, const Shape& wanted);
bool makes_complex(const Rule& rule, const Grammar& grammar, const Shape& wanted);
bool makes_any(const Rule& rule, const Grammar& grammar, const Shape& wanted);
bool makes_ordered(const Rule& rule, const Grammar& grammar, const Shape& wanted);
bool makes_bits(const Rule& rule, const Grammar& grammar, const Shape& wanted);
bool makes_narrow_float(const Rule& rule, const Grammar& grammar, const Shape& wanted);
Index build_unary(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_binary(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_quotient(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_power(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_shift(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_compare(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_is_finite(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_part(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_magnitude(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_complex(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_select(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_clamp(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_convert(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_bitcast_convert(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_reduce_precision(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_stochastic_convert(const Rule& rule, Builder& builder, const Shape& wanted);

// rules_movement.cc
bool makes_array(const Rule& rule, const Grammar& grammar, const Shape& wanted);  // of at least one dimension
bool makes_concatenation(const Rule& rule, const Grammar& grammar, const Shape& wanted);
bool makes_dimension_size(const Rule& rule, const Grammar& grammar, const Shape& wanted);
Index build_broadcast(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_reshape(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_transpose(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_reverse(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_slice(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_pad(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_concatenate(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_iota(const Rule& rule, Builder& builder, const Shape& wanted);
bool makes_iota(const Rule& rule, const Grammar& grammar, const Shape& wanted);
Index build_get_dimension_size(const Rule& rule, Builder& builder, const Shape& wanted);

// rules_indexing.cc
Index build_dynamic_slice(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_dynamic_update_slice(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_gather(const Rule& rule, Builder& builder, const Shape& wanted);
bool makes_scatter(const Rule& rule, const Grammar& grammar, const Shape& wanted);
Index build_scatter(const Rule& rule, Builder& builder, const Shape& wanted);

// rules_reduction.cc
bool makes_reduction(const Rule& rule, const Grammar& grammar, const Shape& wanted);
bool makes_window_reduction(const Rule& rule, const Grammar& grammar, const Shape& wanted);
bool makes_selection(const Rule& rule, const Grammar& grammar, const Shape& wanted);
bool makes_sorted(const Rule& rule, const Grammar& grammar, const Shape& wanted);
bool makes_top(const Rule& rule, const Grammar& grammar, const Shape& wanted);
Index build_reduce(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_reduce_window(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_select_and_scatter(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_sort(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_topk(const Rule& rule, Builder& builder, const Shape& wanted);

// rules_algebra.cc
bool makes_product(const Rule& rule, const Grammar& grammar, const Shape& wanted);
bool makes_convolution(const Rule& rule, const Grammar& grammar, const Shape& wanted);
bool makes_spectrum(const Rule& rule, const Grammar& grammar, const Shape& wanted);
bool makes_square(const Rule& rule, const Grammar& grammar, const Shape& wanted);
bool makes_solution(const Rule& rule, const Grammar& grammar, const Shape& wanted);
bool makes_normalized(const Rule& rule, const Grammar& grammar, const Shape& wanted);
Index build_dot(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_ragged_dot(const Rule& rule, Builder& builder, const Shape& wanted);
bool makes_ragged_product(const Rule& rule, const Grammar& grammar, const Shape& wanted);
Index build_convolution(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_fft(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_cholesky(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_triangular_solve(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_batch_norm(const Rule& rule, Builder& builder, const Shape& wanted);

// rules_control.cc
bool makes_random(const Rule& rule, const Grammar& grammar, const Shape& wanted);
Index build_map(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_while(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_conditional(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_call(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_tuple(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_add_dependency(const Rule& rule, Builder& builder, const Shape& wanted);
Index build_rng_bit_generator(const Rule& rule, Builder& builder, const Shape& wanted);

}  // namespace sapper::fuzz
