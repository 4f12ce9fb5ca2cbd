#include "inspect/native_site_table.h"

#include <bit>
#include <cstring>

namespace sapper::inspect {
namespace {

// Its bits.
template <class Float, class Bits>
uint64_t product(const std::byte* x, const std::byte* y) {
  Float a = 0;
  Float b = 0;
  std::memcpy(&a, x, sizeof a);
  std::memcpy(&b, y, sizeof b);
  return std::bit_cast<Bits>(a * b);
}

}  // namespace

std::optional<std::pair<size_t, size_t>> product_operands(const target::X86Instruction& i) {
  if (i.map != 2 || i.encoding == target::X86Encoding::Legacy || i.prefix != 0x66 || i.opcode < 0x96 ||
      i.opcode > 0xbf || (i.opcode & 0xf) < 6)
    return std::nullopt;
  const int form = i.opcode >> 4;
  const std::pair<size_t, size_t> operands = form == 9     ? std::pair{2, 1}
                                             : form == 0xa ? std::pair{0, 2}
                                                           : std::pair{0, 1};
  const bool from_memory = i.memory && (operands.first == 1 || operands.second == 1);
  if (from_memory) return std::nullopt;
  return operands;
}

Site& SiteTable::site_at(uint32_t offset, uint32_t reg, int bytes) {
  const auto [place, is_new] = by_place_.try_emplace(uint64_t{offset} << 32 | reg, sites_.size());
  if (is_new) sites_.push_back({.offset = offset, .reg = reg, .vector_bytes = bytes});
  return sites_[place->second];
}

void SiteTable::add_general(uint32_t offset, size_t reg, uint64_t value, Tag tag) {
  if (tag == no_tag) return;
  Site& site = site_at(offset, static_cast<uint32_t>(reg), 0);
  site.lanes.push_back({value, tag, static_cast<uint32_t>(site.executions), 8, 0});
  ++site.executions;
}

void SiteTable::add_mask(uint32_t offset, size_t reg, uint64_t bits, const MaskTags& tags) {
  Site* site = nullptr;
  for (size_t j = 0; j < tags.size(); ++j) {
    if (tags[j] == no_tag) continue;
    if (site == nullptr) site = &site_at(offset, static_cast<uint32_t>(first_mask + reg), 0);
    site->lanes.push_back(
        {bits >> j & 1, tags[j], static_cast<uint32_t>(site->executions), 0, static_cast<uint8_t>(j)});
  }
  if (site != nullptr) ++site->executions;
}

void SiteTable::add_vector(uint32_t offset, size_t reg, size_t bytes, const target::VectorRegister& value,
                           const TaggedBytes& tags) {
  if (tags.width <= 0 || tags.width > 8) return;
  const auto width = static_cast<size_t>(tags.width);
  Site* site = nullptr;
  for (size_t at = 0; at + width <= bytes; at += width) {
    if (tags.tags[at] == no_tag) continue;
    if (site == nullptr) site = &site_at(offset, static_cast<uint32_t>(first_vector + reg), static_cast<int>(bytes));
    uint64_t bits = 0;
    std::memcpy(&bits, &value.bytes[at], width);
    site->lanes.push_back({bits, tags.tags[at], static_cast<uint32_t>(site->executions), static_cast<uint8_t>(width),
                           static_cast<uint8_t>(at / width)});
  }
  if (site != nullptr) ++site->executions;
}

void SiteTable::add_products(const PendingStep& step, const TaggedRegisters& registers, const TaggedBytes& rm,
                             TagTable& tags) {
  const target::X86Instruction& i = step.code->instruction;
  const auto operands = product_operands(i);
  if (!operands) return;
  const auto tags_of = [&](size_t operand) -> const TaggedBytes& {
    return operand == 0 ? registers.vectors[i.third & 31] : operand == 1 ? rm : registers.vectors[i.reg & 31];
  };
  const TaggedBytes& left = tags_of(operands->first);
  const TaggedBytes& right = tags_of(operands->second);
  const size_t width = i.wide ? 8 : 4;
  const auto scalar = static_cast<size_t>(target::scalar_bytes(i));
  Site* site = nullptr;
  for (size_t at = 0; at < (scalar != 0 ? scalar : i.vector_bytes); at += width) {
    const Tag tag = tags.merge(left.tags[at], right.tags[at]);
    if (tag == no_tag) continue;
    if (site == nullptr) site = &site_at(step.offset, first_product + i.reg, i.vector_bytes);
    const std::byte* x = &step.before[operands->first].bytes[at];
    const std::byte* y = &step.before[operands->second].bytes[at];
    site->lanes.push_back({width == 4 ? product<float, uint32_t>(x, y) : product<double, uint64_t>(x, y), tag,
                           static_cast<uint32_t>(site->executions), static_cast<uint8_t>(width),
                           static_cast<uint8_t>(at / width)});
  }
  if (site != nullptr) ++site->executions;
}

}  // namespace sapper::inspect
