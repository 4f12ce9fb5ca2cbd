// The gains of a matrix unit: weights that rows of a left operand are multiplied by. 256 by 256 of them, in quarters
// of 128 by 128; units of 128 by 128 have the first quarter only.
//
// Weights that were never given take no part in a product, nor does an element of the left operand that its mask leaves
// out: no infinity and no undefined bit gets through there. Anywhere else a product with an undefined factor makes the
// sum undefined, even where the other factor is zero.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "llo/matrix_format.h"
#include "llo/matrix_product.h"
#include "llo/vreg.h"

namespace sapper::llo {

// A register on its way into the unit.
struct MatrixOperand {
  Vreg value;
  std::optional<Vreg> undefined;  // bits; nullopt: none
  std::optional<Vreg> mask;       // all ones: the element counts; nullopt: all do

  [[nodiscard]] static MatrixOperand unknown();  // undefined altogether
};

// A register of results: 8 rows of 128 columns.
struct MatrixResult {
  Vreg value;
  std::optional<Vreg> undefined;  // bits; nullopt: none
};

class MatrixGains {
 public:
  static constexpr size_t halves_of_unit = 2;

  void clear();
  // The rows of `rows` become rows `first` and on of the weights, in the columns of half `half`; `transposed`: columns
  // `first` and on, in the rows of half `half`. `reversed`: the last row of `rows` comes first. Masked elements are 0.
  void put(const MatrixOperand& rows, MatrixFormat format, int first, int half, bool transposed, bool reversed);
  [[nodiscard]] bool empty() const { return empty_; }

  // `left` has lanes 1 to 128 of the left operand and, unless the unit is narrow, lanes 129 to 256: as many halves of
  // columns are computed. Results: the first eight rows, half by half, then the next eight. Without weights all is
  // undefined.
  [[nodiscard]] std::vector<MatrixResult> multiply(const std::vector<MatrixOperand>& left, MatrixFormat format,
                                                   MatrixSum how) const;

 private:
  struct Quarter {
    int depth = 0;  // rows that take part, from the first on; 0: absent
    bool finite = true;
    std::unique_ptr<double[]> weights;
    std::vector<uint8_t> undefined;  // 1: undefined; empty: none is
  };
  struct Numbers;

  static void read(const MatrixOperand& operand, MatrixFormat format, Numbers& numbers);
  static void add_products(const Numbers& left, size_t rows, const Quarter& quarter, MatrixSum how, double* sums);
  static void mark_undefined(const Numbers& left, size_t rows, const Quarter& quarter, std::vector<uint8_t>& undefined);

  std::array<std::array<Quarter, halves_of_unit>, halves_of_unit> quarters_;  // [rows][columns]
  bool empty_ = true;
};

}  // namespace sapper::llo
