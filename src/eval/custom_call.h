// The custom calls whose meaning is known, by subject; custom_call.cc has the table of their names.
#pragma once

#include "eval/op.h"

namespace sapper::eval {

// "not evaluated: custom-call TARGET (name): reason".
[[nodiscard]] tl::unexpected<Error> unsupported_custom_call(const OpContext& context, std::string_view reason);

// Values moved or marked (custom_call_values.cc).
Result<hlo::Literal> call_identity(const OpContext&, std::span<const hlo::Literal>);
Result<hlo::Literal> call_allocate_buffer(const OpContext&, std::span<const hlo::Literal>);
Result<hlo::Literal> call_concat_bitcast(const OpContext&, std::span<const hlo::Literal>);
Result<hlo::Literal> call_x64_split_low(const OpContext&, std::span<const hlo::Literal>);
Result<hlo::Literal> call_x64_split_high(const OpContext&, std::span<const hlo::Literal>);
Result<hlo::Literal> call_x64_combine(const OpContext&, std::span<const hlo::Literal>);
Result<hlo::Literal> call_top_k(const OpContext&, std::span<const hlo::Literal>);
Result<hlo::Literal> call_top_k_values(const OpContext&, std::span<const hlo::Literal>);

// Factorizations that TPU programs call (custom_call_tpu.cc).
Result<hlo::Literal> call_cholesky(const OpContext&, std::span<const hlo::Literal>);
Result<hlo::Literal> call_invert_lower_triangular(const OpContext&, std::span<const hlo::Literal>);
Result<hlo::Literal> call_invert_upper_triangular(const OpContext&, std::span<const hlo::Literal>);
Result<hlo::Literal> call_lu_decomposition(const OpContext&, std::span<const hlo::Literal>);
Result<hlo::Literal> call_qr_decomposition(const OpContext&, std::span<const hlo::Literal>);
Result<hlo::Literal> call_householder_product(const OpContext&, std::span<const hlo::Literal>);
Result<hlo::Literal> call_compact_wy_helper(const OpContext&, std::span<const hlo::Literal>);
Result<hlo::Literal> call_eigh(const OpContext&, std::span<const hlo::Literal>);

// LAPACK and BLAS routines that JAX calls on CPU (custom_call_lapack.cc).
Result<hlo::Literal> call_lapack_trsm(const OpContext&, std::span<const hlo::Literal>);
Result<hlo::Literal> call_lapack_potrf(const OpContext&, std::span<const hlo::Literal>);
Result<hlo::Literal> call_lapack_getrf(const OpContext&, std::span<const hlo::Literal>);

}  // namespace sapper::eval
