// Numbers in JSON, which has no infinities and no NaN: they go as the text that people read, "inf", "-inf" and "nan".
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

namespace sapper::inspect {

[[nodiscard]] inline nlohmann::ordered_json number_json(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

}  // namespace sapper::inspect
