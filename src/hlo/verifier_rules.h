// The verifier's rules, one for each opcode: how many operands and called computations it has and which shape follows
// from them. The table is in verifier_table.cc; the rule functions are in the file named above each group.
#pragma once

#include <limits>
#include <string_view>

#include "hlo/verifier_site.h"

namespace sapper::hlo::verifier {

// Classes of element types that an elementwise operation takes: one bit each.
namespace accepts {
constexpr uint8_t nothing = 0;
constexpr uint8_t pred = 1;
constexpr uint8_t signed_integer = 2;
constexpr uint8_t unsigned_integer = 4;
constexpr uint8_t floating = 8;
constexpr uint8_t complex = 16;
constexpr uint8_t integer = signed_integer | unsigned_integer;
constexpr uint8_t logical = pred | integer;
constexpr uint8_t real = integer | floating;
constexpr uint8_t continuous = floating | complex;
constexpr uint8_t number = real | complex;
constexpr uint8_t all = pred | number;
}  // namespace accepts

// How the stated shape may differ from the inferred one.
enum class Agreement : uint8_t {
  Exact,              // layouts and dynamism only: the operation passes buffers on
  IgnoringPrecision,  // also in interchangeable element types: the operation makes a value
};

struct Count {
  static constexpr size_t any = std::numeric_limits<size_t>::max();
  size_t least = 0;
  size_t most = 0;
  [[nodiscard]] bool contains(size_t n) const { return least <= n && n <= most; }
};

using Rule = Result<Inferred> (*)(const Site&);

struct OpcodeRule {
  Count operands = {};
  std::string_view operand_names = {};  // for people: "lhs, rhs"
  Count called = {};
  Rule infer = nullptr;
  Agreement agreement = Agreement::IgnoringPrecision;
  uint8_t accepts = accepts::nothing;  // of every operand of an elementwise operation
};

[[nodiscard]] const OpcodeRule& rule_for(Opcode opcode);

// verifier_elementwise.cc
Result<Inferred> infer_elementwise(const Site& site);
Result<Inferred> infer_predicate(const Site& site);
Result<Inferred> infer_component(const Site& site);
Result<Inferred> infer_complex(const Site& site);
Result<Inferred> infer_compare(const Site& site);
Result<Inferred> infer_select(const Site& site);
Result<Inferred> infer_clamp(const Site& site);
Result<Inferred> infer_convert(const Site& site);
Result<Inferred> infer_bitcast_convert(const Site& site);
Result<Inferred> infer_stochastic_convert(const Site& site);
Result<Inferred> infer_reduce_precision(const Site& site);

// verifier_data_movement.cc
Result<Inferred> infer_bitcast(const Site& site);
Result<Inferred> infer_broadcast(const Site& site);
Result<Inferred> infer_concatenate(const Site& site);
Result<Inferred> infer_dynamic_reshape(const Site& site);
Result<Inferred> infer_get_dimension_size(const Site& site);
Result<Inferred> infer_pad(const Site& site);
Result<Inferred> infer_reshape(const Site& site);
Result<Inferred> infer_reverse(const Site& site);
Result<Inferred> infer_set_dimension_size(const Site& site);
Result<Inferred> infer_transpose(const Site& site);

// verifier_slicing.cc
Result<Inferred> infer_dynamic_slice(const Site& site);
Result<Inferred> infer_dynamic_update_slice(const Site& site);
Result<Inferred> infer_slice(const Site& site);

// verifier_gather_scatter.cc
Result<Inferred> infer_gather(const Site& site);
Result<Inferred> infer_scatter(const Site& site);

// verifier_linear_algebra.cc
Result<Inferred> infer_cholesky(const Site& site);
Result<Inferred> infer_dot(const Site& site);
Result<Inferred> infer_fft(const Site& site);
Result<Inferred> infer_ragged_dot(const Site& site);
Result<Inferred> infer_scaled_dot(const Site& site);
Result<Inferred> infer_triangular_solve(const Site& site);

// verifier_convolution.cc
Result<Inferred> infer_convolution(const Site& site);

// verifier_reductions.cc
Result<Inferred> infer_map(const Site& site);
Result<Inferred> infer_reduce(const Site& site);
Result<Inferred> infer_reduce_window(const Site& site);
Result<Inferred> infer_scan(const Site& site);
Result<Inferred> infer_select_and_scatter(const Site& site);
Result<Inferred> infer_sort(const Site& site);
Result<Inferred> infer_topk(const Site& site);

// verifier_control.cc
Result<Inferred> infer_add_dependency(const Site& site);
Result<Inferred> infer_after_all(const Site& site);
Result<Inferred> infer_call(const Site& site);
Result<Inferred> infer_conditional(const Site& site);
Result<Inferred> infer_constant(const Site& site);
Result<Inferred> infer_custom_call(const Site& site);
Result<Inferred> infer_fusion(const Site& site);
Result<Inferred> infer_get_tuple_element(const Site& site);
Result<Inferred> infer_identity(const Site& site);
Result<Inferred> infer_iota(const Site& site);
Result<Inferred> infer_parameter(const Site& site);
Result<Inferred> infer_tuple(const Site& site);
Result<Inferred> infer_while(const Site& site);

// verifier_async.cc
Result<Inferred> infer_async_done(const Site& site);
Result<Inferred> infer_async_start(const Site& site);
Result<Inferred> infer_async_update(const Site& site);
Result<Inferred> infer_copy_done(const Site& site);
Result<Inferred> infer_copy_start(const Site& site);
Result<Inferred> infer_infeed(const Site& site);
Result<Inferred> infer_outfeed(const Site& site);
Result<Inferred> infer_recv(const Site& site);
Result<Inferred> infer_recv_done(const Site& site);
Result<Inferred> infer_send(const Site& site);
Result<Inferred> infer_send_done(const Site& site);

// verifier_collectives.cc
Result<Inferred> infer_all_gather(const Site& site);
Result<Inferred> infer_all_gather_start(const Site& site);
Result<Inferred> infer_all_reduce(const Site& site);
Result<Inferred> infer_all_reduce_done(const Site& site);
Result<Inferred> infer_all_to_all(const Site& site);
Result<Inferred> infer_collective_broadcast(const Site& site);
Result<Inferred> infer_collective_permute(const Site& site);
Result<Inferred> infer_collective_permute_start(const Site& site);
Result<Inferred> infer_collective_done(const Site& site);
Result<Inferred> infer_device_number(const Site& site);
Result<Inferred> infer_ragged_all_to_all(const Site& site);
Result<Inferred> infer_reduce_scatter(const Site& site);

// verifier_statistics.cc
Result<Inferred> infer_batch_norm_grad(const Site& site);
Result<Inferred> infer_batch_norm_inference(const Site& site);
Result<Inferred> infer_batch_norm_training(const Site& site);
Result<Inferred> infer_rng(const Site& site);
Result<Inferred> infer_rng_bit_generator(const Site& site);
Result<Inferred> infer_rng_get_and_update_state(const Site& site);

// Shared between subjects.

// The called computation `called` folds: it takes `count` accumulators and `count` inputs, all scalars, and returns the
// accumulators (a scalar, or a tuple of `count`). Operands first_accumulator + i give the types of the initial
// accumulators, first_input + i those of the inputs. (verifier_reductions.cc)
[[nodiscard]] Status check_reducer(const Site& site, size_t called, size_t count, size_t first_input,
                                   size_t first_accumulator);
// Accumulator i of such a computation's result.
[[nodiscard]] const Shape& accumulator(const Site& site, size_t called, size_t i);

// The number of positions of window dimension `i` over `size` elements. (verifier_reductions.cc)
[[nodiscard]] Result<int64_t> window_positions(const Site& site, int i, int64_t size);

// The element type of the sum of products of operands 0 and 1: the stated one where products may be accumulated in it
// (the preferred element type), else the wider of the operands'. (verifier_linear_algebra.cc)
[[nodiscard]] Result<ElementType> product_type(const Site& site);

// Output-to-operand aliasing of a fusion or custom call: all indices exist. (verifier_control.cc)
[[nodiscard]] Status check_output_aliasing(const Site& site);

// The part of `shape` at a tuple index; null when there is none. (verifier_control.cc)
[[nodiscard]] const Shape* subshape(const Shape& shape, std::span<const int64_t> index);

}  // namespace sapper::hlo::verifier
