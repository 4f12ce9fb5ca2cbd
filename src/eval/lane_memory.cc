#include "eval/lane_memory.h"

#include "eval/index_space.h"

namespace sapper::eval {

LaneReader::LaneReader(hlo::ElementType type, size_t capacity)
    : element_bytes_(hlo::host_bytes(type)),
      load_(load_lanes(type)),
      lanes_(type, load_ == nullptr ? 0 : capacity),
      packed_(capacity * static_cast<size_t>(element_bytes_)) {}

const void* LaneReader::read(size_t n, const std::byte* from, int64_t stride) {
  const std::byte* elements = from;
  if (stride != 1 && n > 1) {
    copy_run(packed_.data(), 1, from, stride, static_cast<int64_t>(n), element_bytes_);
    elements = packed_.data();
  }
  if (load_ == nullptr) return elements;
  load_(n, lanes_.at(0), elements, nullptr, nullptr, 0);
  return lanes_.at(0);
}

LaneWriter::LaneWriter(hlo::ElementType type, size_t capacity)
    : element_bytes_(hlo::host_bytes(type)),
      store_(store_lanes(type)),
      packed_(capacity * static_cast<size_t>(element_bytes_)) {}

void LaneWriter::write(size_t n, std::byte* to, int64_t stride, const void* lanes) {
  const bool is_packed = stride == 1 || n == 1;
  if (store_ != nullptr) {
    std::byte* elements = is_packed ? to : packed_.data();
    store_(n, elements, lanes, nullptr, nullptr, 0);
    if (is_packed) return;
    lanes = elements;
  }
  copy_run(to, is_packed ? 1 : stride, static_cast<const std::byte*>(lanes), 1, static_cast<int64_t>(n),
           element_bytes_);
}

}  // namespace sapper::eval
