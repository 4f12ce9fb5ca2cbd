#include "eval/dimensions.h"

#include <algorithm>

namespace sapper::eval {

std::vector<int64_t> other_dimensions(size_t rank, std::span<const int64_t> first, std::span<const int64_t> second) {
  std::vector<int64_t> free;
  for (int64_t d = 0; d < static_cast<int64_t>(rank); ++d)
    if (std::ranges::find(first, d) == first.end() && std::ranges::find(second, d) == second.end()) free.push_back(d);
  return free;
}

std::vector<int64_t> offsets_over(std::span<const int64_t> sizes, std::span<const int64_t> strides,
                                  std::span<const int64_t> chosen) {
  std::vector<int64_t> chosen_sizes;
  std::vector<int64_t> chosen_strides;
  for (const int64_t d : chosen) {
    chosen_sizes.push_back(sizes[static_cast<size_t>(d)]);
    chosen_strides.push_back(strides[static_cast<size_t>(d)]);
  }
  return offsets(chosen_sizes, chosen_strides);
}

std::vector<int64_t> progression(int64_t count, int64_t step, int64_t start) {
  std::vector<int64_t> result(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) result[static_cast<size_t>(i)] = start + i * step;
  return result;
}

std::vector<int64_t> combine(std::span<const int64_t> outer, std::span<const int64_t> inner) {
  std::vector<int64_t> result;
  result.reserve(outer.size() * inner.size());
  for (const int64_t base : outer)
    for (const int64_t offset : inner) result.push_back(base + offset);
  return result;
}

std::vector<int64_t> offsets(std::span<const int64_t> sizes, std::span<const int64_t> strides) {
  std::vector<int64_t> result = {0};
  for (size_t d = 0; d < sizes.size(); ++d) result = combine(result, progression(sizes[d], strides[d]));
  return result;
}

std::vector<int64_t> row_major_strides(std::span<const int64_t> dimensions) {
  std::vector<int64_t> strides(dimensions.size(), 0);
  if (hlo::element_count(dimensions) == 0) return strides;
  int64_t stride = 1;
  for (size_t i = dimensions.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= dimensions[i];
  }
  return strides;
}

}  // namespace sapper::eval
