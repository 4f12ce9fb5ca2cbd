// Strings that the wire holds as UTF-8: other bytes are refused here, since what is written with them does not read
// back.
#pragma once

#include "hlo/text_scanner.h"

namespace sapper::hlo {

// A string in quotes. (Scanner::string takes any bytes.)
[[nodiscard]] std::string read_utf8(Scanner& scan, std::string_view what);

// An object in braces as it is, or a string in quotes.
[[nodiscard]] std::string read_utf8_or_object(Scanner& scan);

}  // namespace sapper::hlo
