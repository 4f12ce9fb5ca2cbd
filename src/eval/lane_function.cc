#include "eval/lane_function.h"

#include <algorithm>
#include <string_view>

#include "eval/lane_tables.h"

namespace sapper::eval {
namespace {

using hlo::ElementType;
using hlo::Instruction;
using hlo::Opcode;

bool is_narrow_float(ElementType type) { return hlo::is_float(type) && lane_type(type) != type; }

std::optional<LaneOperation> when_found(LaneOperation operation) {
  if (operation.function == nullptr) return std::nullopt;
  return operation;
}

std::optional<Comparison> comparison_of(std::string_view direction) {
  if (direction == "EQ") return Comparison::Eq;
  if (direction == "NE") return Comparison::Ne;
  if (direction == "LT") return Comparison::Lt;
  if (direction == "LE") return Comparison::Le;
  if (direction == "GT") return Comparison::Gt;
  if (direction == "GE") return Comparison::Ge;
  return std::nullopt;
}

std::optional<LaneOperation> compare_operation(const Instruction& instruction, ElementType type) {
  const hlo::Attributes& attributes = instruction.attributes();
  const auto comparison = comparison_of(attributes.comparison_direction());
  if (!comparison) return std::nullopt;
  const bool total = attributes.comparison_type() == "TOTALORDER" || attributes.comparison_order() == "TOTAL";
  return when_found({compare_function(*comparison, lane_type(type), total), 0, nullptr});
}

// reduce-precision to a format that the type already has, or that is wider, leaves that part alone: said as the lane's
// own.
std::optional<LaneOperation> reduce_precision_operation(const Instruction& instruction, ElementType type) {
  const auto own = hlo::float_format(type);
  const auto lane = hlo::float_format(lane_type(type));
  if (!own || !lane) return std::nullopt;
  const int exponent = instruction.attributes().exponent_bits();
  const int mantissa = instruction.attributes().mantissa_bits();
  if (exponent < 1 || mantissa < 0) return std::nullopt;
  const int lane_exponent = exponent >= own->exponent_bits ? lane->exponent_bits : exponent;
  const int lane_mantissa = std::min(mantissa, lane->mantissa_bits);
  const auto detail = static_cast<uint32_t>(lane_exponent << 8 | lane_mantissa);
  return when_found({float_function(Opcode::ReducePrecision, lane_type(type)), detail, narrow_lanes(type)});
}

std::optional<LaneOperation> arithmetic_operation(const Instruction& instruction, ElementType type) {
  const Opcode opcode = instruction.opcode;
  const ElementType lane = lane_type(type);
  if (hlo::is_complex(type) || opcode == Opcode::Complex)
    return when_found({complex_function(opcode, type), 0, nullptr});
  if (hlo::is_float(type) && opcode == Opcode::Real)
    return when_found({copy_function(hlo::host_bytes(lane)), 0, nullptr});
  if (hlo::is_float(type)) {
    const ElementType result = instruction.shape.element_type();
    const LaneFunction narrow = result == ElementType::Pred ? nullptr : narrow_lanes(result);
    if (const LaneFunction function = float_function(opcode, lane)) return LaneOperation{function, 0, narrow};
    return when_found({transcendental_function(opcode, lane, narrow != nullptr), 0, narrow});
  }
  return when_found({integer_function(opcode, lane), static_cast<uint32_t>(hlo::bit_width(type)), narrow_lanes(type)});
}

}  // namespace

LaneOperation convert_lanes(ElementType from, ElementType to) {
  const ElementType from_lane = lane_type(from);
  const ElementType to_lane = lane_type(to);
  const LaneFunction narrow = narrow_lanes(to);
  if (from == to) return {copy_function(hlo::host_bytes(to_lane)), 0, nullptr};
  if (from_lane == to_lane && !hlo::is_integer(to)) return {copy_function(hlo::host_bytes(to_lane)), 0, narrow};
  const LaneFunction function = convert_function(from_lane, to_lane, is_narrow_float(to));
  return {function, static_cast<uint32_t>(hlo::bit_width(to)), narrow};
}

std::optional<LaneOperation> bitcast_lanes(ElementType from, ElementType to) {
  const bool same_bits = hlo::bit_width(from) == hlo::bit_width(to) && lane_type(from) == from && lane_type(to) == to;
  if (!same_bits || from == ElementType::Pred || to == ElementType::Pred) return std::nullopt;
  return when_found({copy_function(hlo::host_bytes(to)), 0, nullptr});
}

std::optional<LaneOperation> lane_operation(const Instruction& instruction, ElementType operand_type) {
  if (!instruction.shape.is_array() || !hlo::is_array_type(operand_type)) return std::nullopt;
  const ElementType result = instruction.shape.element_type();
  switch (instruction.opcode) {
    case Opcode::Compare: return compare_operation(instruction, operand_type);
    case Opcode::Convert: return when_found(convert_lanes(operand_type, result));
    case Opcode::BitcastConvert: return bitcast_lanes(operand_type, result);
    case Opcode::ReducePrecision: return reduce_precision_operation(instruction, operand_type);
    case Opcode::Select: return when_found({select_function(hlo::host_bytes(lane_type(operand_type))), 0, nullptr});
    case Opcode::Copy: return when_found({copy_function(hlo::host_bytes(lane_type(operand_type))), 0, nullptr});
    default: return arithmetic_operation(instruction, operand_type);
  }
}

}  // namespace sapper::eval
