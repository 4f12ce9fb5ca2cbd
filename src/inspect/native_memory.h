// The tags of what lies in memory: operands by their address, and what the kernel has written since.
#pragma once

#include <tsl/robin_map.h>

#include <array>
#include <cstdint>
#include <span>

#include "inspect/native_sites.h"

namespace sapper::inspect {

constexpr size_t most_bytes = 64;

// Tags of bytes, and how wide the elements are that they belong to.
struct TaggedBytes {
  std::array<Tag, most_bytes> tags{};
  int width = 0;
};

struct WrittenByte {
  Tag tag = no_tag;
  uint8_t width = 0;
  bool is_written = false;
};

class TaggedMemory {
 public:
  TaggedMemory(std::span<const OperandBuffer> operands, const TagTable& tags) : operands_(operands), tags_(&tags) {}

  [[nodiscard]] TaggedBytes load(uint64_t address, size_t bytes) const {
    TaggedBytes result;
    for (size_t i = 0; i < bytes && i < most_bytes; ++i) {
      const auto [tag, width] = at(address + i);
      result.tags[i] = tag;
      if (result.width == 0) result.width = width;
    }
    return result;
  }
  void store(uint64_t address, size_t bytes, const TaggedBytes& value) {
    for (size_t i = 0; i < bytes && i < most_bytes; ++i) {
      Line& line = written_[(address + i) / most_bytes];
      line[(address + i) % most_bytes] = {value.tags[i], static_cast<uint8_t>(value.width), true};
    }
  }

 private:
  using Line = std::array<WrittenByte, most_bytes>;

  [[nodiscard]] std::pair<Tag, int> at(uint64_t address) const {
    if (const auto line = written_.find(address / most_bytes); line != written_.end()) {
      const WrittenByte& byte = line->second[address % most_bytes];
      if (byte.is_written) return {byte.tag, byte.width};
    }
    for (const OperandBuffer& buffer : operands_) {
      if (address < buffer.address || address - buffer.address >= buffer.bytes) continue;
      const uint64_t place = (address - buffer.address) / static_cast<uint64_t>(buffer.element_bytes);
      const int64_t element = buffer.elements.empty() ? static_cast<int64_t>(place) : buffer.elements[place];
      return {tags_->element(buffer.operand, element), buffer.element_bytes};
    }
    return {no_tag, 0};
  }

  std::span<const OperandBuffer> operands_;
  const TagTable* tags_;
  tsl::robin_map<uint64_t, Line, MixedHash> written_;
};

}  // namespace sapper::inspect
