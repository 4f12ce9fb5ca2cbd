#include "eval/gemm_kernel.h"

#include <type_traits>

#include "eval/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "eval/gemm_kernel.cc"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace sapper::eval::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// sum + a * b. Highway's MulAdd is for floats only.
template <class T, class V>
HWY_INLINE V add_product(V sum, V a, V b) {
  if constexpr (std::is_floating_point_v<T>) {
    return hn::MulAdd(a, b, sum);
  } else {
    return hn::Add(sum, hn::Mul(a, b));
  }
}

// A block of `rows` by two vectors of sums stays in registers for the whole depth.
template <int rows, class T>
void multiply_rows(const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, int64_t depth, T* HWY_RESTRICT c, int64_t stride) {
  const hn::CappedTag<T, static_cast<size_t>(kernel_columns<T> / 2)> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t column = 0; column < kernel_columns<T>; column += 2 * lanes) {
    decltype(hn::Zero(d)) left[rows];
    decltype(hn::Zero(d)) right[rows];
    for (int i = 0; i < rows; ++i) {
      left[i] = hn::LoadU(d, c + i * stride + column);
      right[i] = hn::LoadU(d, c + i * stride + column + lanes);
    }
    for (int64_t k = 0; k < depth; ++k) {
      const auto b_left = hn::LoadU(d, b + k * kernel_columns<T> + column);
      const auto b_right = hn::LoadU(d, b + k * kernel_columns<T> + column + lanes);
      for (int i = 0; i < rows; ++i) {
        const auto factor = hn::Set(d, a[k * kernel_rows + i]);
        left[i] = add_product<T>(left[i], factor, b_left);
        right[i] = add_product<T>(right[i], factor, b_right);
      }
    }
    for (int i = 0; i < rows; ++i) {
      hn::StoreU(left[i], d, c + i * stride + column);
      hn::StoreU(right[i], d, c + i * stride + column + lanes);
    }
  }
}

template <class T>
void multiply(const T* a, const T* b, int64_t depth, int64_t rows, T* c, int64_t stride) {
  switch (rows) {
    case 1: return multiply_rows<1>(a, b, depth, c, stride);
    case 2: return multiply_rows<2>(a, b, depth, c, stride);
    case 3: return multiply_rows<3>(a, b, depth, c, stride);
    case 4: return multiply_rows<4>(a, b, depth, c, stride);
    case 5: return multiply_rows<5>(a, b, depth, c, stride);
    default: return multiply_rows<6>(a, b, depth, c, stride);
  }
}

void multiply_f64(const double* a, const double* b, int64_t depth, int64_t rows, double* c, int64_t stride) {
  multiply(a, b, depth, rows, c, stride);
}
void multiply_u32(const uint32_t* a, const uint32_t* b, int64_t depth, int64_t rows, uint32_t* c, int64_t stride) {
  multiply(a, b, depth, rows, c, stride);
}

}  // namespace sapper::eval::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sapper::eval {
namespace {

HWY_EXPORT(multiply_f64);
HWY_EXPORT(multiply_u32);

// For the types that no vector unit knows: four sums at a time hide the latency of an addition.
template <class T>
void multiply_scalar(const T* a, const T* b, int64_t depth, int64_t rows, T* c, int64_t stride) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t column = 0; column < kernel_columns<T>; column += 4) {
      T* sums = c + i * stride + column;
      T sum0 = sums[0];
      T sum1 = sums[1];
      T sum2 = sums[2];
      T sum3 = sums[3];
      for (int64_t k = 0; k < depth; ++k) {
        const T factor = a[k * kernel_rows + i];
        const T* row = b + k * kernel_columns<T> + column;
        sum0 += factor * row[0];
        sum1 += factor * row[1];
        sum2 += factor * row[2];
        sum3 += factor * row[3];
      }
      sums[0] = sum0;
      sums[1] = sum1;
      sums[2] = sum2;
      sums[3] = sum3;
    }
  }
}

}  // namespace

void multiply_panels(const double* a, const double* b, int64_t depth, int64_t rows, double* c, int64_t stride) {
  HWY_DYNAMIC_DISPATCH(multiply_f64)(a, b, depth, rows, c, stride);
}
void multiply_panels(const uint32_t* a, const uint32_t* b, int64_t depth, int64_t rows, uint32_t* c, int64_t stride) {
  HWY_DYNAMIC_DISPATCH(multiply_u32)(a, b, depth, rows, c, stride);
}
void multiply_panels(const uint64_t* a, const uint64_t* b, int64_t depth, int64_t rows, uint64_t* c, int64_t stride) {
  multiply_scalar(a, b, depth, rows, c, stride);
}
void multiply_panels(const long double* a, const long double* b, int64_t depth, int64_t rows, long double* c,
                     int64_t stride) {
  multiply_scalar(a, b, depth, rows, c, stride);
}

}  // namespace sapper::eval
#endif
