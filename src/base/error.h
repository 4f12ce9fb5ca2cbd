// Errors as values: what can fail returns Result<T>. An Error says its kind, a message for people (what was wrong and
// what to do), and where. `Error::kind` decides the exit code and the verdict: bad input is the user's to fix,
// unsupported and resource mean that sapper gave up (never that the program is wrong), compiler means that the compiler
// under test failed.
#pragma once

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace sapper {

enum class ErrorKind {
  BadInput,     // malformed text or proto, wrong usage, a file that cannot be read
  Unsupported,  // well-formed, but sapper does not (yet) evaluate or model it
  Resource,     // a limit of memory or size was reached
  Interrupted,  // the compiler's process was killed from outside, or found no memory or space: it may go another time
  Rejected,     // the compiler under test says that the program is invalid or that it does not support it
  Crash,        // the compiler under test died
  Timeout,      // the compiler under test did not end within its time limit
  Internal,     // a defect of sapper itself
};

// Position of what an error is about; empty or zero parts are unknown.
struct Location {
  std::string file;
  int line = 0;    // 1-based
  int column = 0;  // 1-based, in bytes
  std::string instruction;
};

struct Error {
  ErrorKind kind = ErrorKind::Internal;
  std::string message;
  Location where;

  // "file:line:col: message (instruction NAME)", leaving out what is unknown.
  [[nodiscard]] std::string describe() const;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

[[nodiscard]] inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

// fail(ErrorKind::BadInput, "dimension {} of {}", i, n): an error without a location.
template <class... Args>
[[nodiscard]] tl::unexpected<Error> fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected<Error>(Error{kind, fmt::format(format, std::forward<Args>(args)...), {}});
}

// `result`, its error saying that it is about `file` where no file is named yet.
template <class T>
[[nodiscard]] Result<T> in_file(Result<T> result, const std::string& file) {
  if (!result && result.error().where.file.empty()) result.error().where.file = file;
  return result;
}

[[nodiscard]] const char* to_string(ErrorKind kind);

}  // namespace sapper

#define SAPPER_CONCAT_INNER(a, b) a##b
#define SAPPER_CONCAT(a, b) SAPPER_CONCAT_INNER(a, b)

// SAPPER_TRY(lhs, expression): lhs = the value, or return the error from the enclosing function.
#define SAPPER_TRY(lhs, ...) SAPPER_TRY_INNER(SAPPER_CONCAT(sapper_result_, __LINE__), lhs, __VA_ARGS__)
#define SAPPER_TRY_INNER(result, lhs, ...)                                          \
  auto result = (__VA_ARGS__);                                                      \
  if (!result) return ::tl::unexpected<::sapper::Error>(std::move(result).error()); \
  lhs = std::move(result).value()

// SAPPER_CHECKED(expression): return the error of a Status from the enclosing function.
#define SAPPER_CHECKED(...)                                                       \
  do {                                                                            \
    if (auto sapper_status = (__VA_ARGS__); !sapper_status)                       \
      return ::tl::unexpected<::sapper::Error>(std::move(sapper_status).error()); \
  } while (false)
