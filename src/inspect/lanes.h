// How elements of HLO arrays stand in the lanes of vector registers: what bits a value is in a lane, and which elements
// a register of 8 by 128 lanes holds.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
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

// Equal, NaNs being alike and zeros of either sign; subnormals are as good as zeros. Integers by the bits of their
// type.
[[nodiscard]] bool same_value(hlo::ElementType type, uint32_t a, uint32_t b);

// The elements of one register, row by row: `stride` apart, from the first column on. Rows that share a sublane follow
// each other.
struct Tile {
  struct Row {
    int64_t base = 0;
    int columns = 0;
    bool operator==(const Row&) const = default;
  };
  int64_t stride = 1;
  int rows = 0;     // none behind them has elements
  int columns = 0;  // the most that a row has
  std::array<Row, size_t{4} * llo::kSublanes> row{};

  void set_row(int number, const Row& it) {
    row[static_cast<size_t>(number)] = it;
    if (it.columns > 0) rows = std::max(rows, number + 1);
    columns = std::max(columns, it.columns);
  }
  // The element in row `number` and column `column`; -1: none.
  [[nodiscard]] int64_t element(int number, int column) const {
    const Row& it = row[static_cast<size_t>(number)];
    return column < it.columns ? it.base + column * stride : -1;
  }
  bool operator==(const Tile&) const = default;
};

// The tiles of an array, in the order in which its layout has them: rows by columns of the two most minor dimensions,
// of a vector 128 elements a row.
class TileGrid {
 public:
  // `per_word`: rows that share a sublane: 1, or how many elements a word packs.
  TileGrid(const hlo::Shape& shape, int per_word);
  [[nodiscard]] int64_t count() const { return outer_ * row_tiles_ * column_tiles_; }
  [[nodiscard]] int per_word() const { return per_word_; }
  [[nodiscard]] Tile tile(int64_t index) const;
  // -1: `tile` is none of them.
  [[nodiscard]] int64_t index_of(const Tile& tile) const;

 private:
  struct Dimension {
    int64_t size = 1;
    int64_t stride = 0;
    // The coordinate of an element counted row-major.
    [[nodiscard]] int64_t coordinate(int64_t element) const { return element / stride % size; }
  };
  int per_word_;
  Dimension columns_, rows_;
  int64_t column_tiles_ = 1, row_tiles_ = 1, outer_ = 1;
  int64_t last_columns_ = 0;                 // of a vector: elements of its last row
  std::vector<Dimension> outer_dimensions_;  // the most minor first
};

// The element of `type` in a lane, as in lane_words: the whole word, or of a packed one the `part`-th piece from below.
[[nodiscard]] uint32_t element_word(hlo::ElementType type, uint32_t word, int per_word, int part);

// Calls visit(element, its word, lane of the register) for all elements that `value` holds.
template <class Visit>
void for_each_lane(const Tile& tile, hlo::ElementType type, int per_word, const llo::Vreg& value, Visit&& visit) {
  for (int row = 0; row < tile.rows; ++row) {
    const int sublane = row / per_word;
    for (int column = 0; column < tile.row[static_cast<size_t>(row)].columns; ++column) {
      const int lane = sublane * llo::kLanes + column;
      visit(tile.element(row, column), element_word(type, value.word[lane], per_word, row % per_word), lane);
    }
  }
}

}  // namespace sapper::inspect
