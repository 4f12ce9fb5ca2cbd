// The attributes that are plain fields of the wire: their name in text and the path of the field.
#pragma once

#include "hlo/text_attributes.h"

namespace sapper::hlo::attribute {

constexpr AttributeGrammar plain(std::string_view name, std::string_view field, int64_t implied = 0) {
  return {.name = name, .field = field, .implied = implied};
}
constexpr AttributeGrammar plain(std::string_view name) { return plain(name, name); }

inline constexpr AttributeGrammar channel_id = plain("channel_id");
inline constexpr AttributeGrammar constrain_layout = plain("constrain_layout");
inline constexpr AttributeGrammar use_global_device_ids = plain("use_global_device_ids");
inline constexpr AttributeGrammar has_dynamic_root = plain("has_dynamic_root");
inline constexpr AttributeGrammar epsilon = plain("epsilon");
inline constexpr AttributeGrammar feature_index = plain("feature_index");
inline constexpr AttributeGrammar fft_type = plain("fft_type");
inline constexpr AttributeGrammar fft_length = plain("fft_length");
inline constexpr AttributeGrammar is_host_transfer = plain("is_host_transfer");
inline constexpr AttributeGrammar is_composite = plain("is_composite");
inline constexpr AttributeGrammar is_stable = plain("is_stable");
inline constexpr AttributeGrammar k = plain("k");
inline constexpr AttributeGrammar largest = plain("largest");
inline constexpr AttributeGrammar num_carries = plain("num_carries");
inline constexpr AttributeGrammar is_reverse = plain("is_reverse");
inline constexpr AttributeGrammar distribution = plain("distribution");
inline constexpr AttributeGrammar rng_algorithm = plain("algorithm", "rng_algorithm");
inline constexpr AttributeGrammar delta = plain("delta");
inline constexpr AttributeGrammar exponent_bits = plain("exponent_bits");
inline constexpr AttributeGrammar mantissa_bits = plain("mantissa_bits");
inline constexpr AttributeGrammar infeed_config = plain("infeed_config");
inline constexpr AttributeGrammar outfeed_config = plain("outfeed_config");
inline constexpr AttributeGrammar dynamic_slice_sizes = plain("dynamic_slice_sizes");
inline constexpr AttributeGrammar feature_group_count = plain("feature_group_count", "feature_group_count", 1);
inline constexpr AttributeGrammar batch_group_count = plain("batch_group_count", "batch_group_count", 1);
inline constexpr AttributeGrammar convolution_kind = plain("convolution_kind", "conv_kind");
inline constexpr AttributeGrammar operand_precision = plain("operand_precision", "precision_config.operand_precision");
inline constexpr AttributeGrammar dot_algorithm = plain("algorithm", "precision_config.algorithm");
inline constexpr AttributeGrammar left_side = plain("left_side", "triangular_solve_options.left_side");
inline constexpr AttributeGrammar lower = plain("lower", "triangular_solve_options.lower");
inline constexpr AttributeGrammar unit_diagonal = plain("unit_diagonal", "triangular_solve_options.unit_diagonal");
inline constexpr AttributeGrammar transpose_a = plain("transpose_a", "triangular_solve_options.transpose_a");
inline constexpr AttributeGrammar cholesky_lower = plain("lower", "cholesky_options.lower");
inline constexpr AttributeGrammar lhs_contracting =
    plain("lhs_contracting_dims", "dot_dimension_numbers.lhs_contracting_dimensions");
inline constexpr AttributeGrammar rhs_contracting =
    plain("rhs_contracting_dims", "dot_dimension_numbers.rhs_contracting_dimensions");
inline constexpr AttributeGrammar lhs_batch = plain("lhs_batch_dims", "dot_dimension_numbers.lhs_batch_dimensions");
inline constexpr AttributeGrammar rhs_batch = plain("rhs_batch_dims", "dot_dimension_numbers.rhs_batch_dimensions");
inline constexpr AttributeGrammar ragged_lhs_contracting =
    plain("lhs_contracting_dims", "ragged_dot_dimension_numbers.dot_dimension_numbers.lhs_contracting_dimensions");
inline constexpr AttributeGrammar ragged_rhs_contracting =
    plain("rhs_contracting_dims", "ragged_dot_dimension_numbers.dot_dimension_numbers.rhs_contracting_dimensions");
inline constexpr AttributeGrammar ragged_lhs_batch =
    plain("lhs_batch_dims", "ragged_dot_dimension_numbers.dot_dimension_numbers.lhs_batch_dimensions");
inline constexpr AttributeGrammar ragged_rhs_batch =
    plain("rhs_batch_dims", "ragged_dot_dimension_numbers.dot_dimension_numbers.rhs_batch_dimensions");
inline constexpr AttributeGrammar lhs_ragged =
    plain("lhs_ragged_dims", "ragged_dot_dimension_numbers.lhs_ragged_dimensions");
inline constexpr AttributeGrammar rhs_group =
    plain("rhs_group_dims", "ragged_dot_dimension_numbers.rhs_group_dimensions");
inline constexpr AttributeGrammar offset_dims = plain("offset_dims", "gather_dimension_numbers.offset_dims");
inline constexpr AttributeGrammar collapsed_slice_dims =
    plain("collapsed_slice_dims", "gather_dimension_numbers.collapsed_slice_dims");
inline constexpr AttributeGrammar start_index_map =
    plain("start_index_map", "gather_dimension_numbers.start_index_map");
inline constexpr AttributeGrammar operand_batching_dims =
    plain("operand_batching_dims", "gather_dimension_numbers.operand_batching_dims");
inline constexpr AttributeGrammar start_indices_batching_dims =
    plain("start_indices_batching_dims", "gather_dimension_numbers.start_indices_batching_dims");
inline constexpr AttributeGrammar gather_index_vector_dim =
    plain("index_vector_dim", "gather_dimension_numbers.index_vector_dim");
inline constexpr AttributeGrammar gather_slice_sizes = plain("slice_sizes", "gather_slice_sizes");
inline constexpr AttributeGrammar update_window_dims =
    plain("update_window_dims", "scatter_dimension_numbers.update_window_dims");
inline constexpr AttributeGrammar inserted_window_dims =
    plain("inserted_window_dims", "scatter_dimension_numbers.inserted_window_dims");
inline constexpr AttributeGrammar scatter_dims_to_operand_dims =
    plain("scatter_dims_to_operand_dims", "scatter_dimension_numbers.scatter_dims_to_operand_dims");
inline constexpr AttributeGrammar input_batching_dims =
    plain("input_batching_dims", "scatter_dimension_numbers.input_batching_dims");
inline constexpr AttributeGrammar scatter_indices_batching_dims =
    plain("scatter_indices_batching_dims", "scatter_dimension_numbers.scatter_indices_batching_dims");
inline constexpr AttributeGrammar scatter_index_vector_dim =
    plain("index_vector_dim", "scatter_dimension_numbers.index_vector_dim");
inline constexpr AttributeGrammar indices_are_sorted = plain("indices_are_sorted");
inline constexpr AttributeGrammar unique_indices = plain("unique_indices");
inline constexpr AttributeGrammar cross_program_prefetch_index = plain("cross_program_prefetch_index");
inline constexpr AttributeGrammar async_execution_thread = plain("async_execution_thread");
inline constexpr AttributeGrammar custom_call_target = plain("custom_call_target");
inline constexpr AttributeGrammar custom_call_has_side_effect = plain("custom_call_has_side_effect");
inline constexpr AttributeGrammar padding_type = plain("padding_type");
inline constexpr AttributeGrammar schedule = plain("schedule", "custom_call_schedule");
inline constexpr AttributeGrammar api_version = plain("api_version", "custom_call_api_version", 1);
inline constexpr AttributeGrammar parameter_replication =
    plain("parameter_replication", "parameter_replication.replicated_at_leaf_buffers");

}  // namespace sapper::hlo::attribute
