#include "hlo/text_header.h"

#include <algorithm>

#include "hlo/proto.h"
#include "hlo/text_aliasing.h"
#include "hlo/text_metadata.h"
#include "hlo/text_shape.h"
#include "hlo/text_string.h"
#include "hlo/text_suggestion.h"
#include "hlo/text_utf8.h"

namespace sapper::hlo {
namespace {

using Bools = google::protobuf::RepeatedField<bool>;

// One flag, or a list of them in braces.
void read_flags(Scanner& scan, Bools* flags) {
  if (scan.peek() != '{') return flags->Add(scan.boolean("true, false or a list of them"));
  scan.list('{', '}', "in a list", [&] { flags->Add(scan.boolean("true or false")); });
}

void append_flags(std::string& out, const Bools& flags) {
  out += '{';
  for (int i = 0; i < flags.size(); ++i) {
    if (i > 0) out += ',';
    out += flags[i] ? "true" : "false";
  }
  out += '}';
}

void read_entry_layout(Scanner& scan, Module& module) {
  scan.expect('{', "to start the layout of the entry computation");
  scan.list('(', ')', "in the parameters of the entry computation",
            [&] { module.entry_parameter_layouts.push_back(read_shape(scan)); });
  scan.expect("->", "before the result of the entry computation");
  module.entry_result_layout = read_shape(scan);
  scan.expect('}', "to end the layout of the entry computation");
  module.has_entry_layout = true;
}

void append_entry_layout(std::string& out, const Module& module, bool with_layouts) {
  out += "{(";
  for (size_t i = 0; i < module.entry_parameter_layouts.size(); ++i) {
    if (i > 0) out += ", ";
    if (i > 0 && i % 5 == 0) fmt::format_to(std::back_inserter(out), "/*index={}*/", i);
    out += module.entry_parameter_layouts[i].to_text(with_layouts);
  }
  out += ")->";
  out += module.entry_result_layout.to_text(with_layouts);
  out += '}';
}

// { {"old"} : {"new"}, "text of a module that computes the one from the other" ... }
void read_recovery_table(Scanner& scan, proto::OriginalValueRecoveryTableProto* table) {
  const Scanner::Nesting nesting(scan);
  scan.expect('{', "to start a recovery table");
  while (scan.peek() == '{' && !scan.failed()) {
    auto* entry = table->add_entries();
    *entry->mutable_old_original_array() = read_original_array(scan);
    scan.expect(':', "between the old and the new original array");
    *entry->mutable_new_original_array() = read_original_array(scan);
    if (!scan.accept(',')) continue;
    const char* start = scan.cursor();
    const std::string text = scan.string("the text of a recovery module");
    if (scan.failed()) return;
    const Result<Module> module = text.find("origin_recovery_table") == std::string::npos
                                      ? parse_text(text)
                                      : fail(ErrorKind::BadInput, "a recovery module has no recovery table of its own");
    if (!module) return scan.fail_at(start, "in a recovery module: " + module.error().describe());
    entry->mutable_recovery_module()->ParseFromString(to_proto(*module));
  }
  scan.expect('}', "to end a recovery table");
}

void append_recovery_table(std::string& out, const proto::OriginalValueRecoveryTableProto& table,
                           const PrintOptions& options) {
  out += "{\n";
  for (const auto& entry : table.entries()) {
    out += "  ";
    append_original_array(out, entry.old_original_array());
    out += " : ";
    append_original_array(out, entry.new_original_array());
    const Result<Module> module = entry.has_recovery_module() ? parse_proto(entry.recovery_module().SerializeAsString())
                                                              : fail(ErrorKind::BadInput, "none");
    if (module) {
      out += ", ";
      append_quoted(out, to_text(*module, options));
    }
    out += '\n';
  }
  out += '}';
}

// One attribute of the header.
struct HeaderAttribute {
  std::string_view name;
  void (*read)(Scanner& scan, Module& module);
  bool (*has)(const Module& module);
  void (*write)(std::string& out, const Module& module, const PrintOptions& options);
};

using In = Scanner&;

constexpr auto write_true = [](std::string& out, const Module&, const PrintOptions&) { out += "true"; };

// In the order in which they are written.
constexpr HeaderAttribute header_attributes[] = {
    {"is_scheduled", [](In scan, Module& m) { m.is_scheduled = scan.boolean("true or false"); },
     [](const Module& m) { return m.is_scheduled; }, write_true},
    {"input_output_alias",
     [](In scan, Module& m) { *m.attributes.mutable_input_output_alias() = read_input_output_alias(scan); },
     [](const Module& m) { return m.attributes.input_output_alias().entries_size() > 0; },
     [](std::string& out, const Module& m, const PrintOptions&) {
       append_input_output_alias(out, m.attributes.input_output_alias());
     }},
    {"buffer_donor", [](In scan, Module& m) { *m.attributes.mutable_buffer_donor() = read_buffer_donor(scan); },
     [](const Module& m) { return m.attributes.buffer_donor().entries_size() > 0; },
     [](std::string& out, const Module& m, const PrintOptions&) {
       append_buffer_donor(out, m.attributes.buffer_donor());
     }},
    {"alias_passthrough_params",
     [](In scan, Module& m) { m.config.set_alias_passthrough_params(scan.boolean("true or false")); },
     [](const Module& m) { return m.config.alias_passthrough_params(); }, write_true},
    {"entry_computation_layout", read_entry_layout, [](const Module& m) { return m.has_entry_layout; },
     [](std::string& out, const Module& m, const PrintOptions& options) {
       append_entry_layout(out, m, options.layouts);
     }},
    {"allow_spmd_sharding_propagation_to_parameters",
     [](In scan, Module& m) { read_flags(scan, m.config.mutable_allow_spmd_sharding_propagation_to_parameters()); },
     [](const Module& m) { return m.config.allow_spmd_sharding_propagation_to_parameters_size() > 0; },
     [](std::string& out, const Module& m, const PrintOptions&) {
       append_flags(out, m.config.allow_spmd_sharding_propagation_to_parameters());
     }},
    {"allow_spmd_sharding_propagation_to_output",
     [](In scan, Module& m) { read_flags(scan, m.config.mutable_allow_spmd_sharding_propagation_to_output()); },
     [](const Module& m) { return m.config.allow_spmd_sharding_propagation_to_output_size() > 0; },
     [](std::string& out, const Module& m, const PrintOptions&) {
       append_flags(out, m.config.allow_spmd_sharding_propagation_to_output());
     }},
    {"replica_count", [](In scan, Module& m) { m.config.set_replica_count(scan.integer("an integer")); },
     [](const Module& m) { return m.config.replica_count() > 1; },
     [](std::string& out, const Module& m, const PrintOptions&) { out += std::to_string(m.config.replica_count()); }},
    {"num_partitions",
     [](In scan, Module& m) {
       m.config.set_num_partitions(scan.integer("an integer"));
       m.config.set_use_spmd_partitioning(m.config.num_partitions() > 1);
     },
     [](const Module& m) { return m.config.num_partitions() > 1; },
     [](std::string& out, const Module& m, const PrintOptions&) { out += std::to_string(m.config.num_partitions()); }},
    {"frontend_attributes",
     [](In scan, Module& m) { *m.attributes.mutable_frontend_attributes() = read_frontend_attributes(scan); },
     [](const Module& m) { return !m.attributes.frontend_attributes().map().empty(); },
     [](std::string& out, const Module& m, const PrintOptions&) {
       append_frontend_attributes(out, m.attributes.frontend_attributes());
     }},
    {"origin_recovery_table",
     [](In scan, Module& m) { read_recovery_table(scan, m.attributes.mutable_original_value_recovery_table()); },
     [](const Module& m) { return m.attributes.original_value_recovery_table().entries_size() > 0; },
     [](std::string& out, const Module& m, const PrintOptions& options) {
       append_recovery_table(out, m.attributes.original_value_recovery_table(), options);
     }},
};

std::string unknown_attribute(std::string_view name) {
  return fmt::format("a module has no attribute {}{}", name, suggestion(name, [](auto consider) {
                       for (const HeaderAttribute& attribute : header_attributes) consider(attribute.name);
                     }));
}

// NUMBER "name", one a line.
void read_names(Scanner& scan, google::protobuf::RepeatedPtrField<std::string>* names) {
  while (scan.peek() >= '0' && scan.peek() <= '9') {
    scan.integer("a number");
    *names->Add() = read_utf8(scan, "a name in quotes");
  }
}

void append_names(std::string& out, std::string_view title,
                  const google::protobuf::RepeatedPtrField<std::string>& names) {
  fmt::format_to(std::back_inserter(out), "\n{}\n", title);
  for (int i = 0; i < names.size(); ++i) {
    fmt::format_to(std::back_inserter(out), "{} ", i + 1);
    append_quoted(out, names[i]);
    out += '\n';
  }
}

// NUMBER {field=integer ...}, one a line; `set` gets each field.
template <class Set>
void read_records(Scanner& scan, Set set) {
  while (scan.peek() >= '0' && scan.peek() <= '9') {
    scan.integer("a number");
    scan.expect('{', "to start a record");
    set(std::string_view());
    while (scan.peek() != '}' && !scan.failed()) {
      scan.accept(',');
      const std::string_view field = scan.word("the name of a field");
      scan.expect('=', "after the name of a field");
      set(field);
    }
    scan.expect('}', "to end a record");
  }
}

void read_file_locations(Scanner& scan, proto::StackFrameIndexProto* frames) {
  proto::StackFrameIndexProto::FileLocation* location = nullptr;
  read_records(scan, [&](std::string_view field) {
    if (field.empty()) {
      location = frames->add_file_locations();
      return;
    }
    const int32_t value = scan.integer32("an integer");
    if (field == "file_name_id") return location->set_file_name_id(value);
    if (field == "function_name_id") return location->set_function_name_id(value);
    if (field == "line") return location->set_line(value);
    if (field == "end_line") return location->set_end_line(value);
    if (field == "column") return location->set_column(value);
    if (field == "end_column") return location->set_end_column(value);
    scan.fail(fmt::format("unknown field {} of a file location", field));
  });
}

// Text counts the frames from 1 and 1 is none: one more than the wire.
void read_frames(Scanner& scan, proto::StackFrameIndexProto* frames) {
  proto::StackFrameIndexProto::StackFrame* frame = nullptr;
  read_records(scan, [&](std::string_view field) {
    if (field.empty()) {
      frame = frames->add_stack_frames();
      return;
    }
    const int32_t value = scan.integer32("an integer");
    if (field == "file_location_id") return frame->set_file_location_id(value);
    if (field == "parent_frame_id") return frame->set_parent_frame_id(value - 1);
    scan.fail(fmt::format("unknown field {} of a stack frame", field));
  });
}

}  // namespace

void read_header(Scanner& scan, Module& module) {
  module.name = scan.name("the name of the module");
  std::vector<std::string_view> seen;
  while (scan.accept(',')) {
    const char* start = scan.cursor();
    const std::string_view name = scan.word("an attribute of the module");
    if (scan.failed()) return;
    const auto* attribute = std::find_if(std::begin(header_attributes), std::end(header_attributes),
                                         [&](const HeaderAttribute& known) { return known.name == name; });
    if (attribute == std::end(header_attributes)) return scan.fail_at(start, unknown_attribute(name));
    if (std::find(seen.begin(), seen.end(), name) != seen.end())
      return scan.fail_at(start, fmt::format("the attribute {} is stated twice", name));
    seen.push_back(name);
    scan.expect('=', "after the name of an attribute");
    attribute->read(scan, module);
  }
}

void append_header(std::string& out, const Module& module, const PrintOptions& options) {
  out += "HloModule ";
  out += word_from(module.name);
  for (const HeaderAttribute& attribute : header_attributes) {
    if (!attribute.has(module)) continue;
    fmt::format_to(std::back_inserter(out), ", {}=", attribute.name);
    attribute.write(out, module, options);
  }
  out += '\n';
}

void read_stack_frames(Scanner& scan, Module& module) {
  if (!scan.accept_word("FileNames")) return;
  auto* frames = module.attributes.mutable_stack_frame_index();
  const auto section = [&](std::string_view title) {
    if (!scan.accept_word(title)) scan.expected(title);
  };
  read_names(scan, frames->mutable_file_names());
  section("FunctionNames");
  read_names(scan, frames->mutable_function_names());
  section("FileLocations");
  read_file_locations(scan, frames);
  section("StackFrames");
  read_frames(scan, frames);
}

void append_stack_frames(std::string& out, const Module& module) {
  const auto& frames = module.attributes.stack_frame_index();
  if (frames.stack_frames_size() == 0) return;
  append_names(out, "FileNames", frames.file_names());
  append_names(out, "FunctionNames", frames.function_names());
  out += "\nFileLocations\n";
  for (int i = 0; i < frames.file_locations_size(); ++i) {
    const auto& location = frames.file_locations(i);
    fmt::format_to(std::back_inserter(out),
                   "{} {{file_name_id={} function_name_id={} line={} end_line={} column={} end_column={}}}\n", i + 1,
                   location.file_name_id(), location.function_name_id(), location.line(), location.end_line(),
                   location.column(), location.end_column());
  }
  out += "\nStackFrames\n";
  for (int i = 0; i < frames.stack_frames_size(); ++i)
    fmt::format_to(std::back_inserter(out), "{} {{file_location_id={} parent_frame_id={}}}\n", i + 1,
                   frames.stack_frames(i).file_location_id(), int64_t{frames.stack_frames(i).parent_frame_id()} + 1);
  out += '\n';
}

}  // namespace sapper::hlo
