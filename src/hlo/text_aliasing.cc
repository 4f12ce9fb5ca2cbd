#include "hlo/text_aliasing.h"

#include <fmt/ranges.h>

namespace sapper::hlo {

void read_shape_index(Scanner& scan, ShapeIndex* index) {
  scan.list('{', '}', "in a place in a tuple", [&] { index->Add(scan.integer("a tuple index")); });
}

void append_shape_index(std::string& out, const ShapeIndex& index) {
  fmt::format_to(std::back_inserter(out), "{{{}}}", fmt::join(index, ","));
}

void read_output_operand_aliasing(Scanner& scan, OutputOperandAliasing* aliasing) {
  scan.list('{', '}', "in output_to_operand_aliasing", [&] {
    auto* entry = aliasing->Add();
    read_shape_index(scan, entry->mutable_output_shape_index());
    scan.expect(':', "in {output}: (operand, {place})");
    scan.expect('(', "in {output}: (operand, {place})");
    entry->set_operand_index(scan.integer("the number of an operand"));
    scan.expect(',', "in {output}: (operand, {place})");
    read_shape_index(scan, entry->mutable_operand_shape_index());
    scan.expect(')', "in {output}: (operand, {place})");
  });
}

void append_output_operand_aliasing(std::string& out, const OutputOperandAliasing& aliasing) {
  out += '{';
  for (int i = 0; i < aliasing.size(); ++i) {
    if (i > 0) out += ", ";
    append_shape_index(out, aliasing[i].output_shape_index());
    fmt::format_to(std::back_inserter(out), ": ({}, ", aliasing[i].operand_index());
    append_shape_index(out, aliasing[i].operand_shape_index());
    out += ')';
  }
  out += '}';
}

proto::HloInputOutputAliasProto read_input_output_alias(Scanner& scan) {
  proto::HloInputOutputAliasProto alias;
  scan.list('{', '}', "in input_output_alias", [&] {
    auto* entry = alias.add_entries();
    read_shape_index(scan, entry->mutable_output_shape_index());
    scan.expect(':', "in {output}: (parameter, {place}, may-alias)");
    scan.expect('(', "in {output}: (parameter, {place}, may-alias)");
    entry->set_parameter_number(scan.integer("the number of a parameter"));
    scan.expect(',', "in {output}: (parameter, {place}, may-alias)");
    read_shape_index(scan, entry->mutable_parameter_shape_index());
    entry->set_kind(proto::MAY_ALIAS);
    if (scan.accept(',')) {
      if (scan.accept_word("must-alias")) {
        entry->set_kind(proto::MUST_ALIAS);
      } else if (!scan.accept_word("may-alias")) {
        scan.expected("may-alias or must-alias");
      }
    }
    scan.expect(')', "in {output}: (parameter, {place}, may-alias)");
  });
  return alias;
}

void append_input_output_alias(std::string& out, const proto::HloInputOutputAliasProto& alias) {
  out += '{';
  for (int i = 0; i < alias.entries_size(); ++i) {
    const auto& entry = alias.entries(i);
    out += i > 0 ? ", " : " ";
    append_shape_index(out, entry.output_shape_index());
    fmt::format_to(std::back_inserter(out), ": ({}, ", entry.parameter_number());
    append_shape_index(out, entry.parameter_shape_index());
    out += entry.kind() == proto::MUST_ALIAS ? ", must-alias)" : ", may-alias)";
  }
  out += " }";
}

proto::HloBufferDonorProto read_buffer_donor(Scanner& scan) {
  proto::HloBufferDonorProto donors;
  scan.list('{', '}', "in buffer_donor", [&] {
    auto* entry = donors.add_entries();
    scan.expect('(', "in (parameter, {place})");
    entry->set_parameter_number(scan.integer("the number of a parameter"));
    scan.expect(',', "in (parameter, {place})");
    read_shape_index(scan, entry->mutable_parameter_shape_index());
    scan.expect(')', "in (parameter, {place})");
  });
  return donors;
}

void append_buffer_donor(std::string& out, const proto::HloBufferDonorProto& donors) {
  out += '{';
  for (int i = 0; i < donors.entries_size(); ++i) {
    fmt::format_to(std::back_inserter(out), "{} ({}, ", i > 0 ? "," : "", donors.entries(i).parameter_number());
    append_shape_index(out, donors.entries(i).parameter_shape_index());
    out += ')';
  }
  out += " }";
}

}  // namespace sapper::hlo
