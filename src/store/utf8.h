// Text that every database takes.
#pragma once

#include <string>
#include <string_view>

namespace sapper::store {

// `text`, each byte that is no part of valid UTF-8, and each NUL, replaced by U+FFFD.
[[nodiscard]] std::string as_utf8(std::string_view text);

}  // namespace sapper::store
