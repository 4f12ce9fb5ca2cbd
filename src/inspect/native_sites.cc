#include "inspect/native_sites.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "inspect/native_flow.h"
#include "inspect/native_memory.h"
#include "target/x86.h"

namespace sapper::inspect {
namespace {

using target::Registers;
using target::TraceEvent;
using target::X86Instruction;

constexpr uint64_t most_copied = uint64_t{1} << 24;

struct Code {
  X86Instruction instruction;
  FlowForm form;
};

// An instruction that is about to run, with what it will overwrite.
struct Pending {
  const Code* code = nullptr;
  uint32_t offset = 0;
  uint64_t address = 0;                             // of its memory operand
  uint64_t mask = 0;                                // bits of its mask register
  uint64_t copied = 0, copy_from = 0, copy_to = 0;  // bytes, where it calls memcpy
  std::array<target::VectorRegister, 3> before{};   // of the third operand, rm, reg: shuffles and multiply-adds
};

// Which operands a multiply-add of f32 or f64 multiplies, by their places in Pending::before.
std::optional<std::pair<size_t, size_t>> product_operands(const X86Instruction& i) {
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

class FlowReader {
 public:
  FlowReader(const target::Trace& trace, std::span<const OperandBuffer> operands, TagTable& tags)
      : trace_(trace), reader_(trace), tags_(tags), memory_(operands, tags) {}

  Result<std::vector<Site>> run() {
    const auto code = trace_.code();
    codes_.resize(code.size());
    TraceEvent event;
    std::optional<Pending> pending;
    while (reader_.next(event)) {
      if (event.kind != target::RecordKind::Step) {
        pending.reset();
        code_address_ = event.code_address;
        continue;
      }
      if (pending) finish(*pending, event);
      if (event.offset >= code.size()) return fail(ErrorKind::Internal, "a step is beyond the kernel's code");
      std::optional<Code>& known = codes_[event.offset];
      if (!known) {
        const auto decoded = target::decode_x86(code.subspan(event.offset));
        if (!decoded)
          return fail(ErrorKind::Unsupported, "no x86-64 instruction that sapper knows is at {:#x}", event.offset);
        known = Code{*decoded, flow_of(*decoded)};
      }
      pending = prepare(*known, event.offset);
    }
    return std::move(sites_);
  }

 private:
  [[nodiscard]] const Registers& registers() const { return reader_.registers(); }

  [[nodiscard]] Pending prepare(const Code& code, uint32_t offset) const {
    const X86Instruction& i = code.instruction;
    Pending pending{.code = &code, .offset = offset};
    if (i.memory) {
      const target::X86Memory& m = *i.memory;
      uint64_t address = static_cast<uint64_t>(m.displacement);
      if (m.base != target::no_register) address += registers().general[m.base];
      if (m.from_next) address += code_address_ + offset + i.length;
      if (m.index != target::no_register && !m.is_vector_index) address += registers().general[m.index] * m.scale;
      pending.address = address;
    }
    if (i.mask != 0) pending.mask = registers().masks[i.mask];
    const bool calls_register = i.map == 0 && i.opcode == 0xff && (i.reg & 7) == 2 && i.rm < 16;
    const uint64_t memcpy_address = trace_.header().memcpy_address;
    if (calls_register && memcpy_address != 0 && registers().general[i.rm] == memcpy_address) {
      pending.copy_to = registers().general[7];
      pending.copy_from = registers().general[6];
      pending.copied = std::min(registers().general[2], most_copied);
    }
    if (code.form.flow == Flow::Shuffle || product_operands(i)) {
      pending.before[2] = registers().vectors[i.reg & 31];
      if (i.third < 32) pending.before[0] = registers().vectors[i.third];
      if (i.rm < 32) pending.before[1] = registers().vectors[i.rm];
    }
    return pending;
  }

  // The operand that is a vector register or memory.
  [[nodiscard]] TaggedBytes rm_operand(const Pending& pending) const {
    const X86Instruction& i = pending.code->instruction;
    if (!i.memory) return i.rm < 32 ? vectors_[i.rm] : TaggedBytes{};
    if (i.memory->is_vector_index || i.memory->has_segment) return {};
    TaggedBytes value = memory_.load(pending.address, static_cast<size_t>(i.memory->bytes));
    if (i.broadcast && i.memory->bytes > 0)
      for (size_t k = static_cast<size_t>(i.memory->bytes); k < most_bytes; ++k)
        value.tags[k] = value.tags[k % static_cast<size_t>(i.memory->bytes)];
    return value;
  }
  [[nodiscard]] Tag general_operand(const Pending& pending) const {
    const X86Instruction& i = pending.code->instruction;
    if (i.memory) return memory_.load(pending.address, 1).tags[0];
    return i.vector_bytes != 0 ? vectors_[i.rm & 31].tags[0] : general_[i.rm & 15];
  }

  void finish(const Pending& pending, const TraceEvent& after) {
    const Code& code = *pending.code;
    written_general_ = 0;
    written_vectors_ = 0;
    switch (code.form.flow) {
      case Flow::None: call_result(pending, after); break;
      case Flow::General:
      case Flow::FromFlags:
      case Flow::WithFlags: general(pending); break;
      case Flow::Compare: compare(pending); break;
      case Flow::Masks: masks(pending); break;
      case Flow::CompareMask:
      case Flow::TestMask: to_mask(pending); break;
      default: vector(pending); break;
    }
    for (uint32_t bits = after.general & ~written_general_; bits != 0; bits &= bits - 1)
      general_[static_cast<size_t>(std::countr_zero(bits))] = no_tag;
    for (uint32_t bits = after.vectors & ~written_vectors_; bits != 0; bits &= bits - 1)
      vectors_[static_cast<size_t>(std::countr_zero(bits))] = {};
  }

  // A function that the kernel calls takes and gives vector 0, but for memcpy.
  void call_result(const Pending& pending, const TraceEvent& after) {
    const X86Instruction& i = pending.code->instruction;
    const bool is_call = i.map == 0 && (i.opcode == 0xe8 || (i.opcode == 0xff && (i.reg & 7) == 2));
    if (is_call && pending.copied > 0) {
      for (uint64_t k = 0; k < pending.copied; k += most_bytes) {
        const auto bytes = static_cast<size_t>(std::min<uint64_t>(most_bytes, pending.copied - k));
        memory_.store(pending.copy_to + k, bytes, memory_.load(pending.copy_from + k, bytes));
      }
      return;
    }
    if (!is_call || (after.vectors & 1) == 0) return;
    written_vectors_ = 1;
    emit_vector(pending, 0, 16);
  }

  void write_general(const Pending& pending, size_t reg, Tag tag) {
    general_[reg] = tag;
    written_general_ |= 1U << reg;
    if (tag == no_tag) return;
    Site& site = site_at(pending.offset, static_cast<uint32_t>(reg), 0);
    site.lanes.push_back({registers().general[reg], tag, static_cast<uint32_t>(site.executions), 8, 0});
    ++site.executions;
  }

  void general(const Pending& pending) {
    const Code& code = *pending.code;
    const X86Instruction& i = code.instruction;
    const bool is_shift = i.opcode == 0xd2 || i.opcode == 0xd3;
    const bool is_long = i.map == 0 && (i.opcode == 0xf6 || i.opcode == 0xf7) && (i.reg & 7) >= 4;  // mul, div
    const bool is_zero = i.map == 0 && i.opcode >= 0x30 && i.opcode <= 0x33 && i.rm == i.reg;
    Tag tag = code.form.flow == Flow::FromFlags ? no_tag : general_operand(pending);
    if (code.form.to == Place::Rm && !code.form.reads_old) tag = no_tag;  // written only
    if (code.form.reads_reg) tag = tags_.merge(tag, general_[i.reg & 15]);
    if (code.form.reads_third && i.third != target::no_register) tag = tags_.merge(tag, general_[i.third & 15]);
    if (code.form.to == Place::Reg && code.form.reads_old) tag = tags_.merge(tag, general_[i.reg & 15]);
    if (is_shift) tag = tags_.merge(tag, general_[1]);
    if (code.form.flow != Flow::General) tag = tags_.merge(tag, flags_);
    if (is_long) tag = tags_.merge(tag, tags_.merge(general_[0], (i.reg & 7) >= 6 ? general_[2] : no_tag));
    if (is_zero) tag = no_tag;
    if (code.form.flow == Flow::General && i.vector_bytes == 0) flags_ = tag;
    if (is_long) {
      write_general(pending, 0, tag);
      write_general(pending, 2, tag);
    } else if (code.form.to == Place::Reg) {
      write_general(pending, i.reg & 15, tag);
    } else if (code.form.to == Place::Third) {
      write_general(pending, i.third & 15, tag);
    } else if (!i.memory) {
      write_general(pending, i.rm & 15, tag);
    } else {
      TaggedBytes value{.width = i.memory->bytes};
      value.tags.fill(tag);
      memory_.store(pending.address, static_cast<size_t>(i.memory->bytes), value);
    }
  }

  void compare(const Pending& pending) {
    const Code& code = *pending.code;
    const X86Instruction& i = code.instruction;
    if (code.form.mask_width == 0) {
      flags_ = masks_[i.reg & 7][0];
      return;
    }
    flags_ = general_operand(pending);
    if (code.form.reads_reg)
      flags_ = tags_.merge(flags_, i.vector_bytes != 0 ? vectors_[i.reg & 31].tags[0] : general_[i.reg & 15]);
  }

  using MaskTags = std::array<Tag, 64>;

  void write_mask(const Pending& pending, size_t reg, const MaskTags& value) {
    masks_[reg] = value;
    Site* site = nullptr;
    for (size_t j = 0; j < value.size(); ++j) {
      if (value[j] == no_tag) continue;
      if (site == nullptr) site = &site_at(pending.offset, static_cast<uint32_t>(first_mask + reg), 0);
      site->lanes.push_back({registers().masks[reg] >> j & 1, value[j], static_cast<uint32_t>(site->executions), 0,
                             static_cast<uint8_t>(j)});
    }
    if (site != nullptr) ++site->executions;
  }

  void masks(const Pending& pending) {
    const Code& code = *pending.code;
    const X86Instruction& i = code.instruction;
    MaskTags value{};
    if (i.opcode == 0x93) {  // into a general register
      write_general(pending, i.reg & 15, masks_[i.rm & 7][0]);
      return;
    }
    if (i.opcode == 0x91 || (i.opcode == 0x90 && i.memory)) {
      if (i.opcode == 0x91)
        mask_memory_[pending.address] = masks_[i.reg & 7];
      else if (const auto saved = mask_memory_.find(pending.address); saved != mask_memory_.end())
        write_mask(pending, i.reg & 7, saved->second);
      return;
    }
    if (i.opcode == 0x92) {
      value[0] = general_[i.rm & 15];
    } else if (i.opcode == 0x4b) {
      const size_t half = i.prefix == 0x66 ? 8 : i.wide ? 32 : 16;
      for (size_t j = 0; j < half; ++j) value[j] = masks_[i.rm & 7][j];
      for (size_t j = 0; j < half; ++j) value[half + j] = masks_[i.third & 7][j];
    } else {
      value = masks_[i.rm & 7];
      if (code.form.reads_third && i.third < 8)
        for (size_t j = 0; j < value.size(); ++j) value[j] = tags_.merge(value[j], masks_[i.third][j]);
    }
    write_mask(pending, i.reg & 7, value);
  }

  void to_mask(const Pending& pending) {
    const Code& code = *pending.code;
    const X86Instruction& i = code.instruction;
    const TaggedBytes rm = rm_operand(pending);
    const auto width = static_cast<size_t>(code.form.width);
    const size_t scalar = static_cast<size_t>(target::scalar_bytes(i));
    const size_t count = scalar != 0 ? 1 : i.vector_bytes / width;
    MaskTags value{};
    for (size_t j = 0; j < count; ++j) {
      value[j] = rm.tags[j * width];
      if (code.form.flow == Flow::CompareMask) value[j] = tags_.merge(value[j], vectors_[i.third & 31].tags[j * width]);
      if (i.mask != 0) value[j] = tags_.merge(value[j], masks_[i.mask][j]);
    }
    write_mask(pending, i.reg & 7, value);
  }

  [[nodiscard]] TaggedBytes lanes(const Pending& pending, const TaggedBytes& rm, size_t bytes) {
    const Code& code = *pending.code;
    const X86Instruction& i = code.instruction;
    TaggedBytes value;
    const auto take = [&](const TaggedBytes& operand) {
      for (size_t k = 0; k < bytes; ++k) value.tags[k] = tags_.merge(value.tags[k], operand.tags[k]);
      if (value.width == 0) value.width = operand.width;
    };
    const bool is_store = code.form.to == Place::Rm;
    const bool from_general = i.vector_bytes != 0 && code.form.flow == Flow::Scalar && !i.memory &&
                              (i.opcode == 0x6e || i.opcode == 0x2a) && (i.map == 1 || i.map == 5);
    if (from_general) {
      value.tags.fill(general_[i.rm & 15]);
      value.width = code.form.width;
      std::fill(value.tags.begin() + code.form.width, value.tags.end(), no_tag);
      return value;
    }
    // x ^ x is of nobody.
    const bool is_zero = i.map == 1 && !i.memory && i.rm == i.third && code.form.reads_third &&
                         (i.opcode == 0xef || i.opcode == 0x57 || i.opcode == 0x76);
    if (is_zero) return value;
    if (is_store)
      take(vectors_[i.reg & 31]);
    else
      take(rm);
    if (code.form.reads_third) take(vectors_[i.third & 31]);
    if (code.form.reads_old && !is_store) take(vectors_[i.reg & 31]);
    return value;
  }

  [[nodiscard]] TaggedBytes resized(const Pending& pending, const TaggedBytes& rm) const {
    const Code& code = *pending.code;
    const X86Instruction& i = code.instruction;
    const TaggedBytes& from = code.form.to == Place::Rm ? vectors_[i.reg & 31] : rm;
    const auto width = static_cast<size_t>(code.form.width);
    const auto to = static_cast<size_t>(code.form.to_width);
    TaggedBytes value{.width = code.form.to_width};
    for (size_t j = 0; j < i.vector_bytes / std::max(width, to); ++j)
      for (size_t k = 0; k < to; ++k) value.tags[j * to + k] = from.tags[j * width];
    return value;
  }

  // Where an element has the bits of one element of the operands, it is that one.
  [[nodiscard]] TaggedBytes shuffled(const Pending& pending, const TaggedBytes& rm) const {
    const Code& code = *pending.code;
    const X86Instruction& i = code.instruction;
    const auto width = static_cast<size_t>(code.form.width);
    const target::VectorRegister& after = registers().vectors[i.reg & 31];
    TaggedBytes value{.width = rm.width != 0 ? rm.width : vectors_[i.third & 31].width};
    const auto find = [&](size_t at, const TaggedBytes& tags, const target::VectorRegister& bytes, Tag& found,
                          bool& good) {
      for (size_t from = 0; from + width <= i.vector_bytes; from += width) {
        if (std::memcmp(&after.bytes[at], &bytes.bytes[from], width) != 0 || tags.tags[from] == no_tag) continue;
        good = good && (found == no_tag || found == tags.tags[from]);
        found = tags.tags[from];
      }
    };
    for (size_t at = 0; at + width <= i.vector_bytes; at += width) {
      Tag found = no_tag;
      bool good = true;
      if (code.form.reads_third) find(at, vectors_[i.third & 31], pending.before[0], found, good);
      if (!i.memory) find(at, rm, pending.before[1], found, good);
      if (code.form.reads_old) good = false;
      for (size_t k = 0; k < width && good; ++k) value.tags[at + k] = found;
    }
    return value;
  }

  [[nodiscard]] TaggedBytes moved(const Pending& pending, const TaggedBytes& rm) {
    const Code& code = *pending.code;
    const X86Instruction& i = code.instruction;
    const auto width = static_cast<size_t>(code.form.width);
    TaggedBytes value;
    switch (code.form.flow) {
      case Flow::Lanes: return lanes(pending, rm, i.vector_bytes);
      case Flow::Scalar: return lanes(pending, rm, width);
      case Flow::Resize: return resized(pending, rm);
      case Flow::Shuffle: return shuffled(pending, rm);
      case Flow::Broadcast: {
        const bool from_general = !i.memory && i.opcode >= 0x7a && i.opcode <= 0x7c;
        value.width = from_general ? code.form.width : rm.width;
        for (size_t k = 0; k < i.vector_bytes; ++k)
          value.tags[k] = from_general ? general_[i.rm & 15] : rm.tags[k % width];
        return value;
      }
      case Flow::Extract: {
        const TaggedBytes& from = vectors_[i.reg & 31];
        const size_t part = (i.immediate * width) % std::max<size_t>(i.vector_bytes, width);
        value.width = from.width;
        for (size_t k = 0; k < width && part + k < most_bytes; ++k) value.tags[k] = from.tags[part + k];
        return value;
      }
      case Flow::Insert: {
        value = vectors_[i.third & 31];
        const size_t part = (i.immediate * width) % std::max<size_t>(i.vector_bytes, width);
        const bool from_general = !i.memory && width < 16;
        if (rm.width != 0) value.width = rm.width;
        if (from_general) value.width = code.form.width;
        for (size_t k = 0; k < width && part + k < most_bytes; ++k)
          value.tags[part + k] = from_general ? general_[i.rm & 15] : rm.tags[k];
        return value;
      }
      case Flow::SpreadMask:
        value.width = code.form.width;
        for (size_t k = 0; k < i.vector_bytes; ++k) value.tags[k] = masks_[i.rm & 7][k / width];
        return value;
      default: return value;
    }
  }

  // Where a mask leaves elements out, they are what was there before, or nothing.
  void apply_mask(const Pending& pending, const TaggedBytes& old, TaggedBytes& value) {
    const Code& code = *pending.code;
    const X86Instruction& i = code.instruction;
    const auto width = static_cast<size_t>(code.form.mask_width);
    for (size_t k = 0; k < i.vector_bytes; ++k) {
      const size_t lane = k / width;
      const Tag chosen = masks_[i.mask][lane];
      const bool active = (pending.mask >> lane & 1) != 0;
      if (chosen != no_tag)
        value.tags[k] = tags_.merge(chosen, i.zeroing ? value.tags[k] : tags_.merge(value.tags[k], old.tags[k]));
      else if (!active)
        value.tags[k] = i.zeroing ? no_tag : old.tags[k];
    }
  }

  void vector(const Pending& pending) {
    const Code& code = *pending.code;
    const X86Instruction& i = code.instruction;
    const TaggedBytes rm = rm_operand(pending);
    if (const auto operands = product_operands(i)) emit_product(pending, *operands, rm);
    TaggedBytes value = moved(pending, rm);
    const bool to_rm = code.form.to == Place::Rm;
    if (to_rm && i.memory) {
      if (i.memory->is_vector_index) return;
      if (i.mask != 0) apply_mask(pending, memory_.load(pending.address, static_cast<size_t>(i.memory->bytes)), value);
      memory_.store(pending.address, static_cast<size_t>(i.memory->bytes), value);
      return;
    }
    const bool to_general = to_rm && (i.opcode == 0x7e || (i.map == 3 && i.opcode >= 0x14 && i.opcode <= 0x17)) &&
                            code.form.flow != Flow::Lanes;
    if (to_general) {
      write_general(pending, i.rm & 15, value.tags[0]);
      return;
    }
    const size_t reg = (to_rm ? i.rm : code.form.to == Place::Third ? i.third : i.reg) & 31;
    if (i.mask != 0) apply_mask(pending, vectors_[reg], value);
    vectors_[reg] = value;
    written_vectors_ = 1U << reg;
    emit_vector(pending, reg, i.vector_bytes);
  }

  void emit_product(const Pending& pending, const std::pair<size_t, size_t>& operands, const TaggedBytes& rm) {
    const X86Instruction& i = pending.code->instruction;
    const auto tags_of = [&](size_t operand) -> const TaggedBytes& {
      return operand == 0 ? vectors_[i.third & 31] : operand == 1 ? rm : vectors_[i.reg & 31];
    };
    const TaggedBytes& left = tags_of(operands.first);
    const TaggedBytes& right = tags_of(operands.second);
    const size_t width = i.wide ? 8 : 4;
    const auto scalar = static_cast<size_t>(target::scalar_bytes(i));
    Site* site = nullptr;
    for (size_t at = 0; at < (scalar != 0 ? scalar : i.vector_bytes); at += width) {
      const Tag tag = tags_.merge(left.tags[at], right.tags[at]);
      if (tag == no_tag) continue;
      if (site == nullptr) site = &site_at(pending.offset, first_product + i.reg, i.vector_bytes);
      const std::byte* x = &pending.before[operands.first].bytes[at];
      const std::byte* y = &pending.before[operands.second].bytes[at];
      site->lanes.push_back({width == 4 ? product<float, uint32_t>(x, y) : product<double, uint64_t>(x, y), tag,
                             static_cast<uint32_t>(site->executions), static_cast<uint8_t>(width),
                             static_cast<uint8_t>(at / width)});
    }
    if (site != nullptr) ++site->executions;
  }

  // Its bits.
  template <class Float, class Bits>
  static uint64_t product(const std::byte* x, const std::byte* y) {
    Float a = 0;
    Float b = 0;
    std::memcpy(&a, x, sizeof a);
    std::memcpy(&b, y, sizeof b);
    return std::bit_cast<Bits>(a * b);
  }

  void emit_vector(const Pending& pending, size_t reg, size_t bytes) {
    const TaggedBytes& value = vectors_[reg];
    if (value.width <= 0 || value.width > 8) return;
    const auto width = static_cast<size_t>(value.width);
    const target::VectorRegister& now = registers().vectors[reg];
    Site* site = nullptr;
    for (size_t at = 0; at + width <= bytes; at += width) {
      if (value.tags[at] == no_tag) continue;
      if (site == nullptr)
        site = &site_at(pending.offset, static_cast<uint32_t>(first_vector + reg), static_cast<int>(bytes));
      uint64_t bits = 0;
      std::memcpy(&bits, &now.bytes[at], width);
      site->lanes.push_back({bits, value.tags[at], static_cast<uint32_t>(site->executions), static_cast<uint8_t>(width),
                             static_cast<uint8_t>(at / width)});
    }
    if (site != nullptr) ++site->executions;
  }

  Site& site_at(uint32_t offset, uint32_t reg, int bytes) {
    const auto [place, is_new] = by_place_.try_emplace(uint64_t{offset} << 32 | reg, sites_.size());
    if (is_new) sites_.push_back({.offset = offset, .reg = reg, .vector_bytes = bytes});
    return sites_[place->second];
  }

  const target::Trace& trace_;
  target::TraceReader reader_;
  TagTable& tags_;
  TaggedMemory memory_;
  uint64_t code_address_ = 0;
  std::vector<std::optional<Code>> codes_;  // by offset
  std::array<TaggedBytes, 32> vectors_{};
  std::array<MaskTags, 8> masks_{};
  std::array<Tag, 16> general_{};
  Tag flags_ = no_tag;
  tsl::robin_map<uint64_t, MaskTags, MixedHash> mask_memory_;
  uint32_t written_general_ = 0;
  uint32_t written_vectors_ = 0;
  std::vector<Site> sites_;
  tsl::robin_map<uint64_t, size_t, MixedHash> by_place_;
};

}  // namespace

std::string register_name(uint32_t reg, int vector_bytes) {
  constexpr std::array general = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
                                  "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15"};
  if (reg < first_vector) return general[reg];
  if (is_product(reg)) return register_name(reg - first_product + first_vector, vector_bytes) + " (product)";
  if (reg >= first_mask) return fmt::format("k{}", reg - first_mask);
  return fmt::format("{}{}", vector_bytes == 64 ? "zmm" : vector_bytes == 32 ? "ymm" : "xmm", reg - first_vector);
}

Result<std::vector<Site>> find_sites(const target::Trace& trace, std::span<const OperandBuffer> operands,
                                     TagTable& tags) {
  return FlowReader(trace, operands, tags).run();
}

}  // namespace sapper::inspect
