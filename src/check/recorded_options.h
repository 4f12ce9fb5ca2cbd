// Options of a check as they are recorded, in cases and in stores, and as a person gives them on the command line.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "check/check.h"

namespace sapper::check {

// Everything that decides about a verdict, but for the inputs file: target, level, configuration, sampling, strictness,
// tolerance, limits, and what the machine does where LLO's text does not settle it.
[[nodiscard]] nlohmann::ordered_json to_json(const CheckOptions& options);
// BadInput naming what is wrong. What is left out is as in CheckOptions{}.
[[nodiscard]] Result<CheckOptions> options_from_json(const nlohmann::ordered_json& json);

// `sapper check PATH ...` with these options.
[[nodiscard]] std::string command_of(const CheckOptions& options, const std::string& path);

[[nodiscard]] std::string_view to_string(Level level);

}  // namespace sapper::check
