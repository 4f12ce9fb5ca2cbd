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
constexpr int kRows = 4;
constexpr int kVectors = 2;

// Fused or not is the same: the product is exact.
struct SumInDouble {
  template <class V>
  HWY_INLINE V operator()(V sum, V a, V b) const {
    return hn::MulAdd(a, b, sum);
  }
};

// The f64 sum of two f32 numbers, rounded to f32, is their f32 sum: f64 has more than twice the bits.
struct SumInSingle {
  template <class V>
  static HWY_INLINE V round(V value) {
    const D d;
    const hn::Rebind<float, D> single;
    return hn::PromoteTo(d, hn::DemoteTo(single, value));
  }
  template <class V>
  HWY_INLINE V operator()(V sum, V a, V b) const {
    return round(hn::Add(sum, round(hn::Mul(a, b))));
  }
};

template <class Sum>
HWY_INLINE void multiply(const double* HWY_RESTRICT rows, int row_count, const double* HWY_RESTRICT block, int depth,
                         double* HWY_RESTRICT sums, Sum add_product) {
  const D d;
  const int lanes = static_cast<int>(hn::Lanes(d));
  for (int row = 0; row < row_count; row += kRows) {
    for (int column = 0; column < kLanes; column += kVectors * lanes) {
      hn::Vec<D> sum[kRows][kVectors];
      for (int r = 0; r < kRows; ++r)
        for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::LoadU(d, sums + (row + r) * kLanes + column + v * lanes);
      for (int k = 0; k < depth; ++k) {
        const auto left = hn::LoadU(d, block + k * kLanes + column);
        const auto right = hn::LoadU(d, block + k * kLanes + column + lanes);
        for (int r = 0; r < kRows; ++r) {
          const auto factor = hn::Set(d, rows[(row + r) * kLanes + k]);
          sum[r][0] = add_product(sum[r][0], factor, left);
          sum[r][1] = add_product(sum[r][1], factor, right);
        }
      }
      for (int r = 0; r < kRows; ++r)
        for (int v = 0; v < kVectors; ++v) hn::StoreU(sum[r][v], d, sums + (row + r) * kLanes + column + v * lanes);
    }
  }
}

void multiply_rows(const double* rows, int row_count, const double* block, int depth, MatrixSum how, double* sums) {
  if (how == MatrixSum::Double) return multiply(rows, row_count, block, depth, sums, SumInDouble());
  multiply(rows, row_count, block, depth, sums, SumInSingle());
}

}  // namespace sapper::llo::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sapper::llo {
HWY_EXPORT(multiply_rows);
void multiply_rows(const double* rows, int row_count, const double* block, int depth, MatrixSum how, double* sums) {
  HWY_DYNAMIC_DISPATCH(multiply_rows)(rows, row_count, block, depth, how, sums);
}
}  // namespace sapper::llo
#endif
