// Reads the text dumps of LLO, every form of them (docs/llo.md has the grammar).
#pragma once

#include <string>

#include "base/error.h"
#include "llo/program.h"

namespace sapper::llo {

// Errors: BadInput with file and line: malformed or cut off text. Opcodes are not looked at. Linear in the text.
// `file` is the name for messages.
[[nodiscard]] Result<Program> parse_program(std::string text, const std::string& file);

}  // namespace sapper::llo
