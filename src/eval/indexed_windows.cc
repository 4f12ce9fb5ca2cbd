#include "eval/indexed_windows.h"

#include <algorithm>

#include "eval/dynamic_shape.h"

namespace sapper::eval {
namespace {

using Dimensions = std::span<const int64_t>;

Dimensions span_of(const google::protobuf::RepeatedField<int64_t>& field) {
  return {field.data(), static_cast<size_t>(field.size())};
}

bool contains(Dimensions dimensions, int64_t d) {
  return std::find(dimensions.begin(), dimensions.end(), d) != dimensions.end();
}

// The dimension numbers of gather and scatter under one set of names.
struct Numbers {
  Dimensions window_dimensions;           // of the batched array
  Dimensions dropped_operand_dimensions;  // of size 1 in the window, absent from the batched array
  Dimensions component_dimensions;        // operand dimension of each index component
  int64_t index_vector_dimension;
  Dimensions batching_operand_dimensions;
  Dimensions batching_index_dimensions;
};

IndexedWindows make(const Numbers& numbers, Dimensions window_sizes, const hlo::Shape& operand,
                    const hlo::Literal& indices, const hlo::Shape& batched) {
  const std::vector<int64_t> operand_strides = row_major_strides(operand.dimensions());
  const std::vector<int64_t> indices_strides = row_major_strides(indices.shape().dimensions());
  const std::vector<int64_t> batched_strides = row_major_strides(batched.dimensions());

  IndexedWindows windows;
  size_t next_window_dimension = 0;
  for (size_t d = 0; d < operand.rank(); ++d) {
    const auto dimension = static_cast<int64_t>(d);
    if (contains(numbers.dropped_operand_dimensions, dimension)) continue;
    if (contains(numbers.batching_operand_dimensions, dimension)) continue;
    const auto batched_dimension = static_cast<size_t>(numbers.window_dimensions[next_window_dimension++]);
    windows.window.push_back({window_sizes[d], {operand_strides[d], batched_strides[batched_dimension]}});
  }
  windows.window = coalesce(windows.window);

  size_t batched_dimension = 0;
  for (size_t d = 0; d < indices.shape().rank(); ++d) {
    const auto dimension = static_cast<int64_t>(d);
    if (dimension == numbers.index_vector_dimension) continue;
    while (contains(numbers.window_dimensions, static_cast<int64_t>(batched_dimension))) ++batched_dimension;
    int64_t operand_stride = 0;
    for (size_t b = 0; b < numbers.batching_index_dimensions.size(); ++b) {
      if (numbers.batching_index_dimensions[b] != dimension) continue;
      operand_stride = operand_strides[static_cast<size_t>(numbers.batching_operand_dimensions[b])];
    }
    windows.batch.push_back(
        {actual_size(indices, d), {operand_stride, batched_strides[batched_dimension++], indices_strides[d]}});
  }
  windows.batch = coalesce(windows.batch);

  const auto vector_dimension = static_cast<size_t>(numbers.index_vector_dimension);
  const int64_t vector_stride = vector_dimension < indices.shape().rank() ? indices_strides[vector_dimension] : 0;
  for (size_t c = 0; c < numbers.component_dimensions.size(); ++c) {
    const auto d = static_cast<size_t>(numbers.component_dimensions[c]);
    windows.components.push_back(
        {static_cast<int64_t>(c) * vector_stride, operand_strides[d], operand.dimension(d) - window_sizes[d]});
  }
  return windows;
}

}  // namespace

int64_t IndexedWindows::clamped_start(const IndexReader& indices, int64_t indices_offset) const {
  int64_t start = 0;
  for (const Component& component : components) {
    const int64_t index = indices[indices_offset + component.position];
    start += std::max<int64_t>(0, std::min(index, component.last)) * component.stride;
  }
  return start;
}

std::optional<int64_t> IndexedWindows::start_inside(const IndexReader& indices, int64_t indices_offset) const {
  int64_t start = 0;
  for (const Component& component : components) {
    const int64_t index = indices[indices_offset + component.position];
    if (index < 0 || index > component.last) return std::nullopt;
    start += index * component.stride;
  }
  return start;
}

IndexedWindows gather_windows(const proto::HloInstructionProto& attributes, const hlo::Shape& operand,
                              const hlo::Literal& indices, const hlo::Shape& result) {
  const proto::GatherDimensionNumbers& numbers = attributes.gather_dimension_numbers();
  return make({span_of(numbers.offset_dims()), span_of(numbers.collapsed_slice_dims()),
               span_of(numbers.start_index_map()), numbers.index_vector_dim(), span_of(numbers.operand_batching_dims()),
               span_of(numbers.start_indices_batching_dims())},
              span_of(attributes.gather_slice_sizes()), operand, indices, result);
}

IndexedWindows scatter_windows(const proto::HloInstructionProto& attributes, const hlo::Shape& operand,
                               const hlo::Literal& indices, const hlo::Shape& updates) {
  const proto::ScatterDimensionNumbers& numbers = attributes.scatter_dimension_numbers();
  const Dimensions update_window_dimensions = span_of(numbers.update_window_dims());
  const Dimensions inserted = span_of(numbers.inserted_window_dims());
  const Dimensions batching = span_of(numbers.input_batching_dims());
  // The window's size along each operand dimension is stated by the updates' shape only.
  std::vector<int64_t> window_sizes;
  size_t next_window_dimension = 0;
  for (size_t d = 0; d < operand.rank(); ++d) {
    const auto dimension = static_cast<int64_t>(d);
    const bool single = contains(inserted, dimension) || contains(batching, dimension);
    window_sizes.push_back(
        single ? 1 : updates.dimension(static_cast<size_t>(update_window_dimensions[next_window_dimension++])));
  }
  return make({update_window_dimensions, inserted, span_of(numbers.scatter_dims_to_operand_dims()),
               numbers.index_vector_dim(), batching, span_of(numbers.scatter_indices_batching_dims())},
              window_sizes, operand, indices, updates);
}

}  // namespace sapper::eval
