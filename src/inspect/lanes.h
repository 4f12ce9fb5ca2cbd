// How elements of HLO arrays stand in the lanes of vector registers: what bits a value is in a lane, and which elements
// a register of 8 by 128 lanes holds.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hlo/literal.h"
#include "hlo/shape.h"
#include "llo/vreg.h"

namespace sapper::inspect {

// Types whose values are computed on in lanes of 32 bits: floats as f32, integers and preds as 32-bit integers.
[[nodiscard]] bool fits_lane(hlo::ElementType type);

// The elements as they are in lanes, in order. `array` is of a type that fits.
[[nodiscard]] std::vector<uint32_t> lane_words(const hlo::Literal& array);
// A value in a lane as a number.
[[nodiscard]] double number_in_lane(hlo::ElementType type, uint32_t word);
// The array that `words` are: of `shape`'s type where each value is one of it, else (floats) of f32.
[[nodiscard]] hlo::Literal array_of_lanes(const hlo::Shape& shape, const std::vector<uint32_t>& words);

// Equal, NaNs being alike and zeros of either sign; subnormals are as good as zeros.
[[nodiscard]] bool same_value(hlo::ElementType type, uint32_t a, uint32_t b);

// The elements of one register: rows by columns of the two most minor dimensions, of a vector 128 elements a row.
struct Tile {
  int64_t base = 0;  // element in the first sublane and lane
  int64_t row_stride = 0;
  int64_t column_stride = 0;
  int rows = 0;  // that the array has here
  int columns = 0;
  int64_t left = 0;  // elements from `base` on, where rows run on into each other

  // The element in row `row` and column `column`; -1: none.
  [[nodiscard]] int64_t element(int row, int column) const {
    if (row >= rows || column >= columns || row * row_stride + column * column_stride >= left) return -1;
    return base + row * row_stride + column * column_stride;
  }
};

// The tiles of an array, in the order in which its layout has them.
class TileGrid {
 public:
  // `per_word`: rows that share a sublane: 1, or how many elements a word packs.
  TileGrid(const hlo::Shape& shape, int per_word);
  [[nodiscard]] int64_t count() const { return outer_ * row_tiles_ * column_tiles_; }
  [[nodiscard]] int per_word() const { return per_word_; }
  [[nodiscard]] Tile tile(int64_t index) const;

 private:
  int per_word_;
  int64_t outer_ = 1, rows_ = 1, columns_ = 1;
  int64_t row_tiles_ = 1, column_tiles_ = 1;
  int64_t row_stride_ = 0, column_stride_ = 0;
  std::vector<std::pair<int64_t, int64_t>> outer_dimensions_;  // size, stride; the most minor first
  bool runs_on_ = false;                                       // a vector
};

// The element of `type` in a lane, as in lane_words: the whole word, or of a packed one the `part`-th piece from below.
[[nodiscard]] uint32_t element_word(hlo::ElementType type, uint32_t word, int per_word, int part);

// Calls visit(element, its word, lane of the register) for all elements that `value` holds.
template <class Visit>
void for_each_lane(const Tile& tile, hlo::ElementType type, int per_word, const llo::Vreg& value, Visit&& visit) {
  for (int row = 0; row < tile.rows; ++row) {
    const int sublane = row / per_word;
    for (int column = 0; column < tile.columns; ++column) {
      const int64_t element = tile.element(row, column);
      if (element < 0) return;
      const int lane = sublane * llo::kLanes + column;
      visit(element, element_word(type, value.word[lane], per_word, row % per_word), lane);
    }
  }
}

}  // namespace sapper::inspect
