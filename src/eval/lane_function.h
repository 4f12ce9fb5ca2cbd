// Elementwise operations as functions over runs of lanes, looked up once when a program is compiled. They are compiled
// for each SIMD instruction set and chosen at run time; every set gives the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "eval/lane.h"
#include "hlo/module.h"

namespace sapper::eval {

// result[i] = f(a[i], b[i], c[i]) for i < n; operands that f does not have are ignored. `result` may be one of the
// operands when their lanes have the same size.
using LaneFunction = void (*)(size_t n, void* result, const void* a, const void* b, const void* c, uint32_t detail);

// An operation on lanes: `function`, then `narrow` (unless null) in place on the result.
struct LaneOperation {
  LaneFunction function = nullptr;
  uint32_t detail = 0;
  LaneFunction narrow = nullptr;
  void apply(size_t n, void* result, const void* a, const void* b = nullptr, const void* c = nullptr) const {
    function(n, result, a, b, c, detail);
    if (narrow != nullptr) narrow(n, result, result, nullptr, nullptr, 0);
  }
};

// The operation of an elementwise `instruction` whose operand 0 has `operand_type` (for select: whose operand 1 has);
// nullopt when the opcode is not elementwise or not defined on the type.
[[nodiscard]] std::optional<LaneOperation> lane_operation(const hlo::Instruction& instruction,
                                                          hlo::ElementType operand_type);

// From and to the bytes that a Literal holds; null where these are lanes already. Lanes that are stored must be narrow.
[[nodiscard]] LaneFunction load_lanes(hlo::ElementType type);
[[nodiscard]] LaneFunction store_lanes(hlo::ElementType type);

// Rounds or wraps lanes to `type`; null where every lane is a value of the type.
[[nodiscard]] LaneFunction narrow_lanes(hlo::ElementType type);

// Converts lanes of one type to lanes of another, which narrow_lanes(to) must follow.
[[nodiscard]] LaneOperation convert_lanes(hlo::ElementType from, hlo::ElementType to);

// The same bits as another type of the same width; nullopt where lanes of either type are not its bits.
[[nodiscard]] std::optional<LaneOperation> bitcast_lanes(hlo::ElementType from, hlo::ElementType to);

}  // namespace sapper::eval
