// The innermost loops of a contraction: a small block of the product of two packed panels, vectorised for the machine
// at hand. Vector lanes run over columns and every sum runs over k upwards, one term at a time, so that lane counts
// never show in a result. A fused multiply-add gives what a multiplication and an addition give, because callers choose
// the accumulator type so that products are exact (or wrap).
#pragma once

#include <cstdint>

namespace sapper::eval {

// Rows of a left panel. Column k of the panel is at a[k * kernel_rows].
inline constexpr int64_t kernel_rows = 6;

// Columns of a right panel. Row k of the panel is at b[k * kernel_columns<T>].
template <class T>
inline constexpr int64_t kernel_columns = 128 / static_cast<int64_t>(sizeof(T));

// c[i * stride + j] += sum over k < depth of a[k * kernel_rows + i] * b[k * kernel_columns + j], for all i < rows
// (1 to kernel_rows) and all j < kernel_columns.
void multiply_panels(const double* a, const double* b, int64_t depth, int64_t rows, double* c, int64_t stride);
void multiply_panels(const uint32_t* a, const uint32_t* b, int64_t depth, int64_t rows, uint32_t* c, int64_t stride);
void multiply_panels(const uint64_t* a, const uint64_t* b, int64_t depth, int64_t rows, uint64_t* c, int64_t stride);
void multiply_panels(const long double* a, const long double* b, int64_t depth, int64_t rows, long double* c,
                     int64_t stride);

}  // namespace sapper::eval
