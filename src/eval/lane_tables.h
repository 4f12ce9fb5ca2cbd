// The tables of lane functions, one a file (lane_NAME.cc): what lane_operation looks things up in. Each gives the
// function for the best SIMD target of this machine, or null when the operation is not defined on the lane type.
#pragma once

#include "eval/lane_function.h"

namespace sapper::eval {

// Arithmetic, bit operations and rounding. `type` is the lane type of operand and result.
[[nodiscard]] LaneFunction integer_function(hlo::Opcode opcode, hlo::ElementType type);
[[nodiscard]] LaneFunction float_function(hlo::Opcode opcode, hlo::ElementType type);
[[nodiscard]] LaneFunction complex_function(hlo::Opcode opcode, hlo::ElementType type);

// Transcendental functions of F32 or F64 lanes; `narrow`: results will be rounded to a narrower type.
[[nodiscard]] LaneFunction transcendental_function(hlo::Opcode opcode, hlo::ElementType type, bool narrow);

enum class Comparison : uint8_t { Eq, Ne, Lt, Le, Gt, Ge };
[[nodiscard]] LaneFunction compare_function(Comparison comparison, hlo::ElementType type, bool total_order);

// By the bytes of a lane: 1, 2, 4, 8 or 16.
[[nodiscard]] LaneFunction select_function(int lane_bytes);
[[nodiscard]] LaneFunction copy_function(int lane_bytes);

// Operand 0: F32 or F64 lanes; operand 1: unsigned random bits; result: integers.
[[nodiscard]] LaneOperation stochastic_convert(hlo::ElementType from, hlo::ElementType random, hlo::ElementType to);

// `narrow`: into float lanes whose values will be rounded to a narrower type.
[[nodiscard]] LaneFunction convert_function(hlo::ElementType from, hlo::ElementType to, bool narrow);

}  // namespace sapper::eval
