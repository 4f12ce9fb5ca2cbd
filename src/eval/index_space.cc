#include "eval/index_space.h"

#include "base/assert.h"

namespace sapper::eval {
namespace {

template <class Element>
void copy_elements(std::byte* to, int64_t to_stride, const std::byte* from, int64_t from_stride, int64_t count) {
  const auto bytes = static_cast<int64_t>(sizeof(Element));
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * to_stride * bytes, from + i * from_stride * bytes, sizeof(Element));
  }
}

}  // namespace

void copy_run(std::byte* to, int64_t to_stride, const std::byte* from, int64_t from_stride, int64_t count, int bytes) {
  if (to_stride == 1 && from_stride == 1) {
    std::memcpy(to, from, static_cast<size_t>(count * bytes));
    return;
  }
  switch (bytes) {
    case 1: return copy_elements<std::array<std::byte, 1>>(to, to_stride, from, from_stride, count);
    case 2: return copy_elements<std::array<std::byte, 2>>(to, to_stride, from, from_stride, count);
    case 4: return copy_elements<std::array<std::byte, 4>>(to, to_stride, from, from_stride, count);
    case 8: return copy_elements<std::array<std::byte, 8>>(to, to_stride, from, from_stride, count);
    default:
      SAPPER_ASSERT(bytes == 16);
      return copy_elements<std::array<std::byte, 16>>(to, to_stride, from, from_stride, count);
  }
}

}  // namespace sapper::eval
