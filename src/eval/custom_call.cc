// custom-call: the table of the targets whose meaning is known, beside marks on values (hlo/identity_calls.h). It was
// read from public sources and from what the compilers' own expansions (their dumps, pass by pass) do with the results.
// All others are unsupported, among them:
// - decompositions whose result is not unique (EighTpu, *syevd, *gesdd: the signs of vectors, the order of values),
//   except for Eigh, which programs use for values and vectors in sorted order (what depends on signs is known as such:
//   check/litmus.h);
// - kernels that are programs of their own (tpu_custom_call).
#include "eval/custom_call.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "hlo/identity_calls.h"

namespace sapper::eval {
namespace {

struct KnownCall {
  std::string_view target;
  Op op;
};

constexpr KnownCall known_calls[] = {
    // TPU: buffers that are written later, or that slices were copied into.
    {"AllocateBuffer", call_allocate_buffer},
    {"ConcatBitcast", call_concat_bitcast},
    // TPU: 64-bit types as two 32-bit halves.
    {"X64SplitLow", call_x64_split_low},
    {"X64SplitHigh", call_x64_split_high},
    {"X64Combine", call_x64_combine},
    // The k first elements of each row in descending or ascending order, and their indices.
    {"TopK", call_top_k},
    // TPU: the k largest elements of each row, integers that hold their indices.
    {"TopKBatchMajorSmallK", call_top_k_values},
    // TPU: the lower Cholesky factor of a block.
    {"Cholesky", call_cholesky},
    // TPU: the inverses of triangular blocks.
    {"InvertDiagBlocksLowerTriangular", call_invert_lower_triangular},
    {"InvertDiagBlocksUpperTriangular", call_invert_upper_triangular},
    // LU with partial pivoting: of a matrix, and of a block of real columns.
    {"LuDecomposition", call_lu_decomposition},
    {"LuRealDecompositionBlock", call_lu_decomposition},
    // QR by Householder reflections: of a matrix, and of a block of columns.
    {"Qr", call_qr_decomposition},
    {"QrDecompositionBlock", call_qr_decomposition},
    // The product of Householder reflections: Q itself, and the inner factor of its compact form.
    {"ProductOfElementaryHouseholderReflectors", call_householder_product},
    {"CompactWyHelper", call_compact_wy_helper},
    // Eigenvalues and eigenvectors of a symmetric matrix.
    {"Eigh", call_eigh},
    // LAPACK and BLAS on CPU, for s, d, c and z: triangular systems, Cholesky, LU, QR, Q.
    {"lapack_strsm_ffi", call_lapack_trsm},
    {"lapack_dtrsm_ffi", call_lapack_trsm},
    {"lapack_ctrsm_ffi", call_lapack_trsm},
    {"lapack_ztrsm_ffi", call_lapack_trsm},
    {"lapack_spotrf_ffi", call_lapack_potrf},
    {"lapack_dpotrf_ffi", call_lapack_potrf},
    {"lapack_cpotrf_ffi", call_lapack_potrf},
    {"lapack_zpotrf_ffi", call_lapack_potrf},
    {"lapack_sgetrf_ffi", call_lapack_getrf},
    {"lapack_dgetrf_ffi", call_lapack_getrf},
    {"lapack_cgetrf_ffi", call_lapack_getrf},
    {"lapack_zgetrf_ffi", call_lapack_getrf},
    {"lapack_sgeqrf_ffi", call_qr_decomposition},
    {"lapack_dgeqrf_ffi", call_qr_decomposition},
    {"lapack_cgeqrf_ffi", call_qr_decomposition},
    {"lapack_zgeqrf_ffi", call_qr_decomposition},
    {"lapack_sorgqr_ffi", call_householder_product},
    {"lapack_dorgqr_ffi", call_householder_product},
    {"lapack_cungqr_ffi", call_householder_product},
    {"lapack_zungqr_ffi", call_householder_product},
};

}  // namespace

tl::unexpected<Error> unsupported_custom_call(const OpContext& context, std::string_view reason) {
  std::string message = fmt::format("not evaluated: custom-call {} ({})",
                                    context.instruction.attributes().custom_call_target(), context.instruction.name);
  if (!reason.empty()) message += fmt::format(": {}", reason);
  return fail(hlo::error_at(ErrorKind::Unsupported, context.instruction, std::move(message)));
}

Result<hlo::Literal> custom_call(const OpContext& context, std::span<const hlo::Literal> operands) {
  const std::string& target = context.instruction.attributes().custom_call_target();
  const auto* const known = std::ranges::find(known_calls, target, &KnownCall::target);
  const bool is_identity = hlo::is_identity_call(context.instruction);
  if (known == std::end(known_calls) && !is_identity) return unsupported_custom_call(context, "");
  SAPPER_TRY(hlo::Literal result, is_identity ? call_identity(context, operands) : known->op(context, operands));
  // The verifier takes a custom call's shape as stated, so here is where a wrong one shows.
  if (!result.shape().same_ignoring_layout(context.instruction.shape))
    return fail(hlo::error_at(ErrorKind::BadInput, context.instruction,
                              fmt::format("custom-call {} states the shape {}, expected {}", target,
                                          context.instruction.shape.to_text(false), result.shape().to_text(false))));
  return result;
}

}  // namespace sapper::eval
