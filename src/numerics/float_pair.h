// f64 on XLA:TPU: a pair of f32, what the number is rounded to and the rest of it, rounded as well.
#pragma once

#include <cmath>

namespace sapper::numerics {

struct FloatPair {
  float leading = 0;
  float rest = 0;
};

// Numbers beyond f32 are infinite; infinities and NaNs have no rest. What a pair of zeros makes is +0.
[[nodiscard]] inline FloatPair as_pair(double value) {
  const auto leading = static_cast<float>(value);
  return {leading, std::isfinite(leading) ? static_cast<float>(value - leading) : 0};
}

[[nodiscard]] inline double number_of(FloatPair pair) { return static_cast<double>(pair.leading) + pair.rest; }

}  // namespace sapper::numerics
