#include "store/content.h"

#include <openssl/evp.h>
#include <zstd.h>

#include <array>
#include <memory>
#include <new>

#include "base/assert.h"

namespace sapper::store {
namespace {

std::string digest(std::string_view bytes, size_t digits) {
  static const std::unique_ptr<EVP_MD, decltype(&EVP_MD_free)> sha256(EVP_MD_fetch(nullptr, "SHA256", nullptr),
                                                                      &EVP_MD_free);
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned size = 0;
  SAPPER_ASSERT(EVP_Digest(bytes.data(), bytes.size(), hash.data(), &size, sha256.get(), nullptr) == 1);
  SAPPER_ASSERT(digits <= 2 * size_t{size});
  constexpr std::string_view hex = "0123456789abcdef";
  std::string text(digits, '0');
  for (size_t i = 0; i < digits; ++i) text[i] = hex[(hash[i / 2] >> (i % 2 == 0 ? 4 : 0)) & 15];
  return text;
}

}  // namespace

std::string content_hash(std::string_view bytes) { return digest(bytes, 64); }

std::string identity(std::initializer_list<std::string_view> parts) {
  std::string all;
  for (const std::string_view part : parts) {
    fmt::format_to(std::back_inserter(all), "{}:", part.size());  // so that ("ab", "c") is not ("a", "bc")
    all += part;
  }
  return digest(all, 32);
}

std::string pack(std::string_view bytes) {
  static thread_local const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                                         &ZSTD_freeCCtx);
  const size_t bound = ZSTD_compressBound(bytes.size());
  const auto packed = std::make_unique_for_overwrite<char[]>(bound);
  const size_t size =
      ZSTD_compressCCtx(context.get(), packed.get(), bound, bytes.data(), bytes.size(), ZSTD_CLEVEL_DEFAULT);
  if (ZSTD_isError(size) != 0) throw std::bad_alloc();  // all else is ruled out by `bound`
  return {packed.get(), size};
}

Result<std::string> unpack(std::string_view packed, size_t size, std::string_view hash) {
  if (ZSTD_getFrameContentSize(packed.data(), packed.size()) != size)
    return fail(ErrorKind::BadInput, "it is no zstd frame of {} bytes", size);
  std::string bytes(size, '\0');
  const size_t got = ZSTD_decompress(bytes.data(), bytes.size(), packed.data(), packed.size());
  if (ZSTD_isError(got) != 0) return fail(ErrorKind::BadInput, "{}", ZSTD_getErrorName(got));
  if (got != size || content_hash(bytes) != hash)
    return fail(ErrorKind::BadInput, "its hash is not the one it was kept under");
  return bytes;
}

}  // namespace sapper::store
