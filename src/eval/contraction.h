// Contraction: the sum of products under dot, ragged-dot, scaled-dot and convolution. For each batch entry b:
//
//   result[b, m, n] = round(sum over k of lhs[b, m, k] * rhs[b, k, n])
//
// with k running upwards, one term after the other, in the accumulator's type (eval/accumulator.h), and one rounding at
// the end. No term is skipped: 0 * infinity is NaN. The value depends on nothing else: blocks, threads and vector lanes
// only change which sums are in flight together. For f32 and narrower operands a product is exact in f64, so that the
// only error of a sum of K terms before its rounding is that of K-1 additions in f64: at most K * 2^-53 * sum |lhs *
// rhs|.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "eval/accumulator.h"
#include "hlo/literal.h"

namespace sapper::eval {

// Where the elements are, as sums of offsets (in elements): lhs[b, m, k] is at lhs_batch[b] + lhs_free[m] + lhs_sum[k],
// rhs[b, k, n] at rhs_batch[b] + rhs_free[n] + rhs_sum[k], the result at result_batch[b] + result_lhs[m] +
// result_rhs[n].
struct Contraction {
  std::vector<int64_t> lhs_batch, lhs_free, lhs_sum;
  std::vector<int64_t> rhs_batch, rhs_free, rhs_sum;
  std::vector<int64_t> result_batch, result_lhs, result_rhs;
};

// Writes every element of `result` that the contraction names. Operands are as widen() gives them.
void contract(const Contraction& contraction, Accumulator accumulator, const std::byte* lhs, const std::byte* rhs,
              hlo::Literal& result);

}  // namespace sapper::eval
