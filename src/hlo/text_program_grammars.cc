// Attributes that are fields of Instruction, and those that name called computations or other instructions.
#include <fmt/ranges.h>

#include "hlo/text_grammars.h"
#include "hlo/text_literal.h"
#include "hlo/text_metadata.h"

namespace sapper::hlo::attribute {
namespace {

using In = AttributeReader&;
using Out = const AttributeWriter&;

void append_integers(std::string& out, const std::vector<int64_t>& values) {
  fmt::format_to(std::back_inserter(out), "{{{}}}", fmt::join(values, ","));
}

// Each attribute that names a computation is one place in Instruction::called.
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

// A conditional on a flag names its two branches, one on an integer lists them.
bool chooses_by_flag(Out out) {
  return out.instruction.called.size() == 2 && out.operand_shape(0).element_type() == ElementType::Pred;
}

}  // namespace

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

constexpr AttributeGrammar literal{.name = "literal",
                                   .read = [](In in) { in.instruction.literal = read_shaped_literal(in.scan); },
                                   .has = [](Out out) { return out.instruction.literal != nullptr; },
                                   .write = [](Out out) { append_shaped_literal(out.out, *out.instruction.literal); },
                                   .in_wire = false};

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

}  // namespace sapper::hlo::attribute
