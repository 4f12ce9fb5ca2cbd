#include "hlo/text_scanner.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <limits>

#include "hlo/text_number.h"

namespace sapper::hlo {
namespace {

// Nested computations, operands and tuples of values: deep enough for any program, shallow enough for any stack.
constexpr int max_depth = 200;

enum CharacterClass : uint8_t { Other = 0, WordStart = 1, WordPart = 2 };

constexpr std::array<uint8_t, 256> character_classes = [] {
  std::array<uint8_t, 256> classes{};
  for (int c = 'a'; c <= 'z'; ++c) classes[static_cast<size_t>(c)] = WordStart | WordPart;
  for (int c = 'A'; c <= 'Z'; ++c) classes[static_cast<size_t>(c)] = WordStart | WordPart;
  for (int c = '0'; c <= '9'; ++c) classes[static_cast<size_t>(c)] = WordPart;
  classes['_'] = WordStart | WordPart;
  classes['.'] = WordPart;
  classes['-'] = WordPart;
  return classes;
}();

bool is_digit(char c) { return c >= '0' && c <= '9'; }

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void append_utf8(std::string& out, uint32_t code) {
  const auto continuation = [&](int shift) { out += static_cast<char>(0x80 | ((code >> shift) & 0x3f)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | (code >> 6));
    continuation(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | (code >> 12));
    continuation(6);
    continuation(0);
  } else {
    out += static_cast<char>(0xf0 | (code >> 18));
    continuation(12);
    continuation(6);
    continuation(0);
  }
}

// The number of as many digits as there are at `at`, from `fewest` to `most`; moves `at` past them.
std::optional<uint32_t> escaped_number(const char*& at, const char* end, uint32_t base, int fewest, int most) {
  const char* digits = at;
  uint32_t value = 0;
  while (at < end && at - digits < most && static_cast<uint32_t>(hex_digit(*at)) < base)
    value = value * base + static_cast<uint32_t>(hex_digit(*at++));
  return at - digits < fewest ? std::nullopt : std::optional(value);
}

// Appends what the escape at `at` (just after the backslash) stands for and moves `at` past it. False: it is none.
bool unescape(const char*& at, const char* end, std::string& out) {
  if (at == end) return false;
  constexpr std::string_view letters = "abfnrtv\\'\"?";
  constexpr std::string_view bytes = "\a\b\f\n\r\t\v\\'\"?";
  const char kind = *at++;
  if (const size_t i = letters.find(kind); i != std::string_view::npos) {
    out += bytes[i];
    return true;
  }
  if (kind == 'u' || kind == 'U') {
    const int digits = kind == 'u' ? 4 : 8;
    const auto code = escaped_number(at, end, 16, digits, digits);
    if (!code || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000)) return false;
    append_utf8(out, *code);
    return true;
  }
  const bool hexadecimal = kind == 'x' || kind == 'X';
  if (!hexadecimal) --at;  // octal: the kind is its first digit
  const auto byte = hexadecimal ? escaped_number(at, end, 16, 1, 2) : escaped_number(at, end, 8, 1, 3);
  if (!byte || *byte > 0xff) return false;
  out += static_cast<char>(*byte);
  return true;
}

// From `{` at `begin` to its partner; empty when there is none. Braces in strings do not count.
std::string_view braced_prefix(const char* begin, const char* end) {
  int open = 0;
  for (const char* at = begin; at < end; ++at) {
    switch (*at) {
      case '"':
        for (++at; at < end && *at != '"'; ++at)
          if (*at == '\\' && at + 1 < end) ++at;
        if (at == end) return {};
        break;
      case '{': ++open; break;
      case '}': --open; break;
      default: break;
    }
    if (open <= 0)
      return open < 0 || at == begin ? std::string_view()
                                     : std::string_view(begin, static_cast<size_t>(at + 1 - begin));
  }
  return {};
}

}  // namespace

bool is_word_start(char c) { return (character_classes[static_cast<unsigned char>(c)] & WordStart) != 0; }
bool is_word_part(char c) { return (character_classes[static_cast<unsigned char>(c)] & WordPart) != 0; }

Scanner::Scanner(std::string_view text)
    : begin_(text.data()), cursor_(text.data()), end_(text.data() + text.size()), line_begin_(text.data()) {
  skip_blanks();
}

void Scanner::expected(std::string_view what) { fail(fmt::format("expected {}, found {}", what, found())); }

void Scanner::fail_at(const char* where, std::string message) {
  if (failed()) return;
  const SourcePosition at = position_of(where);
  error_ = Error{ErrorKind::BadInput, std::move(message), {"", at.line, at.column, ""}};
  cursor_ = end_;
}

SourcePosition Scanner::position() const { return {line_, static_cast<int32_t>(cursor_ - line_begin_ + 1)}; }

SourcePosition Scanner::position_of(const char* where) const {
  const auto line = 1 + std::count(begin_, where, '\n');
  const char* line_begin = where;
  while (line_begin > begin_ && line_begin[-1] != '\n') --line_begin;
  return {static_cast<int32_t>(line), static_cast<int32_t>(where - line_begin + 1)};
}

// The token at the cursor as a person would name it.
std::string Scanner::found() const {
  if (at_end()) return "the end of the text";
  const char* past = cursor_ + 1;
  if (*cursor_ == '%' || is_word_part(*cursor_)) past = word_end(past);
  if (*cursor_ == '"' || *cursor_ == '\'') past = std::find(past, std::find(past, end_, '\n'), *cursor_) + 1;
  past = std::min({past, end_, cursor_ + 60});
  const auto byte = static_cast<unsigned char>(*cursor_);
  if (byte < ' ' || byte > '~') return fmt::format("the byte 0x{:02x}", byte);
  return fmt::format("'{}'", std::string_view(cursor_, static_cast<size_t>(past - cursor_)));
}

void Scanner::skip_more_blanks() {
  for (; cursor_ < end_; ++cursor_) {
    switch (*cursor_) {
      case ' ':
      case '\t':
      case '\r': break;
      case '\n':
        ++line_;
        line_begin_ = cursor_ + 1;
        break;
      case '/':
        if (peek_second() != '/' && peek_second() != '*') return;
        skip_comment();
        if (failed()) return;
        break;
      default: return;
    }
  }
}

// Leaves the cursor on the last byte of the comment (before the line break of a // comment).
void Scanner::skip_comment() {
  if (peek_second() == '/') {
    cursor_ = std::find(cursor_, end_, '\n') - 1;
    return;
  }
  constexpr std::string_view close = "*/";
  const char* past = std::search(cursor_ + 2, end_, close.begin(), close.end());
  if (past == end_) return fail("this comment is not closed: expected */");
  count_lines(cursor_, past);
  cursor_ = past + 1;
}

void Scanner::count_lines(const char* from, const char* to) {
  for (; from < to; ++from) {
    if (*from != '\n') continue;
    ++line_;
    line_begin_ = from + 1;
  }
}

size_t Scanner::lines_of_body() {
  constexpr size_t shortest_instruction = 16;
  if (cursor_ < counted_) return 0;  // each byte is looked at once
  const std::string_view rest(cursor_, remaining());
  const std::string_view body = rest.substr(0, rest.find("\n}"));
  counted_ = body.data() + body.size();
  return std::min(static_cast<size_t>(std::count(body.begin(), body.end(), '\n')) + 1,
                  body.size() / shortest_instruction);
}

bool Scanner::accept(std::string_view token) {
  if (remaining() < token.size() || std::memcmp(cursor_, token.data(), token.size()) != 0) return false;
  skip_to(cursor_ + token.size());
  return true;
}

bool Scanner::accept_word(std::string_view word) { return peek_word() == word && accept(word); }

void Scanner::expect(char token, std::string_view where) {
  if (!accept(token)) expected(fmt::format("'{}' {}", token, where));
}

void Scanner::expect(std::string_view token, std::string_view where) {
  if (!accept(token)) expected(fmt::format("'{}' {}", token, where));
}

const char* Scanner::word_end(const char* from) const {
  while (from < end_ && is_word_part(*from)) ++from;
  return from;
}

std::string_view Scanner::peek_word() const {
  if (at_end() || !is_word_start(*cursor_)) return {};
  return {cursor_, static_cast<size_t>(word_end(cursor_ + 1) - cursor_)};
}

std::string_view Scanner::word(std::string_view what) {
  const std::string_view word = peek_word();
  if (word.empty()) {
    expected(what);
  } else {
    skip_to(word.data() + word.size());
  }
  return word;
}

std::string_view Scanner::name(std::string_view what) {
  const bool percent = peek() == '%';
  const char* start = cursor_ + (percent ? 1 : 0);
  if (start >= end_ || !is_word_start(*start)) {
    expected(what);
    return {};
  }
  const char* past = word_end(start + 1);
  skip_to(past);
  return {start, static_cast<size_t>(past - start)};
}

int64_t Scanner::integer(std::string_view what) {
  const char* digits = cursor_;
  const bool negative = peek() == '-';
  if (negative) ++digits;
  uint64_t magnitude = 0;
  const auto [past, problem] = std::from_chars(digits, end_, magnitude);
  if (problem == std::errc::invalid_argument || (past < end_ && *past == '.')) {
    expected(what);
    return 0;
  }
  // Above the range of int64 the bits of an unsigned number are kept, as XLA does.
  if (problem == std::errc::result_out_of_range || (negative && magnitude > uint64_t{1} << 63)) {
    fail("this integer does not fit in 64 bits");
    return 0;
  }
  skip_to(past);
  return static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
}

int32_t Scanner::integer32(std::string_view what) {
  const char* start = cursor_;
  const int64_t value = integer(what);
  if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<int32_t>::max()) {
    fail_at(start, "this integer does not fit in 32 bits");
    return 0;
  }
  return static_cast<int32_t>(value);
}

std::string_view Scanner::number(std::string_view what) {
  const size_t length = number_length({cursor_, remaining()});
  if (length == 0) {
    expected(what);
    return {};
  }
  const std::string_view text(cursor_, length);
  skip_to(cursor_ + length);
  return text;
}

double Scanner::real(std::string_view what) {
  const char* start = cursor_;
  const std::string_view text = number(what);
  if (text.empty()) return 0;
  const std::optional<double> value = parse_real(text);
  if (!value) fail_at(start, fmt::format("the number {} does not fit in 64-bit floating point", text));
  return value.value_or(0);
}

bool Scanner::boolean(std::string_view what) {
  if (accept_word("true")) return true;
  if (accept_word("false")) return false;
  expected(what);
  return false;
}

std::string Scanner::string(std::string_view what) {
  std::string value;
  const char quote = peek();
  if (quote != '"' && quote != '\'') {
    expected(what);
    return value;
  }
  const char* at = cursor_ + 1;
  while (at < end_ && *at != quote) {
    const char* plain = at;
    while (at < end_ && *at != quote && *at != '\\') ++at;
    value.append(plain, at);
    if (at >= end_ || *at != '\\') continue;
    const char* escape = at++;
    if (!unescape(at, end_, value)) {
      fail_at(escape, "unknown escape in a string");
      return {};
    }
  }
  if (at >= end_) {
    fail("this string is not closed");
    return {};
  }
  count_lines(cursor_, at);
  skip_to(at + 1);
  return value;
}

std::string_view Scanner::peek_braced() const {
  const std::string_view text = braced_prefix(cursor_, end_);
  return text.find('\n') == std::string_view::npos ? text : std::string_view();
}

std::string_view Scanner::braced() {
  const std::string_view text = braced_prefix(cursor_, end_);
  if (text.empty()) {
    if (peek() == '{') fail("this '{' is not closed");
    expected("'{' to start an object");
    return text;
  }
  const char* past = text.data() + text.size();
  count_lines(cursor_, past);
  skip_to(past);
  return text;
}

Scanner::Nesting::Nesting(Scanner& scanner) : scanner_(scanner) {
  if (++scanner_.depth_ > max_depth) scanner_.fail(fmt::format("nested more than {} deep", max_depth));
}

}  // namespace sapper::hlo
