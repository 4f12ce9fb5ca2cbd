#include "eval/strided_copy.h"

#include <algorithm>
#include <complex>
#include <cstring>

#include "base/assert.h"
#include "base/parallel.h"

namespace sapper::eval {
namespace {

using Bytes16 = std::complex<double>;  // any 16 bytes

// Calls visit(T{}) with a type of `bytes` bytes.
template <class Visit>
void with_element(int bytes, Visit&& visit) {
  switch (bytes) {
    case 1: return visit(uint8_t{});
    case 2: return visit(uint16_t{});
    case 4: return visit(uint32_t{});
    case 8: return visit(uint64_t{});
    case 16: return visit(Bytes16{});
    default: SAPPER_ASSERT(false);
  }
}

std::vector<CopyDim> collapse(const std::vector<CopyDim>& dims) {
  std::vector<CopyDim> result;
  for (const CopyDim& dim : dims) {
    if (dim.size == 1) continue;
    if (!result.empty() && result.back().from == dim.from * dim.size && result.back().to == dim.to * dim.size) {
      result.back() = {result.back().size * dim.size, dim.from, dim.to};
    } else {
      result.push_back(dim);
    }
  }
  return result;
}

template <class T>
void copy_row(int64_t n, const T* from, int64_t from_stride, T* to, int64_t to_stride) {
  if (from_stride == 1 && to_stride == 1) {
    if (n * static_cast<int64_t>(sizeof(T)) >= 64) {
      std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
    } else {
      for (int64_t i = 0; i < n; ++i) to[i] = from[i];
    }
  } else if (from_stride == 0 && to_stride == 1) {
    std::fill_n(to, n, *from);
  } else {
    for (int64_t i = 0; i < n; ++i) to[i * to_stride] = from[i * from_stride];
  }
}

// Where reading is contiguous along `row` and writing along `column`: in tiles, so that a cache line is used while it
// is there.
template <class T>
void copy_tiles(const CopyDim& row, const CopyDim& column, const T* from, T* to) {
  constexpr int64_t tile = 32;
  for (int64_t r = 0; r < row.size; r += tile) {
    for (int64_t c = 0; c < column.size; c += tile) {
      const int64_t rows = std::min(tile, row.size - r);
      const int64_t columns = std::min(tile, column.size - c);
      const T* const source = from + r * row.from + c * column.from;
      T* const target = to + r * row.to + c * column.to;
      for (int64_t i = 0; i < rows; ++i)
        for (int64_t j = 0; j < columns; ++j) target[i * row.to + j] = source[i + j * column.from];
    }
  }
}

// The position of the dimension to tile with the innermost one, or -1.
int tiling_partner(const std::vector<CopyDim>& dims) {
  if (dims.size() < 2 || dims.back().to != 1 || dims.back().from == 1 || dims.back().from == 0) return -1;
  for (size_t i = dims.size() - 1; i-- > 0;)
    if (dims[i].from == 1 && dims[i].size >= 4) return static_cast<int>(i);
  return -1;
}

struct Offsets {
  int64_t from = 0;
  int64_t to = 0;
};

// Where the index with row-major position `position` in `dims` lies.
Offsets offsets_at(const std::vector<CopyDim>& dims, int64_t position) {
  Offsets offsets;
  for (size_t i = dims.size(); i-- > 0;) {
    const int64_t index = position % dims[i].size;
    position /= dims[i].size;
    offsets.from += index * dims[i].from;
    offsets.to += index * dims[i].to;
  }
  return offsets;
}

// Calls body(offsets) for outer indices [begin, end) of `outer`.
template <class Body>
void for_outer(const std::vector<CopyDim>& outer, int64_t begin, int64_t end, Body&& body) {
  Offsets offsets = offsets_at(outer, begin);
  std::vector<int64_t> index(outer.size());
  int64_t position = begin;
  for (size_t i = outer.size(); i-- > 0;) {
    index[i] = position % outer[i].size;
    position /= outer[i].size;
  }
  for (int64_t n = begin; n < end; ++n) {
    body(offsets);
    for (size_t i = outer.size(); i-- > 0;) {
      offsets.from += outer[i].from;
      offsets.to += outer[i].to;
      if (++index[i] < outer[i].size) break;
      offsets.from -= outer[i].size * outer[i].from;
      offsets.to -= outer[i].size * outer[i].to;
      index[i] = 0;
    }
  }
}

// Runs body(begin, end) over [0, count) in parallel when the whole moves many bytes.
template <class Body>
void parallel_outer(int64_t count, int64_t bytes_each, Body&& body) {
  constexpr int64_t worthwhile = 1 << 18;
  if (count * bytes_each < worthwhile || count == 1) return body(0, count);
  const int64_t grain = std::max<int64_t>(1, (1 << 16) / std::max<int64_t>(bytes_each, 1));
  parallel_for(count, grain, body);
}

template <class T>
void copy_rows(const std::vector<CopyDim>& dims, const T* from, T* to) {
  std::vector<CopyDim> outer(dims.begin(), dims.end() - 1);
  CopyDim inner = dims.back();
  // One long row: split, so that it can be shared out.
  constexpr int64_t longest_row = 1 << 16;
  if (outer.empty() && inner.size > 2 * longest_row) {
    const int64_t rows = inner.size / longest_row;
    const int64_t done = rows * longest_row;
    copy_row(inner.size - done, from + done * inner.from, inner.from, to + done * inner.to, inner.to);
    outer.push_back({rows, longest_row * inner.from, longest_row * inner.to});
    inner.size = longest_row;
  }
  int64_t count = 1;
  for (const CopyDim& dim : outer) count *= dim.size;
  parallel_outer(count, inner.size * static_cast<int64_t>(sizeof(T)), [&](int64_t begin, int64_t end) {
    for_outer(outer, begin, end,
              [&](Offsets at) { copy_row(inner.size, from + at.from, inner.from, to + at.to, inner.to); });
  });
}

template <class T>
void copy_tiled(const std::vector<CopyDim>& dims, size_t partner, const T* from, T* to) {
  constexpr int64_t strip = 64;
  const CopyDim row = dims[partner];
  const CopyDim column = dims.back();
  std::vector<CopyDim> outer;
  for (size_t i = 0; i + 1 < dims.size(); ++i)
    if (i != partner) outer.push_back(dims[i]);
  const int64_t strips = (row.size + strip - 1) / strip;
  int64_t count = strips;
  for (const CopyDim& dim : outer) count *= dim.size;
  const int64_t bytes_each = std::min(strip, row.size) * column.size * static_cast<int64_t>(sizeof(T));
  parallel_outer(count, bytes_each, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      const Offsets at = offsets_at(outer, n / strips);
      const int64_t first = n % strips * strip;
      const CopyDim part{std::min(strip, row.size - first), row.from, row.to};
      copy_tiles(part, column, from + at.from + first * row.from, to + at.to + first * row.to);
    }
  });
}

template <class T>
void copy_typed(const std::vector<CopyDim>& dims, const T* from, T* to) {
  const int partner = tiling_partner(dims);
  if (partner >= 0) {
    copy_tiled(dims, static_cast<size_t>(partner), from, to);
  } else {
    copy_rows(dims, from, to);
  }
}

}  // namespace

void strided_copy(std::vector<CopyDim> dims, const std::byte* from, std::byte* to, int element_bytes) {
  if (std::any_of(dims.begin(), dims.end(), [](const CopyDim& dim) { return dim.size == 0; })) return;
  dims = collapse(dims);
  if (dims.empty()) dims.push_back({1, 1, 1});
  with_element(element_bytes, [&](auto element) {
    using T = decltype(element);
    copy_typed(dims, reinterpret_cast<const T*>(from), reinterpret_cast<T*>(to));
  });
}

namespace {

// Calls row(offset, stride, n) for the pieces of rows that make up elements [begin, begin + n) of `view`.
template <class Row>
void for_rows(const View& view, int64_t begin, int64_t n, Row&& row) {
  if (view.dims.empty()) return row(view.offset, 0, n);
  const View::Dim inner = view.dims.back();
  const size_t outer = view.dims.size() - 1;
  SAPPER_ASSERT(outer < View::most_dims);
  int64_t column = begin % inner.size;
  int64_t position = begin / inner.size;
  int64_t offset = view.offset;
  int64_t index[View::most_dims];
  for (size_t i = outer; i-- > 0;) {
    index[i] = position % view.dims[i].size;
    position /= view.dims[i].size;
    offset += index[i] * view.dims[i].stride;
  }
  while (n > 0) {
    const int64_t run = std::min(n, inner.size - column);
    row(offset + column * inner.stride, inner.stride, run);
    n -= run;
    column = 0;
    for (size_t i = outer; i-- > 0;) {
      offset += view.dims[i].stride;
      if (++index[i] < view.dims[i].size) break;
      offset -= view.dims[i].size * view.dims[i].stride;
      index[i] = 0;
    }
  }
}

}  // namespace

void read_view(const View& view, const std::byte* array, int64_t begin, int64_t n, std::byte* to, int element_bytes) {
  with_element(element_bytes, [&](auto element) {
    using T = decltype(element);
    const T* const from = reinterpret_cast<const T*>(array);
    T* target = reinterpret_cast<T*>(to);
    for_rows(view, begin, n, [&](int64_t offset, int64_t stride, int64_t run) {
      copy_row(run, from + offset, stride, target, 1);
      target += run;
    });
  });
}

void count_view(const View& view, int64_t begin, int64_t n, int64_t* to) {
  for_rows(view, begin, n, [&](int64_t offset, int64_t stride, int64_t run) {
    for (int64_t i = 0; i < run; ++i) to[i] = offset + i * stride;
    to += run;
  });
}

void materialize(const View& view, const std::byte* array, std::byte* to, int element_bytes) {
  std::vector<CopyDim> dims;
  dims.reserve(view.dims.size());
  uint64_t stride = 1;  // wraps harmlessly when a dimension is 0
  for (const View::Dim& dim : view.dims) dims.push_back({dim.size, dim.stride, 0});
  for (size_t i = dims.size(); i-- > 0;) {
    dims[i].to = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(dims[i].size);
  }
  strided_copy(std::move(dims), array + view.offset * element_bytes, to, element_bytes);
}

}  // namespace sapper::eval
