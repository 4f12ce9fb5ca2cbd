// Copying elements between two strided regions of memory: what transpose, slice, pad, concatenate, dynamic slices and
// materialized views come down to. Blocked where both sides would jump, parallel when large.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "eval/view.h"

namespace sapper::eval {

struct CopyDim {
  int64_t size = 0;
  int64_t from = 0;  // strides in elements
  int64_t to = 0;
};

// For all indices: to[sum of index * to] = from[sum of index * from]; `dims` from the outermost in.
void strided_copy(std::vector<CopyDim> dims, const std::byte* from, std::byte* to, int element_bytes);

// Elements [begin, begin + n) of `view`, which is collapsed, in order.
void read_view(const View& view, const std::byte* array, int64_t begin, int64_t n, std::byte* to, int element_bytes);

// The offsets of elements [begin, begin + n) of `view`, which is collapsed: what read_view would read from an array of
// counters.
void count_view(const View& view, int64_t begin, int64_t n, int64_t* to);

// All elements of `view`.
void materialize(const View& view, const std::byte* array, std::byte* to, int element_bytes);

}  // namespace sapper::eval
