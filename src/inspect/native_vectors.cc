#include "inspect/native_vectors.h"

#include <algorithm>
#include <cstring>

namespace sapper::inspect {
namespace {

using target::X86Instruction;

class VectorFlow {
 public:
  VectorFlow(const PendingStep& step, const TaggedRegisters& before, const target::Registers& after, TagTable& tags)
      : step_(step), before_(before), after_(after), tags_(tags) {}

  [[nodiscard]] TaggedBytes moved(const TaggedBytes& rm) {
    const StepCode& code = *step_.code;
    const X86Instruction& i = code.instruction;
    const auto width = static_cast<size_t>(code.form.width);
    TaggedBytes value;
    switch (code.form.flow) {
      case Flow::Lanes: return whole(lanes(rm, i.vector_bytes));
      case Flow::Scalar: return whole(lanes(rm, width));
      case Flow::Blend: return blended(rm);
      case Flow::Resize: return resized(rm);
      case Flow::Shuffle: return shuffled(rm);
      case Flow::Broadcast: {
        const bool from_general = !i.memory && i.opcode >= 0x7a && i.opcode <= 0x7c;
        value.width = from_general ? code.form.width : rm.width;
        for (size_t k = 0; k < i.vector_bytes; ++k)
          value.tags[k] = from_general ? before_.general[i.rm & 15] : rm.tags[k % width];
        return value;
      }
      case Flow::Extract: {
        const TaggedBytes& from = before_.vectors[i.reg & 31];
        const size_t part = (i.immediate * width) % std::max<size_t>(i.vector_bytes, width);
        value.width = from.width;
        for (size_t k = 0; k < width && part + k < most_bytes; ++k) value.tags[k] = from.tags[part + k];
        return value;
      }
      case Flow::Insert: {
        value = before_.vectors[i.third & 31];
        const size_t part = (i.immediate * width) % std::max<size_t>(i.vector_bytes, width);
        const bool from_general = !i.memory && width < 16;
        if (rm.width != 0) value.width = rm.width;
        if (from_general) value.width = code.form.width;
        for (size_t k = 0; k < width && part + k < most_bytes; ++k)
          value.tags[part + k] = from_general ? before_.general[i.rm & 15] : rm.tags[k];
        return value;
      }
      case Flow::SpreadMask:
        value.width = code.form.width;
        for (size_t k = 0; k < i.vector_bytes; ++k) value.tags[k] = before_.masks[i.rm & 7][k / width];
        return value;
      default: return value;
    }
  }

  // Where a mask leaves elements out, they are what was there before, or nothing.
  void apply_mask(const TaggedBytes& old, TaggedBytes& value) {
    const StepCode& code = *step_.code;
    const X86Instruction& i = code.instruction;
    const auto width = static_cast<size_t>(code.form.mask_width);
    for (size_t k = 0; k < i.vector_bytes; ++k) {
      const size_t lane = k / width;
      const Tag chosen = before_.masks[i.mask][lane];
      const bool active = (step_.mask >> lane & 1) != 0;
      if (chosen != no_tag)
        value.tags[k] = tags_.merge(chosen, i.zeroing ? value.tags[k] : tags_.merge(value.tags[k], old.tags[k]));
      else if (!active)
        value.tags[k] = i.zeroing ? no_tag : old.tags[k];
    }
  }

 private:
  [[nodiscard]] TaggedBytes lanes(const TaggedBytes& rm, size_t bytes) {
    const StepCode& code = *step_.code;
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
      value.tags.fill(before_.general[i.rm & 15]);
      value.width = code.form.width;
      std::fill(value.tags.begin() + code.form.width, value.tags.end(), no_tag);
      return value;
    }
    // x ^ x is of nobody.
    const bool is_zero = i.map == 1 && !i.memory && i.rm == i.third && code.form.reads_third &&
                         (i.opcode == 0xef || i.opcode == 0x57 || i.opcode == 0x76);
    if (is_zero) return value;
    if (is_store)
      take(before_.vectors[i.reg & 31]);
    else
      take(rm);
    if (code.form.reads_third) take(before_.vectors[i.third & 31]);
    if (code.form.reads_old && !is_store) take(before_.vectors[i.reg & 31]);
    return value;
  }

  // Each element is of all that its bytes are of: a narrow float may be half of it.
  [[nodiscard]] TaggedBytes whole(TaggedBytes value) {
    const auto width = static_cast<size_t>(value.width);
    if (width < 2 || width > 8) return value;
    for (size_t at = 0; at + width <= most_bytes; at += width) {
      Tag tag = no_tag;
      for (size_t k = 0; k < width; ++k) tag = tags_.merge(tag, value.tags[at + k]);
      std::fill_n(value.tags.begin() + static_cast<std::ptrdiff_t>(at), width, tag);
    }
    return value;
  }

  // The immediate counts elements of 2 bytes anew in each 16 bytes.
  [[nodiscard]] TaggedBytes blended(const TaggedBytes& rm) const {
    const X86Instruction& i = step_.code->instruction;
    const TaggedBytes& third = before_.vectors[i.encoding == target::X86Encoding::Legacy ? i.reg & 31 : i.third & 31];
    const auto width = static_cast<size_t>(step_.code->form.width);
    TaggedBytes value{.width = rm.width != 0 ? rm.width : third.width};
    for (size_t k = 0; k < i.vector_bytes; ++k)
      value.tags[k] = ((i.immediate >> (k / width % 8)) & 1) != 0 ? rm.tags[k] : third.tags[k];
    return value;
  }

  [[nodiscard]] TaggedBytes resized(const TaggedBytes& rm) const {
    const StepCode& code = *step_.code;
    const X86Instruction& i = code.instruction;
    const TaggedBytes& from = code.form.to == Place::Rm ? before_.vectors[i.reg & 31] : rm;
    const auto width = static_cast<size_t>(code.form.width);
    const auto to = static_cast<size_t>(code.form.to_width);
    TaggedBytes value{.width = code.form.to_width};
    for (size_t j = 0; j < i.vector_bytes / std::max(width, to); ++j)
      for (size_t k = 0; k < to; ++k) value.tags[j * to + k] = from.tags[j * width];
    return value;
  }

  // Where an element has the bits of one element of the operands, it is that one.
  [[nodiscard]] TaggedBytes shuffled(const TaggedBytes& rm) const {
    const StepCode& code = *step_.code;
    const X86Instruction& i = code.instruction;
    const auto width = static_cast<size_t>(code.form.width);
    const target::VectorRegister& after = after_.vectors[i.reg & 31];
    TaggedBytes value{.width = rm.width != 0 ? rm.width : before_.vectors[i.third & 31].width};
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
      if (code.form.reads_third) find(at, before_.vectors[i.third & 31], step_.before[0], found, good);
      if (!i.memory) find(at, rm, step_.before[1], found, good);
      if (code.form.reads_old) good = false;
      for (size_t k = 0; k < width && good; ++k) value.tags[at + k] = found;
    }
    return value;
  }

  const PendingStep& step_;
  const TaggedRegisters& before_;
  const target::Registers& after_;
  TagTable& tags_;
};

}  // namespace

TaggedBytes vector_result(const PendingStep& step, const TaggedBytes& rm, const TaggedBytes& old,
                          const TaggedRegisters& before, const target::Registers& after, TagTable& tags) {
  VectorFlow flow(step, before, after, tags);
  TaggedBytes value = flow.moved(rm);
  if (step.code->instruction.mask != 0) flow.apply_mask(old, value);
  return value;
}

}  // namespace sapper::inspect
