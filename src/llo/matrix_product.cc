#include "llo/matrix_product.h"

#include <cstddef>

// foreach_target.h must come before what it compiles for each target.
// clang-format off
#include "eval/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "llo/matrix_product.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace sapper::llo::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// As many vectors of columns as lets a block of 4 rows of sums stay in registers.
using D = hn::CappedTag<double, 8>;
constexpr int64_t block_rows = 4;
constexpr int64_t block_vectors = 2;

// A product fused with its addition or not is the same: it is exact.
void multiply_in_double(const double* HWY_RESTRICT rows, int64_t row_count, const double* HWY_RESTRICT block,
                        int64_t depth, double* HWY_RESTRICT sums) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t row = 0; row < row_count; row += block_rows) {
    for (int64_t column = 0; column < kLanes; column += block_vectors * lanes) {
      hn::Vec<D> sum[block_rows][block_vectors];
      for (int64_t r = 0; r < block_rows; ++r)
        for (int64_t v = 0; v < block_vectors; ++v)
          sum[r][v] = hn::LoadU(d, sums + (row + r) * kLanes + column + v * lanes);
      for (int64_t k = 0; k < depth; ++k) {
        const auto left = hn::LoadU(d, block + k * kLanes + column);
        const auto right = hn::LoadU(d, block + k * kLanes + column + lanes);
        for (int64_t r = 0; r < block_rows; ++r) {
          const auto factor = hn::Set(d, rows[(row + r) * kLanes + k]);
          sum[r][0] = hn::MulAdd(factor, left, sum[r][0]);
          sum[r][1] = hn::MulAdd(factor, right, sum[r][1]);
        }
      }
      for (int64_t r = 0; r < block_rows; ++r)
        for (int64_t v = 0; v < block_vectors; ++v)
          hn::StoreU(sum[r][v], d, sums + (row + r) * kLanes + column + v * lanes);
    }
  }
}

void multiply_in_single(const double* HWY_RESTRICT rows, int64_t row_count, const double* HWY_RESTRICT block,
                        int64_t depth, double* HWY_RESTRICT sums) {
  for (int64_t row = 0; row < row_count; ++row) {
    float sum[kLanes];
    for (int64_t column = 0; column < kLanes; ++column) sum[column] = static_cast<float>(sums[row * kLanes + column]);
    for (int64_t k = 0; k < depth; ++k) {
      const auto factor = static_cast<float>(rows[row * kLanes + k]);
      for (int64_t column = 0; column < kLanes; ++column)
        sum[column] += factor * static_cast<float>(block[k * kLanes + column]);
    }
    for (int64_t column = 0; column < kLanes; ++column) sums[row * kLanes + column] = sum[column];
  }
}

void multiply_rows(const double* rows, int64_t row_count, const double* block, int64_t depth, MatrixSum how,
                   double* sums) {
  const auto multiply = how == MatrixSum::Double ? multiply_in_double : multiply_in_single;
  multiply(rows, row_count, block, depth, sums);
}

}  // namespace sapper::llo::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sapper::llo {
HWY_EXPORT(multiply_rows);
void multiply_rows(const double* rows, int64_t row_count, const double* block, int64_t depth, MatrixSum how,
                   double* sums) {
  HWY_DYNAMIC_DISPATCH(multiply_rows)(rows, row_count, block, depth, how, sums);
}
}  // namespace sapper::llo
#endif
