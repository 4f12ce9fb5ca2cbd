#include "store/utf8.h"

#include <algorithm>
#include <cstddef>

namespace sapper::store {
namespace {

// The length of the character at the start of `text`; 0: none (a NUL, a stray or missing continuation, a longer form
// than needed, a surrogate, a code point past U+10FFFF).
size_t character_length(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto continues = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const unsigned lead = byte(0);
  if (lead < 0x80) return lead != 0 ? 1 : 0;
  if (lead < 0xC2 || lead > 0xF4 || !continues(1)) return 0;
  if (lead < 0xE0) return 2;
  if (!continues(2)) return 0;
  if (lead < 0xF0) {
    const bool longer_than_needed = lead == 0xE0 && byte(1) < 0xA0;
    const bool surrogate = lead == 0xED && byte(1) >= 0xA0;
    return longer_than_needed || surrogate ? 0 : 3;
  }
  if (!continues(3) || (lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) >= 0x90)) return 0;
  return 4;
}

}  // namespace

std::string as_utf8(std::string_view text) {
  const auto plain = [](char c) { return static_cast<signed char>(c) > 0; };
  if (std::all_of(text.begin(), text.end(), plain)) return std::string(text);
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const size_t length = character_length(text);
    if (length == 0)
      valid += "\xEF\xBF\xBD";
    else
      valid += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return valid;
}

}  // namespace sapper::store
