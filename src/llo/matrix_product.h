// The innermost loop of a matrix unit: some rows of 128 numbers times a block of 128 columns, for every instruction set
// the same bits.
#pragma once

#include <cstdint>

#include "llo/vreg.h"

namespace sapper::llo {

// What happens to products and sums on their way.
enum class MatrixSum : uint8_t {
  Double,  // exact products are summed in f64
  Single,  // each product and each sum is rounded to f32
};

// sums[r * 128 + column] += sum over k < depth, upwards, of rows[r * 128 + k] * block[k * 128 + column].
// `row_count` is a multiple of 4. In either way of summing a row is added to the sum of those above it, so blocks one
// below the other may be multiplied one after the other. The numbers are f32 numbers at most: products are exact.
void multiply_rows(const double* rows, int64_t row_count, const double* block, int64_t depth, MatrixSum how,
                   double* sums);

}  // namespace sapper::llo
