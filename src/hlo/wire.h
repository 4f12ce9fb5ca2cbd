// The protobuf wire format, read by hand: module files are large and repeat themselves, so the reader of modules looks
// at the bytes of a message before (and mostly instead of) building the message. Nothing here copies or allocates.
#pragma once

#include <google/protobuf/message_lite.h>

#include <climits>
#include <cstdint>
#include <string>
#include <string_view>

namespace sapper::hlo {

enum class WireType : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2, Fixed32 = 5 };

// What precedes each field: its number and wire type. For `switch`.
constexpr uint64_t wire_tag(uint32_t number, WireType type) {
  return uint64_t{number} << 3 | static_cast<uint64_t>(type);
}

struct WireField {
  uint64_t tag = 0;
  uint64_t varint = 0;        // the value of Varint fields
  std::string_view payload;   // what follows the tag; of Bytes fields without the length
  std::string_view encoding;  // the whole field, tag included
  [[nodiscard]] uint64_t number() const { return tag >> 3; }
};

// Reads field after field (next), or value after value of a packed field (varint).
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  [[nodiscard]] bool done() const { return at_ == end_; }

  // The next varint; false: damaged or at the end.
  [[nodiscard]] bool varint(uint64_t& value) {
    if (at_ != end_ && static_cast<uint8_t>(*at_) < 0x80) {
      value = static_cast<uint8_t>(*at_++);
      return true;
    }
    value = 0;
    for (int shift = 0; shift < 70 && at_ != end_; shift += 7) {
      const auto byte = static_cast<uint8_t>(*at_++);
      value |= uint64_t{byte & 0x7fU} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  // The next field; false: damaged (a number or type that no writer makes, a length past the end) or at the end.
  [[nodiscard]] bool next(WireField& field) {
    const char* const start = at_;
    if (!varint(field.tag) || field.number() == 0 || field.number() > max_number) return false;
    switch (static_cast<WireType>(field.tag & 7)) {
      case WireType::Varint: {
        const char* const value = at_;
        if (!varint(field.varint)) return false;
        field.payload = {value, static_cast<size_t>(at_ - value)};
        break;
      }
      case WireType::Bytes: {
        uint64_t length = 0;
        if (!varint(length) || !take(length, field.payload)) return false;
        break;
      }
      case WireType::Fixed32:
        if (!take(4, field.payload)) return false;
        break;
      case WireType::Fixed64:
        if (!take(8, field.payload)) return false;
        break;
      default: return false;  // groups: no schema of XLA has them
    }
    field.encoding = {start, static_cast<size_t>(at_ - start)};
    return true;
  }

 private:
  static constexpr uint64_t max_number = (uint64_t{1} << 29) - 1;

  bool take(uint64_t length, std::string_view& bytes) {
    if (length > static_cast<uint64_t>(end_ - at_)) return false;
    bytes = {at_, static_cast<size_t>(length)};
    at_ += length;
    return true;
  }

  const char* at_;
  const char* end_;
};

// Calls visit(value) for each varint of `packed`; false: damaged.
template <class Visit>
[[nodiscard]] bool for_each_varint(std::string_view packed, Visit&& visit) {
  for (WireReader reader(packed); !reader.done();) {
    uint64_t value = 0;
    if (!reader.varint(value)) return false;
    visit(value);
  }
  return true;
}

// Strings on the wire must be UTF-8; other implementations refuse the message otherwise.
[[nodiscard]] bool is_utf8(std::string_view text);

[[nodiscard]] inline bool parse_message(std::string_view bytes, google::protobuf::MessageLite& message) {
  return bytes.size() <= INT_MAX && message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
}

// Appends a varint, and a Bytes field, to `out`.
inline void append_varint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}
inline void append_field(uint32_t number, std::string_view payload, std::string& out) {
  append_varint(wire_tag(number, WireType::Bytes), out);
  append_varint(payload.size(), out);
  out += payload;
}

}  // namespace sapper::hlo
