// Lists of dimensions, and where the elements lie that some of them enumerate.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hlo/literal.h"
#include "hlo/module.h"

namespace sapper::eval {

[[nodiscard]] inline std::span<const int64_t> view(const google::protobuf::RepeatedField<int64_t>& dimensions) {
  return {dimensions.data(), static_cast<size_t>(dimensions.size())};
}

// Elements from one position to the next along each dimension, row-major; zeros for an empty array.
[[nodiscard]] std::vector<int64_t> row_major_strides(std::span<const int64_t> dimensions);

// The dimensions of an array of `rank` that are in neither list, ascending.
[[nodiscard]] std::vector<int64_t> other_dimensions(size_t rank, std::span<const int64_t> first,
                                                    std::span<const int64_t> second);

// start, start + step, ...: the offsets along one dimension.
[[nodiscard]] std::vector<int64_t> progression(int64_t count, int64_t step, int64_t start = 0);

// outer[i] + inner[j] for all i and j, j changing fastest.
[[nodiscard]] std::vector<int64_t> combine(std::span<const int64_t> outer, std::span<const int64_t> inner);

// The offsets of all index combinations of dimensions with these sizes and strides, the last one changing fastest.
[[nodiscard]] std::vector<int64_t> offsets(std::span<const int64_t> sizes, std::span<const int64_t> strides);

// The same over `chosen` dimensions of an array with these sizes and strides.
[[nodiscard]] std::vector<int64_t> offsets_over(std::span<const int64_t> sizes, std::span<const int64_t> strides,
                                                std::span<const int64_t> chosen);

}  // namespace sapper::eval
