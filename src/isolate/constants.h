// Which constants of the source stay constants in a piece: small ones, and those whose values mean something.
#pragma once

#include <unordered_map>

#include "isolate/piece.h"

namespace sapper::isolate {

enum class ConstantFate {
  Kept,
  Splat,      // one value all over and not small: kept as the broadcast of a scalar
  Parameter,  // large and arbitrary, or left out of the text that was read
};

// Answers are remembered by literal.
class ConstantFates {
 public:
  explicit ConstantFates(int64_t largest_bytes) : largest_bytes_(largest_bytes) {}
  ConstantFate of(const hlo::Instruction& constant);

 private:
  int64_t largest_bytes_;
  std::unordered_map<const hlo::Literal*, ConstantFate> known_;
};

// The one element that a splat repeats.
[[nodiscard]] hlo::Literal splat_value(const hlo::Literal& literal);

// Of a real array's elements (of a complex one's moduli); `parameter` is the caller's.
[[nodiscard]] ConstantStatistics statistics(const hlo::Literal& literal);

}  // namespace sapper::isolate
