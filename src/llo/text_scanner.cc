// The scanner of LLO text: failures with their place, brackets, comments, whole numbers.
#include "llo/text_scanner.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace sapper::llo {

namespace {

// The next few bytes, for a message.
std::string found(std::string_view rest) {
  if (rest.empty()) return "the end of the text";
  if (rest.front() == '\n') return "the end of the line";
  std::string excerpt;
  for (const char c : rest.substr(0, std::min(rest.find('\n'), size_t{24}))) {
    excerpt += c >= ' ' && c < '\x7f' ? c : '?';
  }
  return "'" + excerpt + "'";
}

}  // namespace

void Scanner::expected(std::string_view what) {
  fail_at(cursor_, fmt::format("expected {}, found {}", what, found(rest())));
}

void Scanner::fail_at(const char* where, std::string message) {
  if (failed()) return;
  const std::string_view before(begin_, static_cast<size_t>(where - begin_));
  const size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  error_ = Error{ErrorKind::BadInput, std::move(message), {}};
  error_->where.line = static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1;
  error_->where.column = static_cast<int>(before.size() - line_start) + 1;
  cursor_ = end_;
}

std::string_view Scanner::rest_of_line() {
  const std::string_view line = rest().substr(0, rest().find('\n'));
  cursor_ += line.size();
  expect_end_of_line();
  return line;
}

void Scanner::expect_end_of_line() {
  skip_blanks();
  if (at_end()) return;
  if (*cursor_ != '\n') return expected("the end of the line");
  ++cursor_;
  ++line_;
}

std::string_view Scanner::bracketed() {
  const char* opening = cursor_;
  size_t depth = 0;
  for (const char* at = cursor_; at < end_ && *at != '\n'; ++at) {
    if (*at == '(' || *at == '[' || *at == '{') ++depth;
    if (*at != ')' && *at != ']' && *at != '}') continue;
    if (--depth > 0) continue;
    cursor_ = at + 1;
    return {opening + 1, static_cast<size_t>(at - opening - 1)};
  }
  fail_at(opening, fmt::format("the '{}' is not closed on its line", *opening));
  return {};
}

std::string_view Scanner::comment() {
  const char* opening = cursor_;
  size_t depth = 0;
  for (const char* at = cursor_; end_ - at > 1;) {
    if (*at == '*' && at[1] == '/') {
      at += 2;
      if (--depth > 0) continue;
      cursor_ = at;
      const std::string_view inside(opening + 2, static_cast<size_t>(at - opening - 4));
      return trim(inside);
    }
    if (*at == '/' && at[1] == '*') {
      ++depth;
      at += 2;
      continue;
    }
    line_ += *at == '\n' ? 1 : 0;
    ++at;
  }
  fail_at(opening, "the comment is not closed");
  return {};
}

uint32_t Scanner::decimal(std::string_view what) {
  uint32_t value = 0;
  const auto [after, error] = std::from_chars(cursor_, end_, value);
  if (error == std::errc::result_out_of_range) {
    fail_at(cursor_, fmt::format("{} is above {}", what, UINT32_MAX));
  } else if (error != std::errc()) {
    expected(what);
  } else {
    cursor_ = after;
  }
  return value;
}

uint64_t Scanner::integer(std::string_view what) {
  const char* start = cursor_;
  const int base = accept("0x") ? 16 : 10;
  uint64_t value = 0;
  const auto [after, error] = std::from_chars(cursor_, end_, value, base);
  if (error == std::errc::result_out_of_range) {
    fail_at(start, fmt::format("{} has more than 64 bits", what));
  } else if (error != std::errc()) {
    expected(what);
  } else {
    cursor_ = after;
  }
  return value;
}

std::string_view trim(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\n'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace sapper::llo
