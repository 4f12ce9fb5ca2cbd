// Index arithmetic for the operations that move elements: index operands of any integer type, and walks over an index
// space that keep the offsets into several arrays up to date.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "eval/dimensions.h"
#include "hlo/literal.h"

namespace sapper::eval {

// The elements of an integer or pred array as indices: by full value, and what int64_t cannot say (u64) saturates.
class IndexReader {
 public:
  IndexReader(const std::byte* array, hlo::ElementType type)
      : bytes_(array),
        size_(hlo::host_bytes(type)),
        is_signed_(hlo::element_class(type) == hlo::ElementClass::Signed) {}
  explicit IndexReader(const hlo::Literal& array) : IndexReader(array.bytes().data(), array.shape().element_type()) {}

  [[nodiscard]] int64_t operator[](int64_t i) const {
    switch (size_) {
      case 1: return is_signed_ ? load<int8_t>(i) : load<uint8_t>(i);
      case 2: return is_signed_ ? load<int16_t>(i) : load<uint16_t>(i);
      case 4: return is_signed_ ? load<int32_t>(i) : load<uint32_t>(i);
      default: {
        const int64_t value = load<int64_t>(i);
        return is_signed_ || value >= 0 ? value : INT64_MAX;
      }
    }
  }

 private:
  template <class Integer>
  [[nodiscard]] int64_t load(int64_t i) const {
    Integer value;
    std::memcpy(&value, bytes_ + i * static_cast<int64_t>(sizeof(Integer)), sizeof(Integer));
    return static_cast<int64_t>(value);
  }

  const std::byte* bytes_;
  int size_;
  bool is_signed_;
};

// One dimension of a walk: how many positions it has and how far apart they are in each array.
template <size_t arrays>
struct Axis {
  int64_t size;
  std::array<int64_t, arrays> strides;
};

// The same walk with fewer axes: those of one position dropped, neighbours that follow on in every array merged.
template <size_t arrays>
[[nodiscard]] std::vector<Axis<arrays>> coalesce(const std::vector<Axis<arrays>>& axes) {
  std::vector<Axis<arrays>> merged;
  for (const Axis<arrays>& axis : axes) {
    if (axis.size == 1) continue;
    bool follows = !merged.empty();
    for (size_t a = 0; follows && a < arrays; ++a) follows = merged.back().strides[a] == axis.strides[a] * axis.size;
    if (follows) {
      merged.back() = {merged.back().size * axis.size, axis.strides};
    } else {
      merged.push_back(axis);
    }
  }
  return merged;
}

// A position in an index space, moved in row-major order, with its offset in each array.
template <size_t arrays>
class Walk {
 public:
  explicit Walk(std::vector<Axis<arrays>> axes) : axes_(std::move(axes)), index_(axes_.size(), 0) {}

  // The first position of another space.
  void restart(std::span<const Axis<arrays>> axes) {
    axes_.assign(axes.begin(), axes.end());
    index_.assign(axes.size(), 0);
    offsets_ = {};
  }

  [[nodiscard]] int64_t positions() const {
    int64_t count = 1;
    for (const Axis<arrays>& axis : axes_) count *= axis.size;
    return count;
  }
  [[nodiscard]] int64_t offset(size_t array) const { return offsets_[array]; }
  [[nodiscard]] int64_t index(size_t axis) const { return index_[axis]; }

  void seek(int64_t position) {
    offsets_ = {};
    for (size_t i = axes_.size(); i-- > 0;) {
      index_[i] = position % axes_[i].size;
      position /= axes_[i].size;
      for (size_t a = 0; a < arrays; ++a) offsets_[a] += index_[i] * axes_[i].strides[a];
    }
  }

  // One position on; after the last comes the first.
  void next() {
    for (size_t i = axes_.size(); i-- > 0;) {
      const Axis<arrays>& axis = axes_[i];
      if (++index_[i] < axis.size) {
        for (size_t a = 0; a < arrays; ++a) offsets_[a] += axis.strides[a];
        return;
      }
      index_[i] = 0;
      for (size_t a = 0; a < arrays; ++a) offsets_[a] -= axis.strides[a] * (axis.size - 1);
    }
  }

 private:
  std::vector<Axis<arrays>> axes_;
  std::vector<int64_t> index_;
  std::array<int64_t, arrays> offsets_{};
};

// Copies `count` elements of `bytes` bytes between strided places (strides in elements).
void copy_run(std::byte* to, int64_t to_stride, const std::byte* from, int64_t from_stride, int64_t count, int bytes);

}  // namespace sapper::eval
