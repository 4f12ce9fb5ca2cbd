#include "hlo/text_attributes.h"

#include <fmt/ranges.h>

#include <unordered_map>

#include "base/assert.h"
#include "hlo/proto.h"
#include "hlo/text_aliasing.h"
#include "hlo/text_fields.h"
#include "hlo/text_literal.h"
#include "hlo/text_metadata.h"
#include "hlo/text_operand_config.h"
#include "hlo/text_shape.h"
#include "hlo/text_sharding.h"
#include "hlo/text_string.h"
#include "hlo/text_window.h"

namespace sapper::hlo {
namespace {

using In = AttributeReader&;
using Out = const AttributeWriter&;

void append_integers(std::string& out, const std::vector<int64_t>& values) {
  fmt::format_to(std::back_inserter(out), "{{{}}}", fmt::join(values, ","));
}

// --- Attributes that are fields of Instruction
// ---------------------------------------------------------------------------

constexpr AttributeGrammar dimensions{.name = "dimensions",
                                      .read =
                                          [](In in) {
                                            in.scan.list('{', '}', "in a list", [&] {
                                              in.instruction.dimensions.push_back(in.scan.integer("an integer"));
                                            });
                                          },
                                      .has = [](Out out) { return !out.instruction.dimensions.empty(); },
                                      .write = [](Out out) { append_integers(out.out, out.instruction.dimensions); },
                                      .in_wire = false};
constexpr AttributeGrammar iota_dimension{
    .name = "iota_dimension",
    .read = [](In in) { in.instruction.dimensions.push_back(in.scan.integer("an integer")); },
    .has = [](Out out) { return !out.instruction.dimensions.empty(); },
    .write =
        [](Out out) {
          out.out += std::to_string(out.instruction.dimensions.empty() ? 0 : out.instruction.dimensions[0]);
        },
    .in_wire = false};
// The dimension that a reshape of dynamic shapes infers.
constexpr AttributeGrammar inferred_dimension{
    .name = "inferred_dimension",
    .read = [](In in) { in.instruction.dimensions.push_back(in.scan.integer("an integer")); },
    .has = [](Out out) { return !out.instruction.dimensions.empty(); },
    .write = [](Out out) { out.out += std::to_string(out.instruction.dimensions[0]); },
    .in_wire = false};
constexpr AttributeGrammar index{.name = "index",
                                 .read = [](In in) { in.instruction.tuple_index = in.scan.integer("an integer"); },
                                 .has = [](Out) { return true; },
                                 .write = [](Out out) { out.out += std::to_string(out.instruction.tuple_index); },
                                 .in_wire = false};
constexpr AttributeGrammar metadata{
    .name = "metadata",
    .read = [](In in) { in.instruction.metadata = std::make_shared<proto::OpMetadata>(read_metadata(in.scan)); },
    .has =
        [](Out out) {
          return out.options.metadata && out.instruction.metadata && says_anything(*out.instruction.metadata);
        },
    .write = [](Out out) { append_metadata(out.out, *out.instruction.metadata); },
    .in_wire = false};

// --- Called computations: each attribute is one place in Instruction::called
// ---------------------------------------------

template <size_t slot>
void read_called(In in) {
  in.names.read_called(in.instruction, slot);
}
template <size_t slot>
bool has_called(Out out) {
  return out.instruction.called.size() > slot;
}
template <size_t slot>
void write_called(Out out) {
  if (has_called<slot>(out)) out.names.append_computation(out.out, out.instruction.called[slot]);
}
template <size_t slot>
constexpr AttributeGrammar called(std::string_view name) {
  return {
      .name = name, .read = read_called<slot>, .has = has_called<slot>, .write = write_called<slot>, .in_wire = false};
}

void read_called_list(In in) {
  in.scan.list('{', '}', "in a list of computations",
               [&] { in.names.read_called(in.instruction, in.instruction.called.size()); });
}
void write_called_list(Out out) {
  out.out += '{';
  for (size_t i = 0; i < out.instruction.called.size(); ++i) {
    if (i > 0) out.out += ", ";
    out.names.append_computation(out.out, out.instruction.called[i]);
  }
  out.out += '}';
}

constexpr AttributeGrammar to_apply = called<0>("to_apply");
constexpr AttributeGrammar calls = called<0>("calls");
constexpr AttributeGrammar body = called<0>("body");
constexpr AttributeGrammar condition = called<1>("condition");
constexpr AttributeGrammar select = called<0>("select");
constexpr AttributeGrammar scatter = called<1>("scatter");
constexpr AttributeGrammar called_computations{.name = "called_computations",
                                               .read = read_called_list,
                                               .has = has_called<0>,
                                               .write = write_called_list,
                                               .in_wire = false};
// A custom-call that calls one computation may name it so; it is written as a list of one.
constexpr AttributeGrammar only_called_computation{
    .name = "to_apply", .read = read_called<0>, .has = [](Out) { return false; }, .in_wire = false};
// A conditional on a flag names its two branches, one on an integer lists them.
bool chooses_by_flag(Out out) {
  return out.instruction.called.size() == 2 && out.operand_shape(0).element_type() == ElementType::Pred;
}
constexpr AttributeGrammar true_computation{.name = "true_computation",
                                            .read = read_called<0>,
                                            .has = chooses_by_flag,
                                            .write = write_called<0>,
                                            .in_wire = false};
constexpr AttributeGrammar false_computation{.name = "false_computation",
                                             .read = read_called<1>,
                                             .has = chooses_by_flag,
                                             .write = write_called<1>,
                                             .in_wire = false};
constexpr AttributeGrammar branch_computations{.name = "branch_computations",
                                               .read = read_called_list,
                                               .has = [](Out out) { return !chooses_by_flag(out); },
                                               .write = write_called_list,
                                               .in_wire = false};

// --- Words: fields of the wire that hold one of a few strings, written without quotes
// ------------------------------------

std::string read_one_of(Scanner& scan, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words)
    if (scan.accept_word(word)) return std::string(word);
  std::string known;
  for (const std::string_view word : words) known += (known.empty() ? "one of " : ", ") + std::string(word);
  scan.expected(known);
  return {};
}

constexpr AttributeGrammar direction{
    .name = "direction",
    .read =
        [](In in) {
          in.wire.set_comparison_direction(read_one_of(in.scan, {"EQ", "NE", "GE", "GT", "LE", "LT"}));
        },
    .has = [](Out) { return true; },
    .write = [](Out out) { out.out += out.wire.comparison_direction(); }};
constexpr AttributeGrammar kind{
    .name = "kind",
    .read =
        [](In in) {
          in.wire.set_fusion_kind(read_one_of(in.scan, {"kLoop", "kInput", "kOutput", "kCustom"}));
        },
    .has = [](Out) { return true; },
    .write = [](Out out) { out.out += out.wire.fusion_kind().empty() ? "kLoop" : out.wire.fusion_kind(); }};

// How floats compare: releases of 2026 write order=TOTAL, older ones type=TOTALORDER, which all of them read.
bool compares_in_total_order(Out out) {
  return out.wire.comparison_type() == "TOTALORDER" ||
         (out.wire.comparison_order() == "TOTAL" && is_float(out.operand_shape(0).element_type()));
}
constexpr AttributeGrammar comparison_type{
    .name = "type",
    .read =
        [](In in) {
          in.wire.set_comparison_type(read_one_of(in.scan, {"TOTALORDER", "FLOAT", "SIGNED", "UNSIGNED"}));
        },
    .has = compares_in_total_order,
    .write = [](Out out) { out.out += "TOTALORDER"; }};
constexpr AttributeGrammar comparison_order{
    .name = "order",
    .read =
        [](In in) {
          if (read_one_of(in.scan, {"TOTAL", "PARTIAL"}) == "TOTAL" && !in.instruction.operands.empty() &&
              is_float(in.computation.instructions[in.instruction.operands[0]].shape.element_type()))
            in.wire.set_comparison_type("TOTALORDER");
        },
    .has = [](Out) { return false; }};

// --- Attributes with grammars of their own
// -------------------------------------------------------------------------------

constexpr AttributeGrammar window{.name = "window",
                                  .read = [](In in) { *in.wire.mutable_window() = read_window(in.scan); },
                                  .has = [](Out out) { return out.wire.window().dimensions_size() > 0; },
                                  .write = [](Out out) { append_window(out.out, out.wire.window()); }};
constexpr AttributeGrammar dim_labels{
    .name = "dim_labels",
    .read = [](In in) { *in.wire.mutable_convolution_dimension_numbers() = read_dim_labels(in.scan); },
    .has = [](Out out) { return out.wire.has_convolution_dimension_numbers(); },
    .write = [](Out out) { append_dim_labels(out.out, out.wire.convolution_dimension_numbers()); }};
constexpr AttributeGrammar padding{.name = "padding",
                                   .read = [](In in) { *in.wire.mutable_padding_config() = read_padding(in.scan); },
                                   .has = [](Out out) { return out.wire.padding_config().dimensions_size() > 0; },
                                   .write = [](Out out) { append_padding(out.out, out.wire.padding_config()); }};
constexpr AttributeGrammar slice{.name = "slice",
                                 .read = [](In in) { read_slice(in.scan, in.wire.mutable_slice_dimensions()); },
                                 .has = [](Out out) { return out.wire.slice_dimensions_size() > 0; },
                                 .write = [](Out out) { append_slice(out.out, out.wire.slice_dimensions()); }};
constexpr AttributeGrammar replica_groups{.name = "replica_groups",
                                          .read = [](In in) { read_device_groups(in.scan, &in.wire); },
                                          .has = [](Out out) { return has_device_groups(out.wire); },
                                          .write = [](Out out) { append_device_groups(out.out, out.wire); }};
constexpr AttributeGrammar source_target_pairs{
    .name = "source_target_pairs",
    .read =
        [](In in) {
          in.scan.list('{', '}', "in source_target_pairs", [&] {
            auto* pair = in.wire.add_source_target_pairs();
            in.scan.expect('{', "to start a pair");
            pair->set_source(in.scan.integer("a device number"));
            in.scan.expect(',', "in a pair");
            pair->set_target(in.scan.integer("a device number"));
            in.scan.expect('}', "to end a pair");
          });
        },
    .has = [](Out out) { return out.wire.source_target_pairs_size() > 0; },
    .write =
        [](Out out) {
          out.out += '{';
          for (int i = 0; i < out.wire.source_target_pairs_size(); ++i)
            fmt::format_to(std::back_inserter(out.out), "{}{{{},{}}}", i > 0 ? "," : "",
                           out.wire.source_target_pairs(i).source(), out.wire.source_target_pairs(i).target());
          out.out += '}';
        }};
// The sizes of the slices that a collective-permute moves, a list for each pair; one list after the other on the wire.
constexpr AttributeGrammar permute_slice_sizes{
    .name = "slice_sizes",
    .read =
        [](In in) {
          in.scan.list('{', '}', "in slice_sizes", [&] {
            in.scan.list('{', '}', "in the sizes of a slice",
                         [&] { in.wire.add_dynamic_slice_sizes(in.scan.integer("a size")); });
          });
        },
    .has = [](Out out) { return out.wire.dynamic_slice_sizes_size() > 0; },
    .write =
        [](Out out) {
          const auto rank = static_cast<int>(std::max<size_t>(out.operand_shape(0).rank(), 1));
          for (int i = 0; i < out.wire.dynamic_slice_sizes_size(); ++i) {
            out.out += i == 0 ? "{{" : i % rank == 0 ? "},{" : ",";
            out.out += std::to_string(out.wire.dynamic_slice_sizes(i));
          }
          out.out += "}}";
        }};
constexpr AttributeGrammar output_to_operand_aliasing{
    .name = "output_to_operand_aliasing",
    .read = [](In in) { read_output_operand_aliasing(in.scan, in.wire.mutable_output_operand_aliasing()); },
    .has = [](Out out) { return out.wire.output_operand_aliasing_size() > 0; },
    .write = [](Out out) { append_output_operand_aliasing(out.out, out.wire.output_operand_aliasing()); }};
constexpr AttributeGrammar operand_layout_constraints{
    .name = "operand_layout_constraints",
    .read =
        [](In in) {
          in.wire.set_constrain_layout(true);
          in.scan.list('{', '}', "in a list of shapes",
                       [&] { to_proto(read_shape(in.scan), in.wire.add_operand_shapes_with_layout()); });
        },
    .has = [](Out out) { return out.wire.constrain_layout(); },
    .write =
        [](Out out) {
          out.out += '{';
          for (int i = 0; i < out.wire.operand_shapes_with_layout_size(); ++i) {
            if (i > 0) out.out += ", ";
            append_wire_shape(out.out, out.wire.operand_shapes_with_layout(i));
          }
          out.out += '}';
        }};
constexpr AttributeGrammar outfeed_shape{
    .name = "outfeed_shape",
    .read = [](In in) { to_proto(read_shape(in.scan), in.wire.mutable_outfeed_shape()); },
    .has = [](Out out) { return out.wire.has_outfeed_shape(); },
    .write = [](Out out) { append_wire_shape(out.out, out.wire.outfeed_shape()); }};
constexpr AttributeGrammar literal{.name = "literal",
                                   .read = [](In in) { in.instruction.literal = read_shaped_literal(in.scan); },
                                   .has = [](Out out) { return out.instruction.literal != nullptr; },
                                   .write = [](Out out) { append_shaped_literal(out.out, *out.instruction.literal); },
                                   .in_wire = false};
constexpr AttributeGrammar domain{
    .name = "domain",
    .read =
        [](In in) {
          in.scan.expect("{", "to start a domain");
          while (in.scan.peek() != '}' && !in.scan.failed()) {
            const std::string part = read_one_of(in.scan, {"kind", "entry", "exit"});
            in.scan.expect('=', "after the name of a part of a domain");
            if (part == "kind" && in.scan.string("the kind of a domain") != "sharding")
              in.scan.fail("unknown kind of domain");
            // The wire names the two sides the other way round.
            if (part == "entry") *in.wire.mutable_domain_exit_sharding() = read_sharding(in.scan, in.instruction.shape);
            if (part == "exit") *in.wire.mutable_domain_entry_sharding() = read_sharding(in.scan, in.instruction.shape);
            in.scan.accept(',');
          }
          in.scan.expect('}', "to end a domain");
        },
    .has = [](Out) { return true; },
    .write =
        [](Out out) {
          out.out += "{kind=\"sharding\", entry=";
          append_sharding(out.out, out.wire.domain_exit_sharding());
          out.out += ", exit=";
          append_sharding(out.out, out.wire.domain_entry_sharding());
          out.out += '}';
        },
    .depends_on_place = true};
constexpr AttributeGrammar result_accuracy{
    .name = "result_accuracy",
    .read = [](In in) { *in.wire.mutable_result_accuracy() = read_result_accuracy(in.scan); },
    .has =
        [](Out out) {
          const auto& accuracy = out.wire.result_accuracy();
          return accuracy.has_tolerance() || accuracy.mode() != proto::ResultAccuracy::DEFAULT;
        },
    .write = [](Out out) { append_result_accuracy(out.out, out.wire.result_accuracy()); }};
constexpr AttributeGrammar sparsity_config{
    .name = "sparsity_config",
    .read = [](In in) { *in.wire.mutable_sparsity_config() = read_sparsity(in.scan); },
    .has = [](Out out) { return out.wire.sparsity_config().has_lhs() || out.wire.sparsity_config().has_rhs(); },
    .write = [](Out out) { append_sparsity(out.out, out.wire.sparsity_config()); }};
constexpr AttributeGrammar block_scaling_config{
    .name = "block_scaling_config",
    .read = [](In in) { *in.wire.mutable_block_scaling_config() = read_block_scaling(in.scan); },
    .has =
        [](Out out) { return out.wire.block_scaling_config().has_lhs() || out.wire.block_scaling_config().has_rhs(); },
    .write = [](Out out) { append_block_scaling(out.out, out.wire.block_scaling_config()); }};
constexpr AttributeGrammar is_associative{
    .name = "is_associative",
    .read =
        [](In in) {
          in.wire.set_is_associative(in.scan.boolean("true or false") ? proto::TRI_STATE_TRUE : proto::TRI_STATE_FALSE);
        },
    .has = [](Out out) { return out.wire.is_associative() == proto::TRI_STATE_TRUE; },
    .write = [](Out out) { out.out += "true"; }};
// Read for the texts of a few releases of 2025 that wrote it; it says nothing that the other attributes do not.
constexpr AttributeGrammar mode{
    .name = "mode", .read = [](In in) { in.scan.word("a mode"); }, .has = [](Out) { return false; }, .in_wire = false};

constexpr AttributeGrammar sharding{
    .name = "sharding",
    .read = [](In in) { *in.wire.mutable_sharding() = read_sharding(in.scan, in.instruction.shape); },
    .has = [](Out out) { return out.wire.has_sharding(); },
    .write = [](Out out) { append_sharding(out.out, out.wire.sharding()); },
    .depends_on_place = true};
constexpr AttributeGrammar frontend_attributes{
    .name = "frontend_attributes",
    .read = [](In in) { *in.wire.mutable_frontend_attributes() = read_frontend_attributes(in.scan); },
    .has = [](Out out) { return !out.wire.frontend_attributes().map().empty(); },
    .write = [](Out out) { append_frontend_attributes(out.out, out.wire.frontend_attributes()); }};
constexpr AttributeGrammar statistics{
    .name = "statistics",
    .read = [](In in) { *in.wire.mutable_statistics_viz() = read_statistics(in.scan); },
    .has = [](Out out) { return out.wire.statistics_viz().statistics_size() > 0; },
    .write = [](Out out) { append_statistics(out.out, out.wire.statistics_viz()); }};
constexpr AttributeGrammar origin{
    .name = "origin",
    .read = [](In in) { *in.wire.mutable_original_value() = read_original_value(in.scan); },
    .has = [](Out out) { return out.wire.has_original_value(); },
    .write = [](Out out) { append_original_value(out.out, out.wire.original_value()); }};
constexpr AttributeGrammar control_predecessors{
    .name = "control-predecessors",
    .read =
        [](In in) {
          in.scan.list('{', '}', "in control-predecessors",
                       [&] { in.wire.add_control_predecessor_ids(in.names.read_instruction_id()); });
        },
    .has = [](Out out) { return out.wire.control_predecessor_ids_size() > 0; },
    .write =
        [](Out out) {
          out.out += '{';
          bool first = true;
          for (const int64_t id : out.wire.control_predecessor_ids()) {
            std::string name;
            if (!out.names.append_instruction_with_id(name, id)) continue;
            if (!first) out.out += ", ";
            first = false;
            out.out += name;
          }
          out.out += '}';
        },
    .depends_on_place = true};
constexpr AttributeGrammar backend_config{
    .name = "backend_config",
    .read =
        [](In in) {
          if (in.scan.peek() == '{') {
            in.wire.set_backend_config(std::string(in.scan.braced()));
          } else {
            in.wire.set_backend_config(in.scan.string("a string or an object in braces"));
          }
        },
    .has =
        [](Out out) {
          return out.options.backend_config && (!out.wire.backend_config().empty() ||
                                                out.names.payload(out.wire.backend_config_payload()) != nullptr);
        },
    .write =
        [](Out out) {
          const std::string* payload = out.names.payload(out.wire.backend_config_payload());
          append_object_or_quoted(out.out, out.wire.backend_config().empty() ? *payload : out.wire.backend_config());
        }};

// --- Plain fields
// --------------------------------------------------------------------------------------------------------

constexpr AttributeGrammar plain(std::string_view name, std::string_view field, int64_t implied = 0) {
  return {.name = name, .field = field, .implied = implied};
}
constexpr AttributeGrammar plain(std::string_view name) { return plain(name, name); }

constexpr AttributeGrammar channel_id = plain("channel_id");
constexpr AttributeGrammar constrain_layout = plain("constrain_layout");
constexpr AttributeGrammar use_global_device_ids = plain("use_global_device_ids");
constexpr AttributeGrammar has_dynamic_root = plain("has_dynamic_root");
constexpr AttributeGrammar epsilon = plain("epsilon");
constexpr AttributeGrammar feature_index = plain("feature_index");
constexpr AttributeGrammar fft_type = plain("fft_type");
constexpr AttributeGrammar fft_length = plain("fft_length");
constexpr AttributeGrammar is_host_transfer = plain("is_host_transfer");
constexpr AttributeGrammar is_composite = plain("is_composite");
constexpr AttributeGrammar is_stable = plain("is_stable");
constexpr AttributeGrammar k = plain("k");
constexpr AttributeGrammar largest = plain("largest");
constexpr AttributeGrammar num_carries = plain("num_carries");
constexpr AttributeGrammar is_reverse = plain("is_reverse");
constexpr AttributeGrammar distribution = plain("distribution");
constexpr AttributeGrammar rng_algorithm = plain("algorithm", "rng_algorithm");
constexpr AttributeGrammar delta = plain("delta");
constexpr AttributeGrammar exponent_bits = plain("exponent_bits");
constexpr AttributeGrammar mantissa_bits = plain("mantissa_bits");
constexpr AttributeGrammar infeed_config = plain("infeed_config");
constexpr AttributeGrammar outfeed_config = plain("outfeed_config");
constexpr AttributeGrammar dynamic_slice_sizes = plain("dynamic_slice_sizes");
constexpr AttributeGrammar feature_group_count = plain("feature_group_count", "feature_group_count", 1);
constexpr AttributeGrammar batch_group_count = plain("batch_group_count", "batch_group_count", 1);
constexpr AttributeGrammar convolution_kind = plain("convolution_kind", "conv_kind");
constexpr AttributeGrammar operand_precision = plain("operand_precision", "precision_config.operand_precision");
constexpr AttributeGrammar dot_algorithm = plain("algorithm", "precision_config.algorithm");
constexpr AttributeGrammar left_side = plain("left_side", "triangular_solve_options.left_side");
constexpr AttributeGrammar lower = plain("lower", "triangular_solve_options.lower");
constexpr AttributeGrammar unit_diagonal = plain("unit_diagonal", "triangular_solve_options.unit_diagonal");
constexpr AttributeGrammar transpose_a = plain("transpose_a", "triangular_solve_options.transpose_a");
constexpr AttributeGrammar cholesky_lower = plain("lower", "cholesky_options.lower");
constexpr AttributeGrammar lhs_contracting =
    plain("lhs_contracting_dims", "dot_dimension_numbers.lhs_contracting_dimensions");
constexpr AttributeGrammar rhs_contracting =
    plain("rhs_contracting_dims", "dot_dimension_numbers.rhs_contracting_dimensions");
constexpr AttributeGrammar lhs_batch = plain("lhs_batch_dims", "dot_dimension_numbers.lhs_batch_dimensions");
constexpr AttributeGrammar rhs_batch = plain("rhs_batch_dims", "dot_dimension_numbers.rhs_batch_dimensions");
constexpr AttributeGrammar ragged_lhs_contracting =
    plain("lhs_contracting_dims", "ragged_dot_dimension_numbers.dot_dimension_numbers.lhs_contracting_dimensions");
constexpr AttributeGrammar ragged_rhs_contracting =
    plain("rhs_contracting_dims", "ragged_dot_dimension_numbers.dot_dimension_numbers.rhs_contracting_dimensions");
constexpr AttributeGrammar ragged_lhs_batch =
    plain("lhs_batch_dims", "ragged_dot_dimension_numbers.dot_dimension_numbers.lhs_batch_dimensions");
constexpr AttributeGrammar ragged_rhs_batch =
    plain("rhs_batch_dims", "ragged_dot_dimension_numbers.dot_dimension_numbers.rhs_batch_dimensions");
constexpr AttributeGrammar lhs_ragged = plain("lhs_ragged_dims", "ragged_dot_dimension_numbers.lhs_ragged_dimensions");
constexpr AttributeGrammar rhs_group = plain("rhs_group_dims", "ragged_dot_dimension_numbers.rhs_group_dimensions");
constexpr AttributeGrammar offset_dims = plain("offset_dims", "gather_dimension_numbers.offset_dims");
constexpr AttributeGrammar collapsed_slice_dims =
    plain("collapsed_slice_dims", "gather_dimension_numbers.collapsed_slice_dims");
constexpr AttributeGrammar start_index_map = plain("start_index_map", "gather_dimension_numbers.start_index_map");
constexpr AttributeGrammar operand_batching_dims =
    plain("operand_batching_dims", "gather_dimension_numbers.operand_batching_dims");
constexpr AttributeGrammar start_indices_batching_dims =
    plain("start_indices_batching_dims", "gather_dimension_numbers.start_indices_batching_dims");
constexpr AttributeGrammar gather_index_vector_dim =
    plain("index_vector_dim", "gather_dimension_numbers.index_vector_dim");
constexpr AttributeGrammar gather_slice_sizes = plain("slice_sizes", "gather_slice_sizes");
constexpr AttributeGrammar update_window_dims =
    plain("update_window_dims", "scatter_dimension_numbers.update_window_dims");
constexpr AttributeGrammar inserted_window_dims =
    plain("inserted_window_dims", "scatter_dimension_numbers.inserted_window_dims");
constexpr AttributeGrammar scatter_dims_to_operand_dims =
    plain("scatter_dims_to_operand_dims", "scatter_dimension_numbers.scatter_dims_to_operand_dims");
constexpr AttributeGrammar input_batching_dims =
    plain("input_batching_dims", "scatter_dimension_numbers.input_batching_dims");
constexpr AttributeGrammar scatter_indices_batching_dims =
    plain("scatter_indices_batching_dims", "scatter_dimension_numbers.scatter_indices_batching_dims");
constexpr AttributeGrammar scatter_index_vector_dim =
    plain("index_vector_dim", "scatter_dimension_numbers.index_vector_dim");
constexpr AttributeGrammar indices_are_sorted = plain("indices_are_sorted");
constexpr AttributeGrammar unique_indices = plain("unique_indices");
constexpr AttributeGrammar cross_program_prefetch_index = plain("cross_program_prefetch_index");
constexpr AttributeGrammar async_execution_thread = plain("async_execution_thread");
constexpr AttributeGrammar custom_call_target = plain("custom_call_target");
constexpr AttributeGrammar custom_call_has_side_effect = plain("custom_call_has_side_effect");
constexpr AttributeGrammar padding_type = plain("padding_type");
constexpr AttributeGrammar schedule = plain("schedule", "custom_call_schedule");
constexpr AttributeGrammar api_version = plain("api_version", "custom_call_api_version", 1);
constexpr AttributeGrammar parameter_replication =
    plain("parameter_replication", "parameter_replication.replicated_at_leaf_buffers");

// --- Which opcode takes which
// --------------------------------------------------------------------------------------------

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

std::string_view default_comparison_type(ElementType type) {
  switch (element_class(type)) {
    case ElementClass::Signed: return "SIGNED";
    case ElementClass::Unsigned:
    case ElementClass::Pred: return "UNSIGNED";
    default: return "FLOAT";
  }
}

void preset_precisions(Attributes& wire, size_t operands) {
  for (size_t i = 0; i < operands; ++i)
    wire.mutable_precision_config()->add_operand_precision(proto::PrecisionConfig::DEFAULT);
}

void preset_group_counts(Attributes& wire) {
  wire.set_feature_group_count(1);
  wire.set_batch_group_count(1);
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

bool preset_attributes(const Computation& computation, const Instruction& instruction, Attributes& wire) {
  switch (instruction.opcode) {
    case Opcode::Convolution:
      preset_group_counts(wire);
      preset_precisions(wire, 2);
      wire.mutable_window();
      return true;
    case Opcode::Dot:
    case Opcode::RaggedDot:
    case Opcode::ScaledDot: preset_precisions(wire, 2); return true;
    case Opcode::CustomCall:
      preset_group_counts(wire);
      preset_precisions(wire, instruction.operands.size());
      wire.set_custom_call_api_version(proto::API_VERSION_ORIGINAL);
      return true;
    case Opcode::Compare: {
      if (instruction.operands.empty()) return false;
      const Shape& operand = computation.instructions[instruction.operands[0]].shape;
      wire.set_comparison_type(std::string(default_comparison_type(operand.element_type())));
      return true;
    }
    case Opcode::Topk:
      wire.set_largest(true);
      wire.set_is_stable(true);
      return true;
    case Opcode::Scan: wire.set_is_associative(proto::TRI_STATE_FALSE); return true;
    case Opcode::ReduceWindow:
    case Opcode::SelectAndScatter: wire.mutable_window(); return true;
    case Opcode::Cholesky: wire.mutable_cholesky_options(); return true;
    case Opcode::TriangularSolve: wire.mutable_triangular_solve_options(); return true;
    default: return false;
  }
}

}  // namespace sapper::hlo
