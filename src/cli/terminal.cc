#include "cli/terminal.h"

#include <unistd.h>

#include <cstdio>

namespace sapper::cli {

int report_error(const Error& error) {
  fmt::print(stderr, "sapper: {}\n", error.describe());
  return error.kind == ErrorKind::BadInput ? 2 : 3;
}

bool stdout_is_terminal() { return isatty(STDOUT_FILENO) != 0; }

ProgressLine::ProgressLine() : enabled_(isatty(STDERR_FILENO) != 0) {}
ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::show(const std::string& text) {
  if (!enabled_) return;
  fmt::print(stderr, "\r\033[K{}", text);
  std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  shown_ = false;
}

}  // namespace sapper::cli
