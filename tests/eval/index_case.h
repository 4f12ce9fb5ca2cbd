// Random dimension numbers for gather and scatter, which are one another's mirror, and their meaning element by
// element.
#pragma once

#include <rapidcheck.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "tests/eval/op_harness.h"

namespace sapper::eval {

struct IndexCase {
  Dims operand;
  Dims indices;
  Dims batched;  // the gather's result, the scatter's updates
  Dims window_sizes;
  Dims window_dimensions;  // of batched
  Dims dropped;
  Dims component_dimensions;
  int64_t index_vector_dimension = 0;
  Dims batching_operand;
  Dims batching_indices;

  [[nodiscard]] bool has(const Dims& list, size_t d) const {
    return std::find(list.begin(), list.end(), static_cast<int64_t>(d)) != list.end();
  }

  // The index vectors' components that belong to an element of `batched`.
  template <class Read>
  [[nodiscard]] Dims start_of(const Dims& batched_index, Read&& read) const {
    Dims batch;  // indices of the index array without the vector dimension
    for (size_t d = 0; d < batched.size(); ++d) {
      if (!has(window_dimensions, d)) batch.push_back(batched_index[d]);
    }
    Dims start(operand.size(), 0);
    for (size_t c = 0; c < component_dimensions.size(); ++c) {
      Dims at = batch;
      if (index_vector_dimension < static_cast<int64_t>(indices.size())) {
        at.insert(at.begin() + index_vector_dimension, static_cast<int64_t>(c));
      }
      start[static_cast<size_t>(component_dimensions[c])] = read(flat(at, indices));
    }
    return start;
  }

  // Where in the operand an element of `batched` is, counted from the start.
  [[nodiscard]] Dims offset_of(const Dims& batched_index) const {
    Dims batch;
    for (size_t d = 0; d < batched.size(); ++d) {
      if (!has(window_dimensions, d)) batch.push_back(batched_index[d]);
    }
    Dims offset(operand.size(), 0);
    size_t next = 0;
    for (size_t d = 0; d < operand.size(); ++d) {
      if (has(dropped, d) || has(batching_operand, d)) continue;
      offset[d] = batched_index[static_cast<size_t>(window_dimensions[next++])];
    }
    for (size_t b = 0; b < batching_operand.size(); ++b) {
      const int64_t dimension = batching_indices[b] - (batching_indices[b] > index_vector_dimension ? 1 : 0);
      offset[static_cast<size_t>(batching_operand[b])] = batch[static_cast<size_t>(dimension)];
    }
    return offset;
  }
};

inline int64_t draw(int64_t low, int64_t high) { return *rc::gen::inRange<int64_t>(low, high + 1); }

inline Dims shuffled_subset(Dims values, bool at_least_one) {
  for (size_t i = values.size(); i > 1; --i)
    std::swap(values[i - 1], values[static_cast<size_t>(draw(0, static_cast<int64_t>(i) - 1))]);
  if (!values.empty())
    values.resize(static_cast<size_t>(draw(at_least_one ? 1 : 0, static_cast<int64_t>(values.size()))));
  return values;
}

inline IndexCase draw_index_case() {
  IndexCase c;
  const int64_t rank = draw(1, 4);
  const int64_t batch_rank = draw(0, 3);
  Dims batch;
  for (int64_t b = 0; b < batch_rank; ++b) batch.push_back(draw(0, 8) == 0 ? 0 : draw(1, 4));
  Dims batch_left(batch.size());
  std::iota(batch_left.begin(), batch_left.end(), 0);

  Dims batching_of;  // batch dimension of each batching operand dimension
  Dims indexable;
  int64_t windows = 0;
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t role = draw(0, 3);
    if (role == 0 && !batch_left.empty()) {
      const auto chosen = batch_left.begin() + draw(0, static_cast<int64_t>(batch_left.size()) - 1);
      c.batching_operand.push_back(d);
      batching_of.push_back(*chosen);
      c.operand.push_back(batch[static_cast<size_t>(*chosen)]);
      batch_left.erase(chosen);
      c.window_sizes.push_back(std::min<int64_t>(1, c.operand.back()));
      continue;
    }
    indexable.push_back(d);
    c.operand.push_back(draw(1, 5));
    if (role == 1) {
      c.dropped.push_back(d);
      c.window_sizes.push_back(1);
    } else {
      c.window_sizes.push_back(draw(1, c.operand.back()));
      ++windows;
    }
  }
  c.component_dimensions = shuffled_subset(indexable, false);

  const auto components = static_cast<int64_t>(c.component_dimensions.size());
  c.indices = batch;
  c.index_vector_dimension = batch_rank;
  if (components != 1 || draw(0, 1) == 0) {
    c.index_vector_dimension = draw(0, batch_rank);
    c.indices.insert(c.indices.begin() + c.index_vector_dimension, components);
  }
  for (const int64_t b : batching_of) {
    const bool after = c.index_vector_dimension <= b && c.indices.size() > batch.size();
    c.batching_indices.push_back(after ? b + 1 : b);
  }

  Dims places(static_cast<size_t>(batch_rank + windows));
  std::iota(places.begin(), places.end(), 0);
  for (size_t i = places.size(); i > 1; --i)
    std::swap(places[i - 1], places[static_cast<size_t>(draw(0, static_cast<int64_t>(i) - 1))]);
  c.window_dimensions.assign(places.begin(), places.begin() + windows);
  std::sort(c.window_dimensions.begin(), c.window_dimensions.end());
  c.batched.resize(places.size());
  size_t next_batch = 0;
  size_t next_window = 0;
  Dims kept_sizes;
  for (size_t d = 0; d < c.operand.size(); ++d) {
    if (!c.has(c.dropped, d) && !c.has(c.batching_operand, d)) kept_sizes.push_back(c.window_sizes[d]);
  }
  for (size_t d = 0; d < c.batched.size(); ++d) {
    c.batched[d] = c.has(c.window_dimensions, d) ? kept_sizes[next_window++] : batch[next_batch++];
  }
  return c;
}

inline ElementType draw_index_type() {
  return *rc::gen::element(ElementType::S8, ElementType::U8, ElementType::S16, ElementType::U16, ElementType::S32,
                           ElementType::U32, ElementType::S64, ElementType::U64);
}

// Mostly near the operand's range, some far outside, whatever the type can say.
inline Literal draw_indices(const IndexCase& c, ElementType type) {
  Literal indices(Shape::array(type, c.indices));
  for (int64_t i = 0; i < indices.element_count(); ++i) {
    const int64_t far = *rc::gen::element<int64_t>(INT64_MIN, INT64_MAX, -128, 127, 200, 255, 40000, -1);
    indices.set_integer(i, draw(0, 5) == 0 ? far : draw(-1, 4));
  }
  return indices;
}

// Element i as the index it is: unsigned types by their full value, as far as int64_t goes.
inline int64_t index_value(const Literal& indices, int64_t i) {
  const int64_t value = indices.integer_at(i);
  return indices.shape().element_type() == ElementType::U64 && value < 0 ? INT64_MAX : value;
}

inline void set_field(google::protobuf::RepeatedField<int64_t>* field, const Dims& values) {
  field->Assign(values.begin(), values.end());
}

}  // namespace sapper::eval
