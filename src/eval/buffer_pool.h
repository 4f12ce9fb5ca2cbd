// The memory of one evaluation: buffers are handed out by size, come back at the last use of their value and are used
// again, so that loops do not allocate and pages are touched once. Counts live bytes against the limit before
// allocating.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/error.h"
#include "hlo/literal.h"

namespace sapper::eval {

using Buffer = std::shared_ptr<hlo::AlignedBytes>;

class BufferPool {
 public:
  explicit BufferPool(int64_t limit_bytes) : limit_(limit_bytes) {}

  // A buffer of at least `bytes`; null when the live buffers would pass the limit.
  [[nodiscard]] Buffer allocate(int64_t bytes);
  // Would `bytes` more pass the limit?
  [[nodiscard]] bool fits(int64_t bytes) const { return bytes <= limit_ - live_; }
  // Counts a buffer that was allocated elsewhere.
  void adopt(const Buffer& buffer) { live_ += static_cast<int64_t>(buffer->size()); }
  // Counts memory that others hold.
  void reserve(int64_t bytes) { live_ += bytes; }
  // Counts a buffer no more that will be adopted again.
  void disown(const Buffer& buffer) { live_ -= static_cast<int64_t>(buffer->size()); }
  // Takes a reference back; the buffer is free when it was the last.
  void release(Buffer&& buffer);

  [[nodiscard]] int64_t live_bytes() const { return live_; }
  [[nodiscard]] int64_t limit_bytes() const { return limit_; }

 private:
  static constexpr int64_t smallest = 64;
  static constexpr int64_t enough_free = int64_t{256} << 20;  // free buffers beyond this and the live ones are not kept
  static constexpr int classes = 4 * 60;                      // four sizes an octave
  [[nodiscard]] static int class_of(int64_t bytes);
  [[nodiscard]] static int64_t class_bytes(int size_class);
  void drop_free();

  int64_t limit_;
  int64_t live_ = 0;
  int64_t free_bytes_ = 0;
  std::vector<Buffer> free_[classes];
};

}  // namespace sapper::eval
