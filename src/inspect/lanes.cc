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
  if (hlo::is_integer(type)) {  // bits above it wait to be cut off
    const int above = 32 - hlo::bit_width(type);
    return a << above == b << above;
  }
  if (!hlo::is_float(type)) return false;
  const float x = std::bit_cast<float>(a);
  const float y = std::bit_cast<float>(b);
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  const auto flushed = [](float value) { return std::fpclassify(value) == FP_SUBNORMAL ? 0.0F : value; };
  return flushed(x) == flushed(y);
}

// A vector is a matrix of rows of 128 elements.
TileGrid::TileGrid(const hlo::Shape& shape, int per_word) : per_word_(per_word) {
  const size_t rank = shape.rank();
  std::vector<int64_t> strides(rank, 1);
  for (size_t i = rank; i-- > 1;) strides[i - 1] = strides[i] * shape.dimension(i);
  const hlo::Layout plain = hlo::Layout::descending(rank);
  const std::vector<int64_t>& order = shape.layout() == nullptr ? plain.minor_to_major : shape.layout()->minor_to_major;
  const int64_t rows_in_tile = int64_t{llo::kSublanes} * per_word;
  const auto dimension = [&](size_t i) {
    return Dimension{shape.dimension(static_cast<size_t>(order[i])), strides[static_cast<size_t>(order[i])]};
  };
  if (rank <= 1) {
    const int64_t elements = shape.element_count();
    columns_ = {llo::kLanes, 1};
    rows_ = {(elements + llo::kLanes - 1) / llo::kLanes, llo::kLanes};
    last_columns_ = elements - (rows_.size - 1) * llo::kLanes;
  } else {
    columns_ = dimension(0);
    rows_ = dimension(1);
    for (size_t i = 2; i < rank; ++i) outer_dimensions_.push_back(dimension(i));
  }
  column_tiles_ = (columns_.size + llo::kLanes - 1) / llo::kLanes;
  row_tiles_ = (rows_.size + rows_in_tile - 1) / rows_in_tile;
  for (const Dimension& outer : outer_dimensions_) outer_ *= outer.size;
}

Tile TileGrid::tile(int64_t index) const {
  SAPPER_ASSERT(index >= 0 && index < count());
  const int rows_in_tile = llo::kSublanes * per_word_;
  const int64_t column = index % column_tiles_ * llo::kLanes;
  const int64_t first_row = index / column_tiles_ % row_tiles_ * rows_in_tile;
  int64_t outer = index / column_tiles_ / row_tiles_;
  int64_t base = first_row * rows_.stride + column * columns_.stride;
  for (const auto& [size, stride] : outer_dimensions_) {
    base += outer % size * stride;
    outer /= size;
  }
  Tile tile{.stride = columns_.stride};
  tile.rows = static_cast<int>(std::min<int64_t>(rows_.size - first_row, rows_in_tile));
  tile.columns = static_cast<int>(std::min<int64_t>(columns_.size - column, llo::kLanes));
  for (int row = 0; row < tile.rows; ++row)
    tile.row[static_cast<size_t>(row)] = {base + row * rows_.stride, tile.columns};
  if (last_columns_ != 0 && first_row + tile.rows == rows_.size)
    tile.row[static_cast<size_t>(tile.rows) - 1].columns = static_cast<int>(last_columns_);
  if (tile.rows == 1) tile.columns = tile.row[0].columns;
  if (tile.columns == 1) tile.stride = 1;
  return tile;
}

int64_t TileGrid::index_of(const Tile& tile) const {
  if (tile.rows == 0 || count() == 0) return -1;
  const int64_t first = tile.row[0].base;
  int64_t index = 0;
  for (size_t i = outer_dimensions_.size(); i-- > 0;)
    index = index * outer_dimensions_[i].size + outer_dimensions_[i].coordinate(first);
  index = index * row_tiles_ + rows_.coordinate(first) / (int64_t{llo::kSublanes} * per_word_);
  index = index * column_tiles_ + columns_.coordinate(first) / llo::kLanes;
  return this->tile(index) == tile ? index : -1;
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
