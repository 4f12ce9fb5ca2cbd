// Assertions about sapper's own invariants, on in release builds too. Never for input: bad input is an Error.
#pragma once

#include <string_view>

namespace sapper {

[[noreturn]] void assertion_failed(std::string_view condition, std::string_view file, int line);

}  // namespace sapper

#define SAPPER_ASSERT(condition) \
  (static_cast<bool>(condition) ? void(0) : ::sapper::assertion_failed(#condition, __FILE__, __LINE__))
