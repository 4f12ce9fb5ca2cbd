#include "base/error.h"

namespace sapper {

std::string Error::describe() const {
  std::string text;
  if (!where.file.empty()) text += where.file + ":";
  if (where.line > 0) text += fmt::format("{}:", where.line);
  if (where.line > 0 && where.column > 0) text += fmt::format("{}:", where.column);
  if (!text.empty()) text += ' ';
  text += message;
  if (!where.instruction.empty()) text += fmt::format(" (instruction {})", where.instruction);
  return text;
}

const char* to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::BadInput: return "bad input";
    case ErrorKind::Unsupported: return "unsupported";
    case ErrorKind::Resource: return "resource";
    case ErrorKind::Interrupted: return "interrupted";
    case ErrorKind::Rejected: return "rejected";
    case ErrorKind::Crash: return "crash";
    case ErrorKind::Timeout: return "timeout";
    case ErrorKind::Internal: return "internal";
  }
  return "internal";
}

}  // namespace sapper
