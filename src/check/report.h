// Reports for people (one line a module, a table for what is wrong) and for programs (docs/json.md).
#pragma once

#include <string>

#include "check/check.h"

namespace sapper::check {

struct TextStyle {
  bool colours = false;
  bool stages = false;  // list the stages
};

// One line for a report that agrees; for others also the outputs that differ, the guilty pass and what to do next.
[[nodiscard]] std::string to_text(const Report& report, const TextStyle& style);

// One JSON object, without a newline.
[[nodiscard]] std::string to_json(const Report& report);

}  // namespace sapper::check
