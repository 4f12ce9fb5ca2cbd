#include "inspect/native_sites.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>

#include "inspect/native_flow.h"
#include "inspect/native_memory.h"
#include "inspect/native_site_table.h"
#include "inspect/native_state.h"
#include "inspect/native_vectors.h"

namespace sapper::inspect {
namespace {

using target::Registers;
using target::TraceEvent;
using target::X86Instruction;

constexpr uint64_t most_copied = uint64_t{1} << 24;

class FlowReader {
 public:
  FlowReader(const target::Trace& trace, std::span<const OperandBuffer> operands, TagTable& tags)
      : trace_(trace), reader_(trace), tags_(tags), memory_(operands, tags) {}

  Result<std::vector<Site>> run() {
    const auto code = trace_.code();
    codes_.resize(code.size());
    TraceEvent event;
    std::optional<PendingStep> pending;
    while (reader_.next(event)) {
      if (event.kind != target::RecordKind::Step) {
        pending.reset();
        code_address_ = event.code_address;
        continue;
      }
      if (pending) finish(*pending, event);
      if (event.offset >= code.size()) return fail(ErrorKind::Internal, "a step is beyond the kernel's code");
      std::optional<StepCode>& known = codes_[event.offset];
      if (!known) {
        const auto decoded = target::decode_x86(code.subspan(event.offset));
        if (!decoded)
          return fail(ErrorKind::Unsupported, "no x86-64 instruction that sapper knows is at {:#x}", event.offset);
        known = StepCode{*decoded, flow_of(*decoded)};
      }
      pending = prepare(*known, event.offset);
    }
    return sites_.take();
  }

 private:
  [[nodiscard]] const Registers& registers() const { return reader_.registers(); }

  [[nodiscard]] PendingStep prepare(const StepCode& code, uint32_t offset) const {
    const X86Instruction& i = code.instruction;
    PendingStep step{.code = &code, .offset = offset};
    if (i.memory) {
      const target::X86Memory& m = *i.memory;
      uint64_t address = static_cast<uint64_t>(m.displacement);
      if (m.base != target::no_register) address += registers().general[m.base];
      if (m.from_next) address += code_address_ + offset + i.length;
      if (m.index != target::no_register && !m.is_vector_index) address += registers().general[m.index] * m.scale;
      step.address = address;
    }
    if (i.mask != 0) step.mask = registers().masks[i.mask];
    const bool calls_register = i.map == 0 && i.opcode == 0xff && (i.reg & 7) == 2 && i.rm < 16;
    const uint64_t memcpy_address = trace_.header().memcpy_address;
    if (calls_register && memcpy_address != 0 && registers().general[i.rm] == memcpy_address) {
      step.copy_to = registers().general[7];
      step.copy_from = registers().general[6];
      step.copied = std::min(registers().general[2], most_copied);
    }
    if (code.form.flow == Flow::Shuffle || product_operands(i)) {
      step.before[2] = registers().vectors[i.reg & 31];
      if (i.third < 32) step.before[0] = registers().vectors[i.third];
      if (i.rm < 32) step.before[1] = registers().vectors[i.rm];
    }
    return step;
  }

  // The operand that is a vector register or memory.
  [[nodiscard]] TaggedBytes rm_operand(const PendingStep& step) const {
    const X86Instruction& i = step.code->instruction;
    if (!i.memory) return i.rm < 32 ? tagged_.vectors[i.rm] : TaggedBytes{};
    if (i.memory->is_vector_index || i.memory->has_segment) return {};
    TaggedBytes value = memory_.load(step.address, static_cast<size_t>(i.memory->bytes));
    if (i.broadcast && i.memory->bytes > 0)
      for (size_t k = static_cast<size_t>(i.memory->bytes); k < most_bytes; ++k)
        value.tags[k] = value.tags[k % static_cast<size_t>(i.memory->bytes)];
    return value;
  }
  [[nodiscard]] Tag general_operand(const PendingStep& step) const {
    const X86Instruction& i = step.code->instruction;
    if (i.memory) return memory_.load(step.address, 1).tags[0];
    return i.vector_bytes != 0 ? tagged_.vectors[i.rm & 31].tags[0] : tagged_.general[i.rm & 15];
  }

  void finish(const PendingStep& step, const TraceEvent& after) {
    const StepCode& code = *step.code;
    written_general_ = 0;
    written_vectors_ = 0;
    switch (code.form.flow) {
      case Flow::None: call_result(step, after); break;
      case Flow::General:
      case Flow::FromFlags:
      case Flow::WithFlags: general(step); break;
      case Flow::Compare: compare(step); break;
      case Flow::Masks: masks(step); break;
      case Flow::CompareMask:
      case Flow::TestMask: to_mask(step); break;
      default: vector(step); break;
    }
    for (uint32_t bits = after.general & ~written_general_; bits != 0; bits &= bits - 1)
      tagged_.general[static_cast<size_t>(std::countr_zero(bits))] = no_tag;
    for (uint32_t bits = after.vectors & ~written_vectors_; bits != 0; bits &= bits - 1)
      tagged_.vectors[static_cast<size_t>(std::countr_zero(bits))] = {};
  }

  // A function that the kernel calls takes and gives vector 0, but for memcpy.
  void call_result(const PendingStep& step, const TraceEvent& after) {
    const X86Instruction& i = step.code->instruction;
    const bool is_call = i.map == 0 && (i.opcode == 0xe8 || (i.opcode == 0xff && (i.reg & 7) == 2));
    if (is_call && step.copied > 0) {
      for (uint64_t k = 0; k < step.copied; k += most_bytes) {
        const auto bytes = static_cast<size_t>(std::min<uint64_t>(most_bytes, step.copied - k));
        memory_.store(step.copy_to + k, bytes, memory_.load(step.copy_from + k, bytes));
      }
      return;
    }
    if (!is_call || (after.vectors & 1) == 0) return;
    written_vectors_ = 1;
    sites_.add_vector(step.offset, 0, 16, registers().vectors[0], tagged_.vectors[0]);
  }

  void write_general(const PendingStep& step, size_t reg, Tag tag) {
    tagged_.general[reg] = tag;
    written_general_ |= 1U << reg;
    sites_.add_general(step.offset, reg, registers().general[reg], tag);
  }

  void general(const PendingStep& step) {
    const StepCode& code = *step.code;
    const X86Instruction& i = code.instruction;
    const bool is_shift = i.opcode == 0xd2 || i.opcode == 0xd3;
    const bool is_long = i.map == 0 && (i.opcode == 0xf6 || i.opcode == 0xf7) && (i.reg & 7) >= 4;  // mul, div
    const bool is_zero = i.map == 0 && i.opcode >= 0x30 && i.opcode <= 0x33 && i.rm == i.reg;
    Tag tag = code.form.flow == Flow::FromFlags ? no_tag : general_operand(step);
    if (code.form.to == Place::Rm && !code.form.reads_old) tag = no_tag;  // written only
    if (code.form.reads_reg) tag = tags_.merge(tag, tagged_.general[i.reg & 15]);
    if (code.form.reads_third && i.third != target::no_register) tag = tags_.merge(tag, tagged_.general[i.third & 15]);
    if (code.form.to == Place::Reg && code.form.reads_old) tag = tags_.merge(tag, tagged_.general[i.reg & 15]);
    if (is_shift) tag = tags_.merge(tag, tagged_.general[1]);
    if (code.form.flow != Flow::General) tag = tags_.merge(tag, tagged_.flags);
    if (is_long)
      tag = tags_.merge(tag, tags_.merge(tagged_.general[0], (i.reg & 7) >= 6 ? tagged_.general[2] : no_tag));
    if (is_zero) tag = no_tag;
    if (code.form.flow == Flow::General && i.vector_bytes == 0) tagged_.flags = tag;
    if (is_long) {
      write_general(step, 0, tag);
      write_general(step, 2, tag);
    } else if (code.form.to == Place::Reg) {
      write_general(step, i.reg & 15, tag);
    } else if (code.form.to == Place::Third) {
      write_general(step, i.third & 15, tag);
    } else if (!i.memory) {
      write_general(step, i.rm & 15, tag);
    } else {
      TaggedBytes value{.width = i.memory->bytes};
      value.tags.fill(tag);
      memory_.store(step.address, static_cast<size_t>(i.memory->bytes), value);
    }
  }

  void compare(const PendingStep& step) {
    const StepCode& code = *step.code;
    const X86Instruction& i = code.instruction;
    if (code.form.mask_width == 0) {
      tagged_.flags = tagged_.masks[i.reg & 7][0];
      return;
    }
    tagged_.flags = general_operand(step);
    if (code.form.reads_reg)
      tagged_.flags = tags_.merge(
          tagged_.flags, i.vector_bytes != 0 ? tagged_.vectors[i.reg & 31].tags[0] : tagged_.general[i.reg & 15]);
  }

  void write_mask(const PendingStep& step, size_t reg, const MaskTags& value) {
    tagged_.masks[reg] = value;
    sites_.add_mask(step.offset, reg, registers().masks[reg], value);
  }

  void masks(const PendingStep& step) {
    const StepCode& code = *step.code;
    const X86Instruction& i = code.instruction;
    MaskTags value{};
    if (i.opcode == 0x93) {  // into a general register
      write_general(step, i.reg & 15, tagged_.masks[i.rm & 7][0]);
      return;
    }
    if (i.opcode == 0x91 || (i.opcode == 0x90 && i.memory)) {
      if (i.opcode == 0x91)
        mask_memory_[step.address] = tagged_.masks[i.reg & 7];
      else if (const auto saved = mask_memory_.find(step.address); saved != mask_memory_.end())
        write_mask(step, i.reg & 7, saved->second);
      return;
    }
    if (i.opcode == 0x92) {
      value[0] = tagged_.general[i.rm & 15];
    } else if (i.opcode == 0x4b) {
      const size_t half = i.prefix == 0x66 ? 8 : i.wide ? 32 : 16;
      for (size_t j = 0; j < half; ++j) value[j] = tagged_.masks[i.rm & 7][j];
      for (size_t j = 0; j < half; ++j) value[half + j] = tagged_.masks[i.third & 7][j];
    } else {
      value = tagged_.masks[i.rm & 7];
      if (code.form.reads_third && i.third < 8)
        for (size_t j = 0; j < value.size(); ++j) value[j] = tags_.merge(value[j], tagged_.masks[i.third][j]);
    }
    write_mask(step, i.reg & 7, value);
  }

  void to_mask(const PendingStep& step) {
    const StepCode& code = *step.code;
    const X86Instruction& i = code.instruction;
    const TaggedBytes rm = rm_operand(step);
    const auto width = static_cast<size_t>(code.form.width);
    const size_t scalar = static_cast<size_t>(target::scalar_bytes(i));
    const size_t count = scalar != 0 ? 1 : i.vector_bytes / width;
    MaskTags value{};
    for (size_t j = 0; j < count; ++j) {
      value[j] = rm.tags[j * width];
      if (code.form.flow == Flow::CompareMask)
        value[j] = tags_.merge(value[j], tagged_.vectors[i.third & 31].tags[j * width]);
      if (i.mask != 0) value[j] = tags_.merge(value[j], tagged_.masks[i.mask][j]);
    }
    write_mask(step, i.reg & 7, value);
  }

  void vector(const PendingStep& step) {
    const X86Instruction& i = step.code->instruction;
    const Place to = step.code->form.to;
    const TaggedBytes rm = rm_operand(step);
    sites_.add_products(step, tagged_, rm, tags_);
    const auto result = [&](const TaggedBytes& old) {
      return vector_result(step, rm, old, tagged_, registers(), tags_);
    };
    if (to == Place::Rm && i.memory) {
      if (i.memory->is_vector_index) return;
      const auto bytes = static_cast<size_t>(i.memory->bytes);
      memory_.store(step.address, bytes, result(i.mask != 0 ? memory_.load(step.address, bytes) : TaggedBytes{}));
      return;
    }
    const bool to_general = to == Place::Rm &&
                            (i.opcode == 0x7e || (i.map == 3 && i.opcode >= 0x14 && i.opcode <= 0x17)) &&
                            step.code->form.flow != Flow::Lanes;
    if (to_general) return write_general(step, i.rm & 15, result({}).tags[0]);
    const size_t reg = (to == Place::Rm ? i.rm : to == Place::Third ? i.third : i.reg) & 31;
    tagged_.vectors[reg] = result(tagged_.vectors[reg]);
    written_vectors_ = 1U << reg;
    sites_.add_vector(step.offset, reg, i.vector_bytes, registers().vectors[reg], tagged_.vectors[reg]);
  }

  const target::Trace& trace_;
  target::TraceReader reader_;
  TagTable& tags_;
  TaggedMemory memory_;
  uint64_t code_address_ = 0;
  std::vector<std::optional<StepCode>> codes_;  // by offset
  TaggedRegisters tagged_;
  tsl::robin_map<uint64_t, MaskTags, MixedHash> mask_memory_;
  uint32_t written_general_ = 0;
  uint32_t written_vectors_ = 0;
  SiteTable sites_;
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
