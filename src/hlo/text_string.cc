#include "hlo/text_string.h"

#include <algorithm>

#include "hlo/text_scanner.h"

namespace sapper::hlo {
namespace {

bool is_plain(char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\'' && c != '\\'; }

void append_escaped(std::string& out, char c) {
  switch (c) {
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    case '"':
    case '\'':
    case '\\':
      out += '\\';
      out += c;
      return;
    default: break;
  }
  const auto byte = static_cast<unsigned char>(c);
  out += '\\';
  out += static_cast<char>('0' + (byte >> 6));
  out += static_cast<char>('0' + ((byte >> 3) & 7));
  out += static_cast<char>('0' + (byte & 7));
}

bool is_object(std::string_view value) {
  if (!value.starts_with('{') || value.find('\0') != std::string_view::npos) return false;
  Scanner scan(value);
  return scan.braced().size() == value.size() && !scan.failed();
}

}  // namespace

void append_quoted(std::string& out, std::string_view value, char quote) {
  out += quote;
  const char* at = value.data();
  const char* const end = at + value.size();
  while (at < end) {
    const char* plain_end = std::find_if_not(at, end, is_plain);
    out.append(at, plain_end);
    at = plain_end;
    if (at < end) append_escaped(out, *at++);
  }
  out += quote;
}

void append_object_or_quoted(std::string& out, std::string_view value) {
  if (is_object(value)) {
    out += value;
  } else {
    append_quoted(out, value);
  }
}

bool is_word(std::string_view name) {
  return !name.empty() && is_word_start(name.front()) && std::all_of(name.begin(), name.end(), is_word_part);
}

std::string word_from(std::string_view name) {
  std::string word(name);
  std::replace_if(
      word.begin(), word.end(), [](char c) { return !is_word_part(c); }, '_');
  if (word.empty() || !is_word_start(word.front())) word.insert(word.begin(), '_');
  return word;
}

}  // namespace sapper::hlo
