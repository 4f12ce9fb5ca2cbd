// The largest or smallest elements along the last dimension: the meaning of the topk opcode and of the TopK custom
// call.
#pragma once

#include <cstdint>

#include "hlo/literal.h"

namespace sapper::eval {

// (values, indices) of the tuple `shape`: for each line of the last dimension its k = shape's last dimension first
// elements in total order, largest (or smallest) first; of equal ones those with lower indices.
[[nodiscard]] hlo::Literal top_k(const hlo::Literal& operand, bool largest, const hlo::Shape& shape);

}  // namespace sapper::eval
