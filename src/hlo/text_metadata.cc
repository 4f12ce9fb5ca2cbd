#include "hlo/text_metadata.h"

#include <algorithm>
#include <map>
#include <vector>

#include "hlo/text_aliasing.h"
#include "hlo/text_number.h"
#include "hlo/text_string.h"
#include "hlo/text_utf8.h"

namespace sapper::hlo {
namespace {

using proto::OpMetadata;

// The fields of metadata, in the order in which they are written.
struct TextField {
  std::string_view name;
  const std::string& (OpMetadata::*get)() const;
  std::string* (OpMetadata::*edit)();
};
struct NumberField {
  std::string_view name;
  int32_t (OpMetadata::*get)() const;
  void (OpMetadata::*set)(int32_t);
};
constexpr TextField leading_texts[] = {
    {"op_type", &OpMetadata::op_type, &OpMetadata::mutable_op_type},
    {"op_name", &OpMetadata::op_name, &OpMetadata::mutable_op_name},
    {"source_file", &OpMetadata::source_file, &OpMetadata::mutable_source_file},
};
constexpr NumberField numbers[] = {
    {"source_line", &OpMetadata::source_line, &OpMetadata::set_source_line},
    {"source_end_line", &OpMetadata::source_end_line, &OpMetadata::set_source_end_line},
    {"source_column", &OpMetadata::source_column, &OpMetadata::set_source_column},
    {"source_end_column", &OpMetadata::source_end_column, &OpMetadata::set_source_end_column},
};
constexpr TextField trailing_texts[] = {
    {"deduplicated_name", &OpMetadata::deduplicated_name, &OpMetadata::mutable_deduplicated_name},
    {"scheduling_name", &OpMetadata::scheduling_name, &OpMetadata::mutable_scheduling_name},
};
constexpr NumberField stack_frame[] = {
    {"stack_frame_id", &OpMetadata::stack_frame_id, &OpMetadata::set_stack_frame_id},
};

template <class Fields>
bool read_text_field(Scanner& scan, std::string_view name, const Fields& fields, OpMetadata& metadata) {
  for (const TextField& field : fields) {
    if (field.name != name) continue;
    *(metadata.*field.edit)() = read_utf8(scan, "a string");
    return true;
  }
  return false;
}

template <class Fields>
bool read_number_field(Scanner& scan, std::string_view name, const Fields& fields, OpMetadata& metadata) {
  for (const NumberField& field : fields) {
    if (field.name != name) continue;
    (metadata.*field.set)(scan.integer32("an integer"));
    return true;
  }
  return false;
}

void read_profile_types(Scanner& scan, OpMetadata& metadata) {
  scan.list('{', '}', "in profile types", [&] {
    const int64_t type = scan.integer("the number of a profile type");
    if (type < 0 || type > INT32_MAX || !proto::ProfileType_IsValid(static_cast<int>(type)))
      return scan.fail(fmt::format("there is no profile type {}", type));
    metadata.add_profile_type(static_cast<proto::ProfileType>(type));
  });
}

// Writes the fields of metadata that are set, with a blank between.
class MetadataWriter {
 public:
  MetadataWriter(std::string& out, const OpMetadata& metadata) : out_(out), metadata_(metadata) {}

  template <class Fields>
  void texts(const Fields& fields) {
    for (const TextField& field : fields) text(field.name, (metadata_.*field.get)());
  }
  template <class Fields>
  void integers(const Fields& fields) {
    for (const NumberField& field : fields) {
      if (const int32_t value = (metadata_.*field.get)(); value != 0) {
        begin(field.name);
        out_ += std::to_string(value);
      }
    }
  }
  void text(std::string_view name, const std::string& value) {
    if (value.empty()) return;
    begin(name);
    append_quoted(out_, value);
  }
  void begin(std::string_view name) {
    if (!first_) out_ += ' ';
    first_ = false;
    out_ += name;
    out_ += '=';
  }

 private:
  std::string& out_;
  const OpMetadata& metadata_;
  bool first_ = true;
};

// A tree of tuples with an array at each leaf; `index` is the path to where the cursor is.
void read_original_elements(Scanner& scan, std::vector<int64_t>& index, proto::OriginalValueProto* value) {
  const Scanner::Nesting nesting(scan);
  if (scan.failed()) return;
  if (scan.peek() == '(') {
    index.push_back(-1);
    scan.list('(', ')', "in an original value", [&] {
      ++index.back();
      read_original_elements(scan, index, value);
    });
    index.pop_back();
    return;
  }
  auto* element = value->add_elements();
  for (const int64_t i : index) element->add_shape_index(i);
  proto::OriginalArrayProto array = read_original_array(scan);
  if (!array.instruction_name().empty()) *element->mutable_original_array() = std::move(array);
}

}  // namespace

proto::OpMetadata read_metadata(Scanner& scan) {
  OpMetadata metadata;
  scan.expect('{', "to start metadata");
  while (scan.peek() != '}' && !scan.failed()) {
    scan.accept(',');
    const char* start = scan.cursor();
    const std::string_view name = scan.word("a field of metadata");
    scan.expect('=', "after the name of a field of metadata");
    if (read_text_field(scan, name, leading_texts, metadata) || read_number_field(scan, name, numbers, metadata) ||
        read_text_field(scan, name, trailing_texts, metadata) || read_number_field(scan, name, stack_frame, metadata))
      continue;
    if (name == "profile_type") {
      read_profile_types(scan, metadata);
    } else if (name == "metadata_payload") {
      metadata.mutable_metadata_payload()->set_value(scan.string("a string"));
    } else {
      scan.fail_at(start, fmt::format("unknown field '{}' of metadata", name));
    }
  }
  scan.expect('}', "to end metadata");
  return metadata;
}

void append_metadata(std::string& out, const proto::OpMetadata& metadata) {
  out += '{';
  MetadataWriter writer(out, metadata);
  writer.texts(leading_texts);
  writer.integers(numbers);
  if (metadata.profile_type_size() > 0) {
    writer.begin("profile_type");
    for (int i = 0; i < metadata.profile_type_size(); ++i)
      fmt::format_to(std::back_inserter(out), "{}{}", i == 0 ? '{' : ',', static_cast<int>(metadata.profile_type(i)));
    out += '}';
  }
  writer.texts(trailing_texts);
  writer.integers(stack_frame);
  if (metadata.metadata_payload().payload_source_case() == proto::Payload::kValue)
    writer.text("metadata_payload", metadata.metadata_payload().value());
  out += '}';
}

bool says_anything(const proto::OpMetadata& metadata) {
  const auto has_text = [&](const TextField& field) { return !(metadata.*field.get)().empty(); };
  const auto has_number = [&](const NumberField& field) { return (metadata.*field.get)() != 0; };
  return std::any_of(std::begin(leading_texts), std::end(leading_texts), has_text) ||
         std::any_of(std::begin(numbers), std::end(numbers), has_number) ||
         std::any_of(std::begin(trailing_texts), std::end(trailing_texts), has_text) ||
         std::any_of(std::begin(stack_frame), std::end(stack_frame), has_number) || metadata.profile_type_size() > 0 ||
         !metadata.metadata_payload().value().empty();
}

proto::FrontendAttributes read_frontend_attributes(Scanner& scan) {
  proto::FrontendAttributes attributes;
  scan.list('{', '}', "in frontend attributes", [&] {
    const std::string name(scan.word("the name of a frontend attribute"));
    scan.expect('=', "after the name of a frontend attribute");
    (*attributes.mutable_map())[name] = read_utf8_or_object(scan);
  });
  return attributes;
}

void append_frontend_attributes(std::string& out, const proto::FrontendAttributes& attributes) {
  const std::map<std::string_view, std::string_view> sorted(attributes.map().begin(), attributes.map().end());
  out += '{';
  bool first = true;
  for (const auto& [name, value] : sorted) {
    if (!is_word(name)) continue;
    if (!first) out += ',';
    first = false;
    out += name;
    out += '=';
    append_object_or_quoted(out, value);
  }
  out += '}';
}

proto::StatisticsViz read_statistics(Scanner& scan) {
  proto::StatisticsViz statistics;
  scan.expect('{', "to start statistics");
  if (scan.accept('}')) return statistics;
  scan.word("visualizing_index=");
  scan.expect('=', "after visualizing_index");
  statistics.set_stat_index_to_visualize(scan.integer("an index"));
  while (scan.accept(',')) {
    auto* statistic = statistics.add_statistics();
    statistic->set_stat_name(std::string(scan.word("the name of a statistic")));
    scan.expect('=', "after the name of a statistic");
    statistic->set_stat_val(scan.real("the value of a statistic"));
  }
  scan.expect('}', "to end statistics");
  return statistics;
}

void append_statistics(std::string& out, const proto::StatisticsViz& statistics) {
  fmt::format_to(std::back_inserter(out), "{{visualizing_index={}", statistics.stat_index_to_visualize());
  for (const proto::Statistic& statistic : statistics.statistics()) {
    fmt::format_to(std::back_inserter(out), ",{}=", word_from(statistic.stat_name()));
    append_real(out, statistic.stat_val());
  }
  out += '}';
}

proto::OriginalArrayProto read_original_array(Scanner& scan) {
  proto::OriginalArrayProto array;
  scan.expect('{', "to start an original array");
  if (scan.peek() != '}') {
    array.set_instruction_name(read_utf8(scan, "the name of an instruction in quotes"));
    if (scan.peek() == '{') read_shape_index(scan, array.mutable_shape_index());
  }
  scan.expect('}', "to end an original array");
  return array;
}

void append_original_array(std::string& out, const proto::OriginalArrayProto& array) {
  out += '{';
  append_quoted(out, array.instruction_name());
  if (array.shape_index_size() > 0) {
    out += ' ';
    append_shape_index(out, array.shape_index());
  }
  out += '}';
}

proto::OriginalValueProto read_original_value(Scanner& scan) {
  proto::OriginalValueProto value;
  scan.expect('{', "to start an original value");
  if (scan.accept('[')) {
    if (!scan.accept_word("synthetic_call")) scan.expected("synthetic_call");
    scan.expect(']', "after synthetic_call");
    value.set_is_synthetic_call(true);
    value.set_call_hierarchy("");
  } else {
    std::vector<int64_t> index;
    read_original_elements(scan, index, &value);
    if (scan.accept(',')) {
      scan.expect('[', "before a call hierarchy");
      value.set_call_hierarchy(read_utf8(scan, "a call hierarchy"));
      value.set_is_synthetic_call(value.elements_size() == 0);
      scan.expect(']', "after a call hierarchy");
    }
  }
  scan.expect('}', "to end an original value");
  return value;
}

void append_original_value(std::string& out, const proto::OriginalValueProto& value) {
  if (value.is_synthetic_call() && value.call_hierarchy().empty()) {
    out += "{[synthetic_call]}";
    return;
  }
  out += '{';
  std::vector<int64_t> index;  // of the leaf before
  bool first = true;
  for (const auto& element : value.elements()) {
    const auto& next = element.shape_index();
    size_t shared = 0;
    while (shared < index.size() && static_cast<int>(shared) < next.size() &&
           index[shared] == next[static_cast<int>(shared)])
      ++shared;
    const size_t kept = first ? 0 : shared + 1;
    for (size_t depth = index.size(); depth > kept; --depth) out += ')';
    if (!first) out += ", ";
    first = false;
    for (auto depth = static_cast<int>(kept); depth < next.size(); ++depth) out += '(';
    index.assign(next.begin(), next.end());
    if (element.has_original_array()) {
      append_original_array(out, element.original_array());
    } else {
      out += "{}";
    }
  }
  if (first) out += "()";
  out.append(index.size(), ')');
  if (value.has_call_hierarchy()) {
    out += ",[";
    append_quoted(out, value.call_hierarchy());
    out += ']';
  }
  out += '}';
}

proto::ResultAccuracy read_result_accuracy(Scanner& scan) {
  proto::ResultAccuracy accuracy;
  scan.expect('{', "to start result_accuracy");
  if (scan.accept_word("mode")) {
    scan.expect('=', "after mode");
    if (scan.accept_word("highest")) {
      accuracy.set_mode(proto::ResultAccuracy::HIGHEST);
    } else if (scan.accept_word("default")) {
      accuracy.set_mode(proto::ResultAccuracy::DEFAULT);
    } else {
      scan.expected("default or highest");
    }
  } else if (scan.accept_word("tolerance")) {
    scan.expect('=', "after tolerance");
    auto* tolerance = accuracy.mutable_tolerance();
    scan.list('{', '}', "in a tolerance", [&] {
      const std::string_view name = scan.peek_word();
      if (name != "atol" && name != "rtol" && name != "ulps") return scan.expected("atol, rtol or ulps");
      scan.word(name);
      scan.expect('=', "after the name of a tolerance");
      if (name == "atol") tolerance->set_atol(scan.real("a tolerance"));
      if (name == "rtol") tolerance->set_rtol(scan.real("a tolerance"));
      if (name == "ulps") tolerance->set_ulps(scan.integer("a number of ulps"));
    });
  } else {
    scan.expected("mode= or tolerance=");
  }
  scan.expect('}', "to end result_accuracy");
  return accuracy;
}

void append_result_accuracy(std::string& out, const proto::ResultAccuracy& accuracy) {
  if (!accuracy.has_tolerance()) {
    out += accuracy.mode() == proto::ResultAccuracy::HIGHEST ? "{mode=highest}" : "{mode=default}";
    return;
  }
  out += "{tolerance={atol=";
  append_real(out, accuracy.tolerance().atol());
  out += ",rtol=";
  append_real(out, accuracy.tolerance().rtol());
  fmt::format_to(std::back_inserter(out), ",ulps={}}}}}", accuracy.tolerance().ulps());
}

}  // namespace sapper::hlo
