#include "hlo/text_fields.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>

#include "base/assert.h"
#include "hlo/text_number.h"
#include "hlo/text_string.h"
#include "hlo/text_utf8.h"

namespace sapper::hlo {
namespace {

using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// The word of an enumerator in text. XLA writes some enumerations as in the schema and some in lower case, the
// algorithms of dots without ALG_.
std::string enumerator_word(const google::protobuf::EnumValueDescriptor& value) {
  const std::string_view type = value.type()->name();
  std::string word = value.name();
  if (type == "Algorithm" && word.starts_with("ALG_")) word.erase(0, 4);
  if (type == "ConvolutionKind") word.erase(0, std::string_view("CONVOLUTION_KIND_").size());
  constexpr std::string_view lower[] = {"Algorithm", "Precision", "RandomAlgorithm", "RandomDistribution",
                                        "ConvolutionKind"};
  if (std::find(std::begin(lower), std::end(lower), type) == std::end(lower)) return word;
  std::transform(word.begin(), word.end(), word.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  return word;
}

int read_enumerator(Scanner& scan, const EnumDescriptor& type) {
  const char* start = scan.cursor();
  const std::string_view word = scan.word("a word");
  std::string known;
  for (int i = 0; i < type.value_count(); ++i) {
    const std::string candidate = enumerator_word(*type.value(i));
    if (candidate == word) return type.value(i)->number();
    known += (i > 0 ? ", " : "") + candidate;
  }
  scan.fail_at(start, fmt::format("expected one of {}, found '{}'", known, word));
  return 0;
}

void append_enumerator(std::string& out, const EnumDescriptor& type, int number) {
  const auto* value = type.FindValueByNumber(number);
  out += enumerator_word(value != nullptr ? *value : *type.value(0));
}

}  // namespace

WireField::WireField(std::string_view path) {
  const auto* message = proto::HloInstructionProto::descriptor();
  while (!path.empty()) {
    const size_t dot = std::min(path.find('.'), path.size());
    path_.push_back(message->FindFieldByName(std::string(path.substr(0, dot))));
    SAPPER_ASSERT(path_.back() != nullptr);
    message = path_.back()->message_type();
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
}

const Message* WireField::holder(const proto::HloInstructionProto& wire) const {
  const Message* message = &wire;
  for (size_t i = 0; i + 1 < path_.size(); ++i) message = &message->GetReflection()->GetMessage(*message, path_[i]);
  return message;
}

void WireField::read(Scanner& scan, proto::HloInstructionProto& wire) const {
  Message* message = &wire;
  for (size_t i = 0; i + 1 < path_.size(); ++i) message = message->GetReflection()->MutableMessage(message, path_[i]);
  const FieldDescriptor* field = path_.back();
  const auto* reflection = message->GetReflection();
  if (field->is_repeated()) {
    const bool enumeration = field->cpp_type() == FieldDescriptor::CPPTYPE_ENUM;
    const bool flag = field->cpp_type() == FieldDescriptor::CPPTYPE_BOOL;
    reflection->ClearField(message, field);  // what was preset
    scan.list('{', '}', "in a list", [&] {
      if (enumeration) return reflection->AddEnumValue(message, field, read_enumerator(scan, *field->enum_type()));
      if (flag) return reflection->AddBool(message, field, scan.boolean("true or false"));
      reflection->AddInt64(message, field, scan.integer("an integer"));
    });
    return;
  }
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL: return reflection->SetBool(message, field, scan.boolean("true or false"));
    case FieldDescriptor::CPPTYPE_INT64: return reflection->SetInt64(message, field, scan.integer("an integer"));
    case FieldDescriptor::CPPTYPE_INT32: return reflection->SetInt32(message, field, scan.integer32("an integer"));
    case FieldDescriptor::CPPTYPE_FLOAT:
      return reflection->SetFloat(message, field, static_cast<float>(scan.real("a number")));
    case FieldDescriptor::CPPTYPE_STRING:
      return reflection->SetString(
          message, field,
          field->type() == FieldDescriptor::TYPE_BYTES ? scan.string("a string") : read_utf8(scan, "a string"));
    case FieldDescriptor::CPPTYPE_ENUM:
      return reflection->SetEnumValue(message, field, read_enumerator(scan, *field->enum_type()));
    default: SAPPER_ASSERT(false);
  }
}

bool WireField::is_set(const proto::HloInstructionProto& wire, int64_t implied) const {
  const Message* message = holder(wire);
  const FieldDescriptor* field = path_.back();
  const auto* reflection = message->GetReflection();
  if (field->is_repeated()) {
    // A list of enumerators that says nothing but the default.
    const int size = reflection->FieldSize(*message, field);
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_ENUM) return size > 0;
    for (int i = 0; i < size; ++i)
      if (reflection->GetRepeatedEnumValue(*message, field, i) != 0) return true;
    return false;
  }
  if (!reflection->HasField(*message, field)) return false;
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_INT64) return reflection->GetInt64(*message, field) != implied;
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_ENUM) return reflection->GetEnumValue(*message, field) != implied;
  return true;
}

void WireField::write(std::string& out, const proto::HloInstructionProto& wire) const {
  const Message* message = holder(wire);
  const FieldDescriptor* field = path_.back();
  const auto* reflection = message->GetReflection();
  if (field->is_repeated()) {
    out += '{';
    for (int i = 0; i < reflection->FieldSize(*message, field); ++i) {
      if (i > 0) out += ',';
      switch (field->cpp_type()) {
        case FieldDescriptor::CPPTYPE_ENUM:
          append_enumerator(out, *field->enum_type(), reflection->GetRepeatedEnumValue(*message, field, i));
          break;
        case FieldDescriptor::CPPTYPE_BOOL:
          out += reflection->GetRepeatedBool(*message, field, i) ? "true" : "false";
          break;
        default: out += std::to_string(reflection->GetRepeatedInt64(*message, field, i));
      }
    }
    out += '}';
    return;
  }
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL: out += reflection->GetBool(*message, field) ? "true" : "false"; break;
    case FieldDescriptor::CPPTYPE_INT64: out += std::to_string(reflection->GetInt64(*message, field)); break;
    case FieldDescriptor::CPPTYPE_INT32: out += std::to_string(reflection->GetInt32(*message, field)); break;
    case FieldDescriptor::CPPTYPE_FLOAT: append_real(out, reflection->GetFloat(*message, field)); break;
    case FieldDescriptor::CPPTYPE_STRING: append_quoted(out, reflection->GetString(*message, field)); break;
    case FieldDescriptor::CPPTYPE_ENUM:
      append_enumerator(out, *field->enum_type(), reflection->GetEnumValue(*message, field));
      break;
    default: SAPPER_ASSERT(false);
  }
}

}  // namespace sapper::hlo
