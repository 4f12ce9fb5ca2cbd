#include "hlo/wire.h"

#include <bit>

namespace sapper::hlo {
namespace {

// Bytes of the UTF-8 sequence at the start of `text`; 0: none. As RFC 3629 has it: shortest form, no surrogates.
size_t sequence_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  if (byte(0) < 0x80) return 1;
  const auto length = static_cast<size_t>(std::countl_one(byte(0)));
  if (length < 2 || length > 4 || length > text.size()) return 0;
  uint32_t point = byte(0) & (0xffU >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    point = point << 6 | (byte(i) & 0x3fU);
  }
  constexpr uint32_t lowest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = point >= 0xd800 && point < 0xe000;
  return point >= lowest[length] && point < 0x110000 && !is_surrogate ? length : 0;
}

}  // namespace

bool is_utf8(std::string_view text) {
  unsigned all = 0;  // ASCII, nearly always; without an early exit the loop is vectorized
  for (const char c : text) all |= static_cast<uint8_t>(c);
  if (all < 0x80) return true;
  while (!text.empty()) {
    const size_t length = sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace sapper::hlo
