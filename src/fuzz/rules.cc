#include <vector>

#include "fuzz/rule_builders.h"

namespace sapper::fuzz {
namespace {

constexpr double none = std::numeric_limits<double>::infinity();

// An elementwise operation on one operand, which is kept in low .. high.
constexpr Rule unary(Opcode opcode, double weight = 0.5, double low = -none, double high = none,
                     std::string_view precondition = "") {
  return {opcode, weight, makes_same_type, build_unary, low, high, "an operand of the same shape", precondition};
}

constexpr Rule binary(Opcode opcode, double weight = 2) {
  return {opcode, weight, makes_same_type, build_binary, -none, none, "two operands of the same shape", ""};
}

constexpr std::string_view in_domain = "the operand is in the domain: a parameter, or clamped";

// clang-format off
const std::vector<Rule> table = {
    // Elementwise, one operand.
    {Opcode::Abs, 1, makes_magnitude, build_magnitude, -none, none, "an operand of the type, or complex for a real result", ""},
    unary(Opcode::Acos, 0.3, -0.99, 0.99, in_domain),
    unary(Opcode::Acosh, 0.3, 1.01, 100, in_domain),
    unary(Opcode::Asin, 0.3, -0.99, 0.99, in_domain),
    unary(Opcode::Asinh, 0.3),
    unary(Opcode::Atanh, 0.3, -0.99, 0.99, in_domain),
    {Opcode::Cbrt, 0.5, makes_real_function, build_unary, -none, none, "an operand of the same shape", ""},
    unary(Opcode::Ceil),
    unary(Opcode::Cosh, 0.3, -8, 8, "no overflow"),
    unary(Opcode::Cosine, 0.5, -100, 100, "angles whose reduction is exact enough"),
    unary(Opcode::CountLeadingZeros),
    {Opcode::Erf, 0.5, makes_real_function, build_unary, -none, none, "an operand of the same shape", ""},
    unary(Opcode::Exponential, 1, -8, 8, "no overflow"),
    unary(Opcode::ExponentialMinusOne, 0.5, -8, 8, "no overflow"),
    unary(Opcode::Floor),
    {Opcode::Imag, 0.5, makes_part, build_part, -none, none, "a complex operand", ""},
    {Opcode::IsFinite, 0.5, makes_predicate, build_is_finite, -none, none, "a float operand", ""},
    unary(Opcode::Log, 1, 0.125, 100, in_domain),
    unary(Opcode::LogPlusOne, 0.5, -0.75, 100, in_domain),
    unary(Opcode::Logistic),
    unary(Opcode::Negate, 2),
    unary(Opcode::Not, 1),
    unary(Opcode::Popcnt),
    {Opcode::Real, 0.5, makes_part, build_part, -none, none, "a complex operand", ""},
    {Opcode::ReducePrecision, 0.5, makes_float, build_reduce_precision, -none, none, "widths of exponent and mantissa", ""},
    unary(Opcode::RoundNearestAfz),
    unary(Opcode::RoundNearestEven),
    unary(Opcode::Rsqrt, 0.5, 0.125, 100, in_domain),
    unary(Opcode::Sign),
    unary(Opcode::Sine, 0.5, -100, 100, "angles whose reduction is exact enough"),
    unary(Opcode::Sinh, 0.3, -8, 8, "no overflow"),
    unary(Opcode::Sqrt, 0.5, 0, 1e4, in_domain),
    unary(Opcode::Tan, 0.3, -1.5, 1.5, "away from the poles"),
    unary(Opcode::Tanh, 1),

    // Elementwise, two or three operands.
    binary(Opcode::Add, 4),
    binary(Opcode::And),
    binary(Opcode::Atan2, 0.3),
    {Opcode::Clamp, 1, makes_ordered, build_clamp, -none, none, "bounds, the lower one below", ""},
    {Opcode::Compare, 4, makes_predicate, build_compare, -none, none, "the operands' type, direction, order", ""},
    {Opcode::Complex, 2, makes_complex, build_complex, -none, none, "real and imaginary part", ""},
    {Opcode::Divide, 1, makes_quotient, build_quotient, -none, none, "two operands of the same shape", "the divisor is clamped away from 0 (integers: to positive numbers, so that no quotient overflows)"},
    {Opcode::Maximum, 2, makes_ordered, build_binary, -none, none, "two operands of the same shape", ""},
    {Opcode::Minimum, 2, makes_ordered, build_binary, -none, none, "two operands of the same shape", ""},
    binary(Opcode::Mulhi, 0.3),
    binary(Opcode::Multiply, 3),
    binary(Opcode::Or),
    {Opcode::Power, 0.3, makes_quotient, build_power, -none, none, "two operands of the same shape", "a positive base and a small exponent; of integers, an exponent that is not negative"},
    {Opcode::Remainder, 0.7, makes_quotient, build_quotient, -none, none, "two operands of the same shape", "the divisor is clamped away from 0 (integers: to positive numbers)"},
    {Opcode::Select, 3, makes_any, build_select, -none, none, "a predicate and two operands", ""},
    {Opcode::ShiftLeft, 0.7, makes_same_type, build_shift, -none, none, "two operands of the same shape", "the amount is clamped below the width"},
    {Opcode::ShiftRightArithmetic, 0.7, makes_same_type, build_shift, -none, none, "two operands of the same shape", "the amount is clamped below the width"},
    {Opcode::ShiftRightLogical, 0.7, makes_same_type, build_shift, -none, none, "two operands of the same shape", "the amount is clamped below the width"},
    binary(Opcode::Subtract),
    binary(Opcode::Xor),

    // Conversions.
    {Opcode::BitcastConvert, 1, makes_bits, build_bitcast_convert, -none, none, "a type of the same width, or narrower or wider with another dimension", ""},
    {Opcode::Convert, 4, makes_any, build_convert, -none, none, "the operand's type", "what becomes an integer or a narrower float is clamped to what that can hold"},
    {Opcode::StochasticConvert, 0.3, makes_narrow_float, build_stochastic_convert, -none, none, "the operand's type, random bits of its width", ""},

    // Data movement.
    {Opcode::Broadcast, 2, makes_array, build_broadcast, -none, none, "which dimensions the operand has", ""},
    {Opcode::Concatenate, 2, makes_concatenation, build_concatenate, -none, none, "dimension and sizes of the parts", ""},
    {Opcode::Copy, 0.3, makes_copy, build_unary, -none, none, "an operand of the same shape", ""},
    {Opcode::GetDimensionSize, 0.3, makes_dimension_size, build_get_dimension_size, -none, none, "an array and a dimension of it", ""},
    {Opcode::Iota, 0.3, makes_iota, build_iota, -none, none, "the dimension", "numbers that the type holds"},
    {Opcode::Pad, 2, makes_array, build_pad, -none, none, "operand size, padding before, between and after, which may be negative", ""},
    {Opcode::Reshape, 2, makes_array, build_reshape, -none, none, "another factorization of the number of elements", ""},
    {Opcode::Reverse, 1, makes_array, build_reverse, -none, none, "the dimensions", ""},
    {Opcode::Slice, 2, makes_array, build_slice, -none, none, "start, stride, what lies beyond", ""},
    {Opcode::Transpose, 2, makes_array, build_transpose, -none, none, "the permutation", ""},

    // Slicing and indexing.
    {Opcode::DynamicSlice, 2, makes_array, build_dynamic_slice, -none, none, "operand sizes, the indices' type", ""},
    {Opcode::DynamicUpdateSlice, 2, makes_array, build_dynamic_update_slice, -none, none, "update sizes, the indices' type", ""},
    {Opcode::Gather, 2, makes_array, build_gather, -none, none, "which dimensions are windows, collapsed ones, index map, indices' type and layout", ""},
    {Opcode::Scatter, 2, makes_scatter, build_scatter, -none, none, "as gather's, and the combiner", "the combiner is associative and commutative; where it overwrites, or indices are promised unique, they count up and are"},

    // Applied computations.
    {Opcode::Reduce, 3, makes_reduction, build_reduce, -none, none, "which dimensions, combiner or (value, index) pairs", "the initial value is neutral, the combiner associative; ties go to the smaller index"},
    {Opcode::ReduceWindow, 1.5, makes_window_reduction, build_reduce_window, -none, none, "window, stride, padding, dilations, combiner; or running over a dimension", "the initial value is neutral, the combiner associative"},
    {Opcode::SelectAndScatter, 0.5, makes_selection, build_select_and_scatter, -none, none, "window, stride, padding", "the combiner adds and starts from 0"},
    {Opcode::Sort, 1.5, makes_sorted, build_sort, -none, none, "dimension, direction, companions", "the comparison is a total order; stable where there are companions"},
    {Opcode::Topk, 0.7, makes_top, build_topk, -none, none, "k, values or indices", ""},
    {Opcode::Map, 0.7, makes_any, build_map, -none, none, "operands' types; the computation by rules", ""},

    // Linear algebra.
    {Opcode::BatchNormGrad, 0.2, makes_normalized, build_batch_norm, -none, none, "the feature dimension, which of the results", "the variance is positive"},
    {Opcode::BatchNormInference, 0.2, makes_normalized, build_batch_norm, -none, none, "the feature dimension", "the variance is positive"},
    {Opcode::BatchNormTraining, 0.2, makes_normalized, build_batch_norm, -none, none, "the feature dimension, which of the results", ""},
    {Opcode::Cholesky, 0.3, makes_square, build_cholesky, -none, none, "lower or upper", "the matrix is a parameter, whose sampler makes it definite; the other triangle, which is left open, is masked"},
    {Opcode::Convolution, 2, makes_convolution, build_convolution, -none, none, "order of dimensions, windows, strides, padding, dilations, reversal, groups, types", ""},
    {Opcode::Dot, 3, makes_product, build_dot, -none, none, "batch, free and contracted dimensions in any order, types, precision", ""},
    {Opcode::Fft, 0.5, makes_spectrum, build_fft, -none, none, "transform, how many dimensions", ""},
    {Opcode::RaggedDot, 0.5, makes_ragged_product, build_ragged_dot, -none, none, "groups, contracted size", "the groups are constants and cover all rows"},
    {Opcode::TriangularSolve, 0.3, makes_solution, build_triangular_solve, -none, none, "side, triangle, transposition", "the matrix is a parameter, whose sampler makes it well-conditioned"},

    // Control flow, values.
    {Opcode::AddDependency, 0.2, makes_copy, build_add_dependency, -none, none, "a value and a token", ""},
    {Opcode::Call, 0.5, makes_any, build_call, -none, none, "parameters; the computation by rules", ""},
    {Opcode::Conditional, 1, makes_any, build_conditional, -none, none, "two branches of a predicate, or several of an index; the computations by rules", ""},
    {Opcode::OptBarrier, 0.3, makes_copy, build_unary, -none, none, "an operand of the same shape", ""},
    {Opcode::Tuple, 0.3, makes_any, build_tuple, -none, none, "what else is in the tuple", ""},
    {Opcode::While, 1, makes_any, build_while, -none, none, "start, step, bound and comparison of the counter; the body by rules", "the counter reaches its bound"},
    {Opcode::RngBitGenerator, 0.5, makes_random, build_rng_bit_generator, -none, none, "algorithm, state", "the algorithm is one of those whose numbers are specified"},
};
// clang-format on

}  // namespace

std::span<const Rule> rules() { return table; }

}  // namespace sapper::fuzz
