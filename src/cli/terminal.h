// What every command says on the terminal in the same way: errors, progress, colours only where a person looks.
#pragma once

#include <string>

#include "base/error.h"

namespace sapper::cli {

// Prints "sapper: ..." on stderr. The exit code: 2 for bad input, 3 for what could not be determined.
int report_error(const Error& error);

[[nodiscard]] bool stdout_is_terminal();

// One line on stderr that is rewritten in place; nothing when stderr is no terminal.
class ProgressLine {
 public:
  ProgressLine();
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  void show(const std::string& text);
  void clear();

 private:
  bool enabled_;
  bool shown_ = false;
};

}  // namespace sapper::cli
