// The scanner under the grammar of LLO text: a cursor, the line it is on, and one sticky failure. After the first
// failure the rest of the text reads as empty, so that the grammar runs to its end without checking after each step;
// whoever started it asks failed() once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace sapper::llo {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : begin_(text.data()), cursor_(begin_), end_(begin_ + text.size()) {}

  // "expected WHAT, found TEXT" at the cursor, or any message at `where`. Only the first failure counts.
  void expected(std::string_view what);
  void fail_at(const char* where, std::string message);
  [[nodiscard]] bool failed() const { return error_.has_value(); }
  [[nodiscard]] Error take_error() { return std::move(*error_); }

  [[nodiscard]] const char* cursor() const { return cursor_; }
  [[nodiscard]] bool at_end() const { return cursor_ == end_; }
  [[nodiscard]] char peek() const { return cursor_ < end_ ? *cursor_ : '\0'; }
  [[nodiscard]] char peek_second() const { return end_ - cursor_ > 1 ? cursor_[1] : '\0'; }
  [[nodiscard]] std::string_view rest() const { return {cursor_, static_cast<size_t>(end_ - cursor_)}; }
  [[nodiscard]] uint32_t line() const { return line_; }

  void skip_blanks() {  // within the line
    while (cursor_ < end_ && (*cursor_ == ' ' || *cursor_ == '\t')) ++cursor_;
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++cursor_;
    return true;
  }
  bool accept(std::string_view token) {
    if (!rest().starts_with(token)) return false;
    cursor_ += token.size();
    return true;
  }
  void expect(char c, std::string_view what) {
    if (!accept(c)) expected(what);
  }
  void expect(std::string_view token) {
    if (!accept(token)) expected(token);
  }
  // Bytes as long as `belongs` says so; none of them may be a line's end.
  template <class Predicate>
  std::string_view run(Predicate belongs) {
    const char* start = cursor_;
    while (cursor_ < end_ && belongs(*cursor_)) ++cursor_;
    return {start, static_cast<size_t>(cursor_ - start)};
  }
  // The rest of the line, without its end, which is eaten.
  std::string_view rest_of_line();
  // The line's end, or the text's.
  void expect_end_of_line();
  // What stands between the opening bracket at the cursor and its partner on the same line; eats both.
  std::string_view bracketed();
  // What stands between the marks of the /* comment */ at the cursor, blanks at its ends left out; comments nest.
  std::string_view comment();

  // Digits; 0x before hexadecimal ones.
  uint32_t decimal(std::string_view what);
  uint64_t integer(std::string_view what);

 private:
  const char* begin_;
  const char* cursor_;
  const char* end_;
  uint32_t line_ = 1;
  std::optional<Error> error_;
};

[[nodiscard]] inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
// A character of opcodes and keys.
[[nodiscard]] inline bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-' || c == '.';
}
[[nodiscard]] std::string_view trim(std::string_view text);

}  // namespace sapper::llo
