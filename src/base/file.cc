#include "base/file.h"

#include <unistd.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

namespace sapper {
namespace {

tl::unexpected<Error> too_large(const std::string& path, std::string_view how, size_t limit_bytes) {
  return fail(ErrorKind::Resource, "{}: {} more than {} bytes, the most that is read; check that it is the right file",
              path, how, limit_bytes);
}

// What a frame says of its size is a claim: beyond this much, memory is taken as data arrives.
constexpr unsigned long long most_reserved = 64 << 20;

Result<std::string> decompress(const std::string& path, std::string_view packed, size_t limit_bytes) {
  std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(), &ZSTD_freeDCtx);
  std::string bytes;
  const unsigned long long stated = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (stated != ZSTD_CONTENTSIZE_UNKNOWN && stated != ZSTD_CONTENTSIZE_ERROR && stated > limit_bytes)
    return too_large(path, "says that it decompresses to", limit_bytes);
  bytes.reserve(std::min({stated, most_reserved, static_cast<unsigned long long>(limit_bytes)}));
  ZSTD_inBuffer in{packed.data(), packed.size(), 0};
  std::string chunk(ZSTD_DStreamOutSize(), '\0');
  size_t pending = 0;
  while (in.pos < in.size) {
    ZSTD_outBuffer out{chunk.data(), chunk.size(), 0};
    pending = ZSTD_decompressStream(context.get(), &out, &in);
    if (ZSTD_isError(pending) != 0)
      return fail(ErrorKind::BadInput, "{}: damaged zstd data: {}", path, ZSTD_getErrorName(pending));
    if (bytes.size() + out.pos > limit_bytes) return too_large(path, "decompresses to", limit_bytes);
    bytes.append(chunk.data(), out.pos);
  }
  if (pending != 0) return fail(ErrorKind::BadInput, "{}: zstd data ends too early (truncated file?)", path);
  return bytes;
}

}  // namespace

Result<std::string> read_file(const std::string& path, size_t limit_bytes) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    return fail(ErrorKind::BadInput, "{}: is a folder, not a file", path);
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return fail(ErrorKind::BadInput, "{}: cannot open: {}", path, std::strerror(errno));
  // A pipe does not know its size, and what a file says of its own may be old.
  const uintmax_t stated = std::filesystem::file_size(path, ignored);
  if (!ignored && stated > limit_bytes) return too_large(path, "holds", limit_bytes);
  std::string bytes;
  while (stream) {
    constexpr size_t least = 64 << 10;
    const size_t held = bytes.size();
    if (held > limit_bytes) return too_large(path, "holds", limit_bytes);
    bytes.resize(held == 0 && !ignored ? static_cast<size_t>(stated) + 1 : held + std::max(held, least));
    stream.read(bytes.data() + held, static_cast<std::streamsize>(bytes.size() - held));
    bytes.resize(held + static_cast<size_t>(stream.gcount()));
  }
  if (stream.bad()) return fail(ErrorKind::BadInput, "{}: cannot read: {}", path, std::strerror(errno));
  constexpr std::string_view zstd_magic("\x28\xb5\x2f\xfd", 4);
  if (std::string_view(bytes).substr(0, 4) == zstd_magic) return decompress(path, bytes, limit_bytes);
  return bytes;
}

Status write_file(const std::string& path, std::string_view bytes) {
  // What is there already and no file of its own (a link, a pipe, a device) is written through, not replaced.
  std::error_code error;
  const std::filesystem::file_status there = std::filesystem::symlink_status(path, error);
  const bool replaces = !std::filesystem::exists(there) || std::filesystem::is_regular_file(there);
  const std::string written = replaces ? fmt::format("{}.{}.partial", path, getpid()) : path;
  std::ofstream stream(written, std::ios::binary | std::ios::trunc);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  stream.close();
  if (!stream || (replaces && std::rename(written.c_str(), path.c_str()) != 0)) {
    const int why = errno;
    if (replaces) std::remove(written.c_str());
    return fail(ErrorKind::BadInput, "{}: cannot write: {}", path, std::strerror(why));
  }
  return {};
}

}  // namespace sapper
