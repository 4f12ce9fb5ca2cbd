#include "hlo/message_hash.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace sapper::hlo {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr uint64_t message_domain = 1;
constexpr uint64_t field_domain = 2;
constexpr uint64_t unknown_domain = 3;

// Messages about a program rather than of it.
constexpr std::array ignored_types = {
    std::string_view("sapper.proto.DebugAttributeTableEntryProto"),
    std::string_view("sapper.proto.DeviceAssignmentProto"),
    std::string_view("sapper.proto.HloModuleProto.ProfileInfo"),
    std::string_view("sapper.proto.OpMetadata"),
    std::string_view("sapper.proto.OriginalValueProto"),
    std::string_view("sapper.proto.OriginalValueRecoveryTableProto"),
    std::string_view("sapper.proto.StackFrameIndexProto"),
    std::string_view("sapper.proto.StatisticsViz"),
};

// Fields that the fingerprint takes from the parsed form, and ids.
constexpr std::array ignored_fields = {
    std::string_view("sapper.proto.HloComputationProto.program_shape"),
    std::string_view("sapper.proto.HloInstructionProto.backend_config_payload"),
    std::string_view("sapper.proto.HloInstructionProto.control_predecessor_ids"),
    std::string_view("sapper.proto.HloInstructionProto.literal"),
    std::string_view("sapper.proto.HloInstructionProto.shape"),
    std::string_view("sapper.proto.HloModuleProto.host_program_shape"),
    std::string_view("sapper.proto.HloModuleProto.payloads"),
    std::string_view("sapper.proto.HloModuleProto.pjrt_id"),
};

template <class Names>
bool contains(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_ignored(const FieldDescriptor* field) {
  return contains(ignored_fields, field->full_name()) ||
         (field->message_type() != nullptr && contains(ignored_types, field->message_type()->full_name()));
}

// One value of a field: `index` -1 for a field that is not repeated.
void add_value(const Message& message, const FieldDescriptor* field, int index, Hasher& hasher) {
  const Reflection& reflection = *message.GetReflection();
  const auto get = [&](auto single, auto repeated) {
    return index < 0 ? (reflection.*single)(message, field) : (reflection.*repeated)(message, field, index);
  };
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_BOOL:
      hasher.add(uint64_t{get(&Reflection::GetBool, &Reflection::GetRepeatedBool)});
      break;
    case FieldDescriptor::CPPTYPE_ENUM:
      hasher.add(static_cast<uint64_t>(get(&Reflection::GetEnumValue, &Reflection::GetRepeatedEnumValue)));
      break;
    case FieldDescriptor::CPPTYPE_INT32:
      hasher.add(static_cast<uint64_t>(get(&Reflection::GetInt32, &Reflection::GetRepeatedInt32)));
      break;
    case FieldDescriptor::CPPTYPE_INT64:
      hasher.add(static_cast<uint64_t>(get(&Reflection::GetInt64, &Reflection::GetRepeatedInt64)));
      break;
    case FieldDescriptor::CPPTYPE_UINT32:
      hasher.add(uint64_t{get(&Reflection::GetUInt32, &Reflection::GetRepeatedUInt32)});
      break;
    case FieldDescriptor::CPPTYPE_UINT64:
      hasher.add(get(&Reflection::GetUInt64, &Reflection::GetRepeatedUInt64));
      break;
    case FieldDescriptor::CPPTYPE_FLOAT:
      hasher.add(std::bit_cast<uint32_t>(get(&Reflection::GetFloat, &Reflection::GetRepeatedFloat)));
      break;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      hasher.add(std::bit_cast<uint64_t>(get(&Reflection::GetDouble, &Reflection::GetRepeatedDouble)));
      break;
    case FieldDescriptor::CPPTYPE_STRING:
      hasher.add(std::string_view(get(&Reflection::GetString, &Reflection::GetRepeatedString)));
      break;
    case FieldDescriptor::CPPTYPE_MESSAGE:  // repeated: the caller has single ones
      hasher.add(hash_message(reflection.GetRepeatedMessage(message, field, index)));
      break;
  }
}

Hash hash_field(const Message& message, const FieldDescriptor* field) {
  Hasher hasher(field_domain);
  hasher.add(static_cast<uint64_t>(field->number()));
  if (!field->is_repeated()) {
    add_value(message, field, -1, hasher);
    return hasher.get();
  }
  const int size = message.GetReflection()->FieldSize(message, field);
  hasher.add(static_cast<uint64_t>(size));
  if (!field->is_map()) {
    for (int i = 0; i < size; ++i) add_value(message, field, i, hasher);
    return hasher.get();
  }
  Hash entries;  // in no order
  for (int i = 0; i < size; ++i) {
    Hasher entry(field_domain);
    add_value(message, field, i, entry);
    entries += entry.get();
  }
  return hasher.add(entries).get();
}

void add_unknown(const Message& message, Hasher& hasher) {
  std::string bytes;
  message.GetReflection()->GetUnknownFields(message).SerializeToString(&bytes);
  hasher.add(unknown_domain).add(std::string_view(bytes));
}

std::optional<Hash> hash_unless_empty(const Message& message) {
  std::vector<const FieldDescriptor*> fields;
  const Reflection& reflection = *message.GetReflection();
  reflection.ListFields(message, &fields);
  Hasher hasher(message_domain);
  bool is_empty = true;
  for (const FieldDescriptor* field : fields) {
    if (is_ignored(field)) continue;
    if (field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE && !field->is_repeated()) {
      const std::optional<Hash> inner = hash_unless_empty(reflection.GetMessage(message, field));
      // Being empty says something only as the choice of a oneof.
      if (!inner && field->real_containing_oneof() == nullptr) continue;
      hasher.add(static_cast<uint64_t>(field->number())).add(inner.value_or(Hash{}));
    } else {
      hasher.add(hash_field(message, field));
    }
    is_empty = false;
  }
  if (!reflection.GetUnknownFields(message).empty()) {
    add_unknown(message, hasher);
    is_empty = false;
  }
  if (is_empty) return std::nullopt;
  return hasher.get();
}

}  // namespace

Hash hash_message(const Message& message) { return hash_unless_empty(message).value_or(Hash{}); }

Hash hash_unknown_fields(const Message& message) {
  std::vector<const FieldDescriptor*> fields;
  const Reflection& reflection = *message.GetReflection();
  reflection.ListFields(message, &fields);
  Hasher hasher(unknown_domain);
  bool has_any = false;
  const auto add_inner = [&](const FieldDescriptor* field, int index, const Message& inner) {
    const Hash hash = hash_unknown_fields(inner);
    if (hash == Hash{}) return;
    hasher.add(static_cast<uint64_t>(field->number())).add(static_cast<uint64_t>(index)).add(hash);
    has_any = true;
  };
  for (const FieldDescriptor* field : fields) {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!field->is_repeated()) add_inner(field, 0, reflection.GetMessage(message, field));
    for (int i = 0; field->is_repeated() && i < reflection.FieldSize(message, field); ++i)
      add_inner(field, i, reflection.GetRepeatedMessage(message, field, i));
  }
  if (!reflection.GetUnknownFields(message).empty()) {
    add_unknown(message, hasher);
    has_any = true;
  }
  return has_any ? hasher.get() : Hash{};
}

}  // namespace sapper::hlo
