// Which opcode takes which attributes.
#include "hlo/text_attributes.h"

#include <unordered_map>

#include "hlo/text_grammars.h"
#include "hlo/text_plain_fields.h"

namespace sapper::hlo {
namespace {

using namespace attribute;

using Presence = AttributeUse::Presence;

AttributeUse use_of(const AttributeGrammar& grammar, Presence presence) {
  return {&grammar, presence, grammar.field.empty() ? nullptr : std::make_shared<WireField>(grammar.field)};
}
AttributeUse must(const AttributeGrammar& grammar) { return use_of(grammar, Presence::Required); }
AttributeUse may(const AttributeGrammar& grammar) { return use_of(grammar, Presence::Optional); }
AttributeUse always(const AttributeGrammar& grammar) { return use_of(grammar, Presence::Always); }

using Uses = std::vector<AttributeUse>;

const std::unordered_map<Opcode, Uses>& uses_by_opcode() {
  static const auto* const table = [] {
    const Uses accuracy = {may(result_accuracy)};
    const Uses only_dimensions = {must(dimensions)};
    const Uses reducing = {may(channel_id), may(replica_groups), may(constrain_layout), may(use_global_device_ids),
                           may(mode),       must(to_apply)};
    const Uses gathering = {may(channel_id), may(replica_groups), may(constrain_layout), must(dimensions),
                            may(use_global_device_ids)};
    const Uses permuting = {may(channel_id), must(source_target_pairs), may(permute_slice_sizes)};
    const Uses transferring = {may(channel_id), may(is_host_transfer)};
    const Uses normalizing = {must(epsilon), must(feature_index)};
    const Uses dotting = {may(lhs_batch),       may(lhs_contracting),     may(rhs_batch),
                          may(rhs_contracting), may(operand_precision),   may(dot_algorithm),
                          may(sparsity_config), may(block_scaling_config)};
    const Uses async = {may(async_execution_thread), may(calls)};
    return new std::unordered_map<Opcode, Uses>{
        {Opcode::Acos, accuracy},
        {Opcode::Acosh, accuracy},
        {Opcode::Asin, accuracy},
        {Opcode::Asinh, accuracy},
        {Opcode::Atanh, accuracy},
        {Opcode::Cbrt, accuracy},
        {Opcode::Cosh, accuracy},
        {Opcode::Cosine, accuracy},
        {Opcode::Erf, accuracy},
        {Opcode::Exponential, accuracy},
        {Opcode::ExponentialMinusOne, accuracy},
        {Opcode::Log, accuracy},
        {Opcode::LogPlusOne, accuracy},
        {Opcode::Logistic, accuracy},
        {Opcode::Rsqrt, accuracy},
        {Opcode::Sine, accuracy},
        {Opcode::Sinh, accuracy},
        {Opcode::Sqrt, accuracy},
        {Opcode::Tan, accuracy},
        {Opcode::Tanh, accuracy},
        {Opcode::AllGather, gathering},
        {Opcode::AllGatherStart, gathering},
        {Opcode::AllReduce, reducing},
        {Opcode::AllReduceStart, reducing},
        {Opcode::AllToAll, {may(channel_id), may(replica_groups), may(constrain_layout), may(dimensions)}},
        {Opcode::AsyncDone, async},
        {Opcode::AsyncStart, {may(async_execution_thread), may(output_to_operand_aliasing), must(calls)}},
        {Opcode::AsyncUpdate, {may(async_execution_thread), may(output_to_operand_aliasing), may(calls)}},
        {Opcode::BatchNormGrad, normalizing},
        {Opcode::BatchNormInference, normalizing},
        {Opcode::BatchNormTraining, normalizing},
        {Opcode::Broadcast, {always(dimensions)}},
        {Opcode::Call, {must(to_apply), may(is_composite)}},
        {Opcode::Cholesky, {may(cholesky_lower)}},
        {Opcode::CollectiveBroadcast, {may(channel_id), may(replica_groups), may(has_dynamic_root)}},
        {Opcode::CollectivePermute, permuting},
        {Opcode::CollectivePermuteStart, permuting},
        {Opcode::Compare, {must(direction), may(comparison_type), may(comparison_order)}},
        {Opcode::Concatenate, only_dimensions},
        {Opcode::Conditional, {may(true_computation), may(false_computation), may(branch_computations)}},
        {Opcode::Convolution,
         {may(window), must(dim_labels), may(feature_group_count), may(batch_group_count), may(operand_precision),
          may(convolution_kind), may(sparsity_config), may(block_scaling_config)}},
        {Opcode::CopyStart, {may(cross_program_prefetch_index)}},
        {Opcode::CustomCall,
         {may(window), may(dim_labels), may(feature_group_count), may(batch_group_count), may(operand_precision),
          may(padding_type), must(custom_call_target), may(operand_layout_constraints),
          may(custom_call_has_side_effect), may(literal), may(output_to_operand_aliasing), may(schedule),
          may(api_version), may(called_computations), may(only_called_computation)}},
        {Opcode::Domain, {must(domain)}},
        {Opcode::Dot, dotting},
        {Opcode::DynamicSlice, {must(dynamic_slice_sizes)}},
        {Opcode::Fft, {must(fft_type), must(fft_length)}},
        {Opcode::Fusion, {must(kind), may(output_to_operand_aliasing), must(calls)}},
        {Opcode::Gather,
         {must(offset_dims), must(collapsed_slice_dims), must(start_index_map), may(operand_batching_dims),
          may(start_indices_batching_dims), must(gather_index_vector_dim), must(gather_slice_sizes),
          may(indices_are_sorted)}},
        {Opcode::GetDimensionSize, only_dimensions},
        {Opcode::GetTupleElement, {must(index)}},
        {Opcode::Infeed, {may(infeed_config)}},
        {Opcode::Iota, {must(iota_dimension)}},
        {Opcode::Map, {may(dimensions), must(to_apply)}},
        {Opcode::Outfeed, {may(outfeed_shape), may(outfeed_config)}},
        {Opcode::Pad, {may(padding)}},
        {Opcode::RaggedAllToAll, {may(channel_id), may(replica_groups), may(dimensions)}},
        {Opcode::RaggedDot,
         {may(ragged_lhs_batch), may(ragged_lhs_contracting), may(ragged_rhs_batch), may(ragged_rhs_contracting),
          may(lhs_ragged), may(rhs_group), may(operand_precision)}},
        {Opcode::Recv, transferring},
        {Opcode::RecvDone, transferring},
        {Opcode::Reduce, {must(dimensions), must(to_apply)}},
        {Opcode::ReducePrecision, {must(exponent_bits), must(mantissa_bits)}},
        {Opcode::ReduceScatter,
         {may(channel_id), may(replica_groups), may(constrain_layout), may(use_global_device_ids), may(mode),
          must(dimensions), must(to_apply)}},
        {Opcode::ReduceWindow, {may(window), must(to_apply)}},
        {Opcode::Reshape, {may(inferred_dimension)}},
        {Opcode::Reverse, only_dimensions},
        {Opcode::Rng, {must(distribution)}},
        {Opcode::RngBitGenerator, {must(rng_algorithm)}},
        {Opcode::RngGetAndUpdateState, {must(delta)}},
        {Opcode::ScaledDot, dotting},
        {Opcode::Scan, {must(dimensions), must(num_carries), may(is_reverse), may(is_associative), must(to_apply)}},
        {Opcode::Scatter,
         {must(update_window_dims), must(inserted_window_dims), must(scatter_dims_to_operand_dims),
          may(input_batching_dims), may(scatter_indices_batching_dims), must(scatter_index_vector_dim),
          may(indices_are_sorted), may(unique_indices), must(to_apply)}},
        {Opcode::SelectAndScatter, {may(window), must(select), must(scatter)}},
        {Opcode::Send, transferring},
        {Opcode::SendDone, transferring},
        {Opcode::SetDimensionSize, only_dimensions},
        {Opcode::Slice, {must(slice)}},
        {Opcode::Sort, {must(dimensions), may(is_stable), must(to_apply)}},
        {Opcode::Topk, {must(k), always(largest), always(is_stable)}},
        {Opcode::Transpose, only_dimensions},
        {Opcode::TriangularSolve, {may(left_side), may(lower), may(unit_diagonal), may(transpose_a)}},
        {Opcode::While, {must(condition), must(body)}},
    };
  }();
  return *table;
}

}  // namespace

Shape AttributeWriter::operand_shape(size_t i) const {
  if (i >= instruction.operands.size()) return {};
  return computation.instructions[instruction.operands[i]].shape;
}

std::span<const AttributeUse> attributes_of(Opcode opcode) {
  const auto found = uses_by_opcode().find(opcode);
  if (found == uses_by_opcode().end()) return {};
  return found->second;
}

std::span<const AttributeUse> common_attributes() {
  static const auto* const uses = new Uses{may(parameter_replication),
                                           may(sharding),
                                           may(frontend_attributes),
                                           may(control_predecessors),
                                           may(statistics),
                                           may(origin),
                                           may(metadata),
                                           may(backend_config)};
  return *uses;
}

void read_attribute(const AttributeUse& use, AttributeReader& in) {
  if (use.field) {
    use.field->read(in.scan, in.wire);
  } else {
    use.grammar->read(in);
  }
}

void write_attribute(const AttributeUse& use, const AttributeWriter& out) {
  const AttributeGrammar& grammar = *use.grammar;
  const bool has = use.field ? use.field->is_set(out.wire, grammar.implied) : grammar.has(out);
  if (!has && use.presence == Presence::Optional) return;
  out.out += ", ";
  out.out += grammar.name;
  out.out += '=';
  if (use.field) {
    use.field->write(out.out, out.wire);
  } else {
    grammar.write(out);
  }
}

}  // namespace sapper::hlo
