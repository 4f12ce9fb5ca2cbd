// The scanner under the grammar of HLO text: a cursor that always stands at the first byte of a token (or at the end),
// with blanks and comments skipped, and one sticky failure. After the first failure the rest of the text reads as
// empty, so a grammar runs to its end without checking after each step; whoever started it asks failed() once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "hlo/module.h"

namespace sapper::hlo {

class Scanner {
 public:
  explicit Scanner(std::string_view text);

  // "expected WHAT, found TOKEN" at the cursor, or any message at `where`. Only the first failure counts.
  void expected(std::string_view what);
  void fail(std::string message) { fail_at(cursor_, std::move(message)); }
  void fail_at(const char* where, std::string message);
  [[nodiscard]] bool failed() const { return error_.has_value(); }
  [[nodiscard]] Error take_error() { return std::move(*error_); }

  [[nodiscard]] const char* cursor() const { return cursor_; }
  [[nodiscard]] bool at_end() const { return cursor_ == end_; }
  [[nodiscard]] char peek() const { return cursor_ < end_ ? *cursor_ : '\0'; }
  // The byte after the current one.
  [[nodiscard]] char peek_second() const { return end_ - cursor_ > 1 ? cursor_[1] : '\0'; }
  // How many instructions follow in a computation that has one a line: a guess, to reserve memory; never more than the
  // text has room for.
  [[nodiscard]] size_t lines_of_body();
  [[nodiscard]] size_t remaining() const { return static_cast<size_t>(end_ - cursor_); }
  [[nodiscard]] SourcePosition position() const;

  // Eats the token when it is there.
  bool accept(char token) {
    if (peek() != token) return false;
    ++cursor_;
    skip_blanks();
    return true;
  }
  bool accept(std::string_view token);      // "->", "<=", "..."
  bool accept_word(std::string_view word);  // a whole word, not a prefix of one
  void expect(char token, std::string_view where);
  void expect(std::string_view token, std::string_view where);

  // A word: [a-zA-Z_][a-zA-Z0-9_.-]*; empty after a failure. peek_word() is empty when no word is here.
  std::string_view word(std::string_view what);
  [[nodiscard]] std::string_view peek_word() const;
  // A name with or without %.
  std::string_view name(std::string_view what);
  int64_t integer(std::string_view what);
  int32_t integer32(std::string_view what);
  // The text of a number: [-]digits, decimal, exponent, inf, nan, nan(0x...); empty after a failure.
  std::string_view number(std::string_view what);
  double real(std::string_view what);
  bool boolean(std::string_view what);
  // A string in double or single quotes, unescaped.
  std::string string(std::string_view what);
  // Bytes as long as `belongs` says so, up to the next token; for labels such as b01f_01io->b01f.
  template <class Predicate>
  std::string_view run(Predicate belongs);
  // From `{` to its partner as raw text: a JSON object. Braces in strings do not count.
  std::string_view braced();
  // The same without eating it; empty when it is not all on one line.
  [[nodiscard]] std::string_view peek_braced() const;

  // '{' item (',' item)* '}', or nothing between. `item` reads one item.
  template <class Item>
  void list(char open, char close, std::string_view where, Item item);

  // Descends one level of nesting while it lives; fails when the text is nested too deeply.
  class Nesting {
   public:
    explicit Nesting(Scanner& scanner);
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    ~Nesting() { --scanner_.depth_; }

   private:
    Scanner& scanner_;
  };

  // Continues after the bytes up to `position`, which the caller has read by itself and which hold no line break.
  void skip_to(const char* position) {
    cursor_ = position;
    skip_blanks();
  }

 private:
  void skip_blanks() {
    if (at_end() || *cursor_ == '/' || static_cast<unsigned char>(*cursor_) <= ' ') skip_more_blanks();
  }
  void skip_more_blanks();
  void skip_comment();
  void count_lines(const char* from, const char* to);
  [[nodiscard]] const char* word_end(const char* from) const;
  [[nodiscard]] std::string found() const;
  [[nodiscard]] SourcePosition position_of(const char* where) const;

  const char* begin_;
  const char* cursor_;
  const char* end_;
  const char* line_begin_;  // of the line that holds the cursor
  int32_t line_ = 1;
  int depth_ = 0;
  const char* counted_ = nullptr;  // lines_of_body() has looked at the text up to here
  std::optional<Error> error_;
};

[[nodiscard]] bool is_word_start(char c);
[[nodiscard]] bool is_word_part(char c);

template <class Predicate>
std::string_view Scanner::run(Predicate belongs) {
  const char* begin = cursor_;
  const char* past = begin;
  while (past < end_ && belongs(*past)) ++past;
  skip_to(past);
  return {begin, static_cast<size_t>(past - begin)};
}

template <class Item>
void Scanner::list(char open, char close, std::string_view where, Item item) {
  expect(open, where);
  if (accept(close)) return;
  do {
    item();
  } while (accept(','));
  expect(close, where);
}

}  // namespace sapper::hlo
