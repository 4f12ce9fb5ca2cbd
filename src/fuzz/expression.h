// Expressions of templates: whole numbers and words under names, + - * / %, min, max, lowest and highest of a type.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>

#include "base/error.h"

namespace sapper::fuzz {

using TemplateValue = std::variant<int64_t, std::string>;
using TemplateValues = std::map<std::string, TemplateValue, std::less<>>;

[[nodiscard]] std::string to_text(const TemplateValue& value);

// The value of `text`. The error's column is 1-based in it.
[[nodiscard]] Result<TemplateValue> evaluate(std::string_view text, const TemplateValues& values);
// The same where a number is meant.
[[nodiscard]] Result<int64_t> evaluate_number(std::string_view text, const TemplateValues& values);

}  // namespace sapper::fuzz
