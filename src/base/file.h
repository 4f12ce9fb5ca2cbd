// Whole files as strings: reading (with zstd decompression by content) and atomic writing.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace sapper {

// The bytes of `path`; a zstd frame is decompressed whatever the name. BadInput when unreadable, Resource when the
// decompressed size passes `limit_bytes`.
[[nodiscard]] Result<std::string> read_file(const std::string& path, size_t limit_bytes = size_t{8} << 30);

// Writes through a temporary file in the same folder and a rename, so that readers never see half a file.
[[nodiscard]] Status write_file(const std::string& path, std::string_view bytes);

}  // namespace sapper
