#include "eval/buffer_pool.h"

#include <algorithm>
#include <bit>

namespace sapper::eval {

// Class 4 * k + j holds buffers of (4 + j) / 4 * smallest * 2^k bytes.
int BufferPool::class_of(int64_t bytes) {
  if (bytes <= smallest) return 0;
  const auto last = static_cast<uint64_t>((bytes - 1) / (smallest / 4));  // in quarters of the smallest, rounded down
  const int octave = std::bit_width(last) - 3;
  const auto quarter = static_cast<int>(last >> octave) - 4;
  return 4 * octave + quarter + 1;
}

int64_t BufferPool::class_bytes(int size_class) {
  return (int64_t{4} + size_class % 4) * (smallest / 4) << (size_class / 4);
}

Buffer BufferPool::allocate(int64_t bytes) {
  if (!fits(bytes)) return nullptr;
  const int size_class = class_of(bytes);
  const int64_t rounded = class_bytes(size_class);
  std::vector<Buffer>& free = free_[size_class];
  if (!free.empty()) {
    Buffer buffer = std::move(free.back());
    free.pop_back();
    free_bytes_ -= rounded;
    live_ += rounded;
    return buffer;
  }
  if (live_ + free_bytes_ + rounded > limit_) drop_free();
  live_ += rounded;
  return std::make_shared<hlo::AlignedBytes>(static_cast<size_t>(rounded));
}

void BufferPool::release(Buffer&& buffer) {
  Buffer last = std::move(buffer);
  if (!last || last.use_count() > 1) return;
  const auto bytes = static_cast<int64_t>(last->size());
  live_ -= bytes;
  const int size_class = class_of(bytes);
  if (class_bytes(size_class) != bytes) return;  // adopted, of another size
  if (free_bytes_ + bytes > std::max(enough_free, live_)) return;
  free_[size_class].push_back(std::move(last));
  free_bytes_ += bytes;
}

void BufferPool::drop_free() {
  for (std::vector<Buffer>& free : free_) free.clear();
  free_bytes_ = 0;
}

}  // namespace sapper::eval
