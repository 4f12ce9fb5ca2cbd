// Attributes that are fields of the wire with a grammar of their own: words without quotes, windows, shardings, ...
#include "hlo/proto.h"
#include "hlo/text_aliasing.h"
#include "hlo/text_grammars.h"
#include "hlo/text_metadata.h"
#include "hlo/text_operand_config.h"
#include "hlo/text_shape.h"
#include "hlo/text_sharding.h"
#include "hlo/text_string.h"
#include "hlo/text_window.h"

namespace sapper::hlo::attribute {
namespace {

using In = AttributeReader&;
using Out = const AttributeWriter&;

// A field that holds one of a few strings, written without quotes.
std::string read_one_of(Scanner& scan, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words)
    if (scan.accept_word(word)) return std::string(word);
  std::string known;
  for (const std::string_view word : words) known += (known.empty() ? "one of " : ", ") + std::string(word);
  scan.expected(known);
  return {};
}

// How floats compare: releases of 2026 write order=TOTAL, older ones type=TOTALORDER, which all of them read.
bool compares_in_total_order(Out out) {
  return out.wire.comparison_type() == "TOTALORDER" ||
         (out.wire.comparison_order() == "TOTAL" && is_float(out.operand_shape(0).element_type()));
}

}  // namespace

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

}  // namespace sapper::hlo::attribute
