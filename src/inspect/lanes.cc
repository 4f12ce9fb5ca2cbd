#include "inspect/lanes.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/assert.h"

namespace sapper::inspect {

using hlo::ElementType;
using hlo::Literal;

bool fits_lane(ElementType type) {
  switch (hlo::element_class(type)) {
    case hlo::ElementClass::Pred: return true;
    case hlo::ElementClass::Float:
    case hlo::ElementClass::Signed:
    case hlo::ElementClass::Unsigned: return hlo::bit_width(type) <= 32;
    default: return false;
  }
}

std::vector<uint32_t> lane_words(const Literal& array) {
  const ElementType type = array.shape().element_type();
  std::vector<uint32_t> words(static_cast<size_t>(array.element_count()));
  if (type == ElementType::F32 || type == ElementType::S32 || type == ElementType::U32) {
    std::ranges::copy(array.data<uint32_t>(), words.begin());
  } else if (type == ElementType::BF16) {
    std::ranges::transform(array.data<uint16_t>(), words.begin(), [](uint16_t bits) { return uint32_t{bits} << 16; });
  } else if (hlo::is_float(type)) {
    for (size_t i = 0; i < words.size(); ++i)
      words[i] = std::bit_cast<uint32_t>(static_cast<float>(array.real_at(static_cast<int64_t>(i))));
  } else {
    for (size_t i = 0; i < words.size(); ++i)
      words[i] = static_cast<uint32_t>(array.integer_at(static_cast<int64_t>(i)));
  }
  return words;
}

double number_in_lane(ElementType type, uint32_t word) {
  switch (hlo::element_class(type)) {
    case hlo::ElementClass::Float: return std::bit_cast<float>(word);
    case hlo::ElementClass::Signed: return static_cast<int32_t>(word);
    default: return word;
  }
}

Literal array_of_lanes(const hlo::Shape& shape, const std::vector<uint32_t>& words) {
  const ElementType type = shape.element_type();
  Literal array(shape);
  bool exact = true;
  if (hlo::is_float(type)) {
    for (size_t i = 0; i < words.size() && exact; ++i) {
      const float value = std::bit_cast<float>(words[i]);
      array.set_real(static_cast<int64_t>(i), value);
      exact = std::isnan(value) || array.real_at(static_cast<int64_t>(i)) == value;
    }
  } else {
    for (size_t i = 0; i < words.size(); ++i)
      array.set_integer(static_cast<int64_t>(i), static_cast<int64_t>(number_in_lane(type, words[i])));
  }
  if (exact) return array;
  Literal wide(shape.without_layout().with_element_type(ElementType::F32));
  std::ranges::copy(words, wide.mutable_data<uint32_t>().begin());
  return wide;
}

bool same_value(ElementType type, uint32_t a, uint32_t b) {
  if (a == b) return true;
  if (!hlo::is_float(type)) return false;
  const float x = std::bit_cast<float>(a);
  const float y = std::bit_cast<float>(b);
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  const auto flushed = [](float value) { return std::fpclassify(value) == FP_SUBNORMAL ? 0.0F : value; };
  return flushed(x) == flushed(y);
}

TileGrid::TileGrid(const hlo::Shape& shape, int per_word) : per_word_(per_word) {
  const size_t rank = shape.rank();
  std::vector<int64_t> strides(rank, 1);
  for (size_t i = rank; i-- > 1;) strides[i - 1] = strides[i] * shape.dimension(i);
  const hlo::Layout plain = hlo::Layout::descending(rank);
  const std::vector<int64_t>& order = shape.layout() == nullptr ? plain.minor_to_major : shape.layout()->minor_to_major;
  if (rank <= 1) {
    columns_ = shape.element_count();
    runs_on_ = true;
    const int64_t in_tile = int64_t{llo::kVregWords} * per_word;
    column_tiles_ = (columns_ + in_tile - 1) / in_tile;
    row_stride_ = llo::kLanes;
    column_stride_ = 1;
    return;
  }
  const auto minor = static_cast<size_t>(order[0]);
  const auto second = static_cast<size_t>(order[1]);
  columns_ = shape.dimension(minor);
  rows_ = shape.dimension(second);
  column_stride_ = strides[minor];
  row_stride_ = strides[second];
  const int64_t rows_in_tile = int64_t{llo::kSublanes} * per_word;
  column_tiles_ = (columns_ + llo::kLanes - 1) / llo::kLanes;
  row_tiles_ = (rows_ + rows_in_tile - 1) / rows_in_tile;
  for (size_t i = 2; i < rank; ++i) {
    const auto dimension = static_cast<size_t>(order[i]);
    outer_dimensions_.emplace_back(shape.dimension(dimension), strides[dimension]);
    outer_ *= shape.dimension(dimension);
  }
}

Tile TileGrid::tile(int64_t index) const {
  SAPPER_ASSERT(index >= 0 && index < count());
  const int rows_in_tile = llo::kSublanes * per_word_;
  if (runs_on_) {
    const int64_t base = index * rows_in_tile * llo::kLanes;
    const int64_t left = std::min<int64_t>(columns_ - base, int64_t{rows_in_tile} * llo::kLanes);
    const auto rows = static_cast<int>((left + llo::kLanes - 1) / llo::kLanes);
    return {base, row_stride_, column_stride_, rows, llo::kLanes, left};
  }
  const int64_t column = index % column_tiles_ * llo::kLanes;
  const int64_t row = index / column_tiles_ % row_tiles_ * rows_in_tile;
  int64_t outer = index / column_tiles_ / row_tiles_;
  int64_t base = row * row_stride_ + column * column_stride_;
  for (const auto& [size, stride] : outer_dimensions_) {
    base += outer % size * stride;
    outer /= size;
  }
  return {base,
          row_stride_,
          column_stride_,
          static_cast<int>(std::min<int64_t>(rows_ - row, rows_in_tile)),
          static_cast<int>(std::min<int64_t>(columns_ - column, llo::kLanes)),
          INT64_MAX};
}

uint32_t element_word(ElementType type, uint32_t word, int per_word, int part) {
  if (type == ElementType::Pred) {
    const uint32_t bits =
        per_word == 1 ? word : word >> (part * 32 / per_word) & ((uint64_t{1} << (32 / per_word)) - 1);
    return bits != 0 ? 1 : 0;
  }
  if (per_word == 1) return word;
  const int width = 32 / per_word;
  const uint32_t top = word << (32 - width - part * width);
  if (type == ElementType::BF16) return top;
  return hlo::element_class(type) == hlo::ElementClass::Signed
             ? static_cast<uint32_t>(static_cast<int32_t>(top) >> (32 - width))
             : top >> (32 - width);
}

}  // namespace sapper::inspect
