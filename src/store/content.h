// Names that follow from what they name (SHA-256), and bytes packed with zstd.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "base/error.h"

namespace sapper::store {

// 64 hex digits.
[[nodiscard]] std::string content_hash(std::string_view bytes);

// 32 hex digits of what consists of `parts`, in this order.
[[nodiscard]] std::string identity(std::initializer_list<std::string_view> parts);

[[nodiscard]] std::string pack(std::string_view bytes);
// What was packed, if it is of this size and hash; else BadInput, saying what is wrong with it.
[[nodiscard]] Result<std::string> unpack(std::string_view packed, size_t size, std::string_view hash);

}  // namespace sapper::store
