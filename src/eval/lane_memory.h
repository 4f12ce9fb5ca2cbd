// Elements of literals as lanes and back, at any stride: what feeds scalar programs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "eval/lane_function.h"

namespace sapper::eval {

[[nodiscard]] inline size_t lane_bytes(hlo::ElementType type) {
  return static_cast<size_t>(hlo::host_bytes(lane_type(type)));
}

// Room for lanes of a type.
class LaneBuffer {
 public:
  LaneBuffer(hlo::ElementType type, size_t lanes) : lane_bytes_(lane_bytes(type)), bytes_(lane_bytes_ * lanes) {}

  [[nodiscard]] std::byte* at(size_t lane) { return bytes_.data() + lane * lane_bytes_; }
  [[nodiscard]] const std::byte* at(size_t lane) const { return bytes_.data() + lane * lane_bytes_; }

 private:
  size_t lane_bytes_;
  std::vector<std::byte> bytes_;
};

// Reads up to `capacity` elements of a type at once. Each thread has its own.
class LaneReader {
 public:
  LaneReader(hlo::ElementType type, size_t capacity);

  // Lanes of the n elements that start at `from`, `stride` elements apart; valid until the next read.
  [[nodiscard]] const void* read(size_t n, const std::byte* from, int64_t stride);

 private:
  int element_bytes_;
  LaneFunction load_;
  LaneBuffer lanes_;
  std::vector<std::byte> packed_;
};

class LaneWriter {
 public:
  LaneWriter(hlo::ElementType type, size_t capacity);

  void write(size_t n, std::byte* to, int64_t stride, const void* lanes);

 private:
  int element_bytes_;
  LaneFunction store_;
  std::vector<std::byte> packed_;
};

}  // namespace sapper::eval
