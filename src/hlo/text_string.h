// Strings of HLO text as they are written: in quotes, with the escapes of C.
#pragma once

#include <string>
#include <string_view>

namespace sapper::hlo {

void append_quoted(std::string& out, std::string_view value, char quote = '"');

// A backend config or the value of a frontend attribute: as it is when it reads back as a JSON object, else in quotes.
void append_object_or_quoted(std::string& out, std::string_view value);

// `name` with every byte that a name cannot hold replaced by _.
[[nodiscard]] std::string word_from(std::string_view name);
[[nodiscard]] bool is_word(std::string_view name);

}  // namespace sapper::hlo
