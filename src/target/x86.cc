#include "target/x86.h"

#include <algorithm>

namespace sapper::target {
namespace {

// Bytes of code from the front; past the end, failed.
class Bytes {
 public:
  explicit Bytes(std::span<const std::byte> code) : code_(code) {}
  [[nodiscard]] uint8_t peek() const { return at_ < code_.size() ? std::to_integer<uint8_t>(code_[at_]) : 0; }
  uint8_t next() {
    const uint8_t byte = peek();
    failed_ |= at_++ >= code_.size();
    return byte;
  }
  int64_t signed_number(int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; ++i) value |= uint64_t{next()} << (8 * i);
    const int unused = 64 - 8 * bytes;
    return bytes == 0 ? 0 : static_cast<int64_t>(value << unused) >> unused;
  }
  [[nodiscard]] size_t position() const { return at_; }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  std::span<const std::byte> code_;
  size_t at_ = 0;
  bool failed_ = false;
};

struct Prefixes {
  bool operand_size = false;
  bool segment = false;
  uint8_t repeat = 0;
  uint8_t rex = 0;
};

constexpr size_t longest = 15;
constexpr uint8_t modrm_register = 3;  // mod: the operand is a register

Prefixes read_prefixes(Bytes& bytes) {
  Prefixes prefixes;
  for (size_t i = 0; i < longest; ++i) {
    switch (bytes.peek()) {
      case 0x66: prefixes.operand_size = true; break;
      case 0xf2:
      case 0xf3: prefixes.repeat = bytes.peek(); break;
      case 0x64:
      case 0x65: prefixes.segment = true; break;
      case 0x2e:
      case 0x36:
      case 0x3e:
      case 0x26:
      case 0xf0: break;
      default:
        if ((bytes.peek() & 0xf0) == 0x40) prefixes.rex = bytes.next();
        return prefixes;
    }
    bytes.next();
  }
  return prefixes;
}

// One-byte opcodes. The size of the immediate is in bytes; `z` is 4, or 2 with the prefix 66.
struct Form {
  bool modrm = false;
  int immediate = 0;
};

std::optional<Form> one_byte_form(uint8_t opcode, bool wide, int z) {
  if (opcode < 0x40) {
    switch (opcode & 7) {
      case 4: return Form{false, 1};
      case 5: return Form{false, z};
      case 6:
      case 7: return std::nullopt;
      default: return Form{true, 0};
    }
  }
  if (opcode >= 0x50 && opcode < 0x60) return Form{};
  if (opcode >= 0x70 && opcode < 0x80) return Form{false, 1};
  if (opcode >= 0x84 && opcode < 0x90) return Form{true, 0};
  if (opcode >= 0xa0 && opcode < 0xa4) return Form{false, 8};
  if (opcode >= 0xb0 && opcode < 0xb8) return Form{false, 1};
  if (opcode >= 0xb8 && opcode < 0xc0) return Form{false, wide ? 8 : z};
  if (opcode >= 0xd8 && opcode < 0xe0) return Form{true, 0};
  switch (opcode) {
    case 0x63: return Form{true, 0};
    case 0x68:
    case 0xa9: return Form{false, z};
    case 0x69:
    case 0x81:
    case 0xc7: return Form{true, z};
    case 0x6a:
    case 0xa8:
    case 0xcd:
    case 0xe0:
    case 0xe1:
    case 0xe2:
    case 0xe3:
    case 0xeb: return Form{false, 1};
    case 0x6b:
    case 0x80:
    case 0x83:
    case 0xc0:
    case 0xc1:
    case 0xc6: return Form{true, 1};
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
    case 0xf6:
    case 0xf7:
    case 0xfe:
    case 0xff: return Form{true, 0};
    case 0xc2: return Form{false, 2};
    case 0xc8: return Form{false, 3};
    case 0xe8:
    case 0xe9: return Form{false, 4};
    default: break;
  }
  const bool plain = (opcode >= 0x90 && opcode < 0xa0 && opcode != 0x9a) || (opcode >= 0xa4 && opcode < 0xb0) ||
                     opcode == 0xc3 || opcode == 0xc9 || opcode == 0xcc || (opcode >= 0xf4 && opcode < 0xfe);
  if (plain) return Form{};
  return std::nullopt;
}

bool has_immediate_0f(uint8_t opcode) {
  return (opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 || (opcode >= 0xc4 && opcode <= 0xc6);
}

Form two_byte_form(uint8_t opcode) {
  if (opcode >= 0x80 && opcode < 0x90) return {false, 4};
  const bool plain = (opcode >= 0x05 && opcode <= 0x0b) || (opcode >= 0x30 && opcode <= 0x37) || opcode == 0x77 ||
                     (opcode >= 0xa0 && opcode <= 0xa2) || (opcode >= 0xa8 && opcode <= 0xaa) ||
                     (opcode >= 0xc8 && opcode <= 0xcf);
  if (plain) return {};
  return {true, has_immediate_0f(opcode) || opcode == 0xa4 || opcode == 0xac || opcode == 0xba ? 1 : 0};
}

Form vector_form(uint8_t map, uint8_t opcode) {
  if (map == 1) return {opcode != 0x77, has_immediate_0f(opcode) ? 1 : 0};
  return {true, map == 3 ? 1 : 0};
}

// Legacy opcodes that work on vector registers, of the maps 0f, 0f38, 0f3a.
bool is_legacy_vector(uint8_t map, uint8_t opcode) {
  if (map == 1)
    return (opcode >= 0x10 && opcode < 0x18) || (opcode >= 0x28 && opcode < 0x30) ||
           (opcode >= 0x50 && opcode < 0x80 && opcode != 0x77) || opcode == 0xc2 || (opcode >= 0xc4 && opcode < 0xc7) ||
           opcode >= 0xd0;
  return map == 3 || (map == 2 && (opcode < 0x80 || (opcode >= 0xc8 && opcode < 0xf0)));
}

// VEX opcodes that work on general registers (BMI) or on masks only.
bool is_vex_scalar(uint8_t map, uint8_t opcode) {
  if (map == 1)
    return (opcode >= 0x41 && opcode <= 0x4b) || (opcode >= 0x90 && opcode <= 0x93) || opcode == 0x98 ||
           opcode == 0x99 || opcode == 0x77;
  return (map == 2 || map == 3) && (opcode >= 0xf0 || (map == 3 && opcode >= 0x30 && opcode <= 0x33));
}

bool has_vector_index(const X86Instruction& i) {
  return i.encoding != X86Encoding::Legacy && i.map == 2 && i.prefix == 0x66 &&
         ((i.opcode >= 0x90 && i.opcode <= 0x93) || (i.opcode >= 0xa0 && i.opcode <= 0xa3));
}

// The extensions of register numbers, as REX states them; of EVEX the fifth bits, too.
struct Extensions {
  uint8_t reg = 0, index = 0, base = 0;  // added to the three bits
  uint8_t rm_high = 0;                   // to rm, where it is a vector register
  uint8_t index_high = 0;                // to the index, where it is one
};

void read_modrm(Bytes& bytes, const Extensions& extensions, bool segment, X86Instruction& out,
                bool& short_displacement) {
  const uint8_t modrm = bytes.next();
  const uint8_t mod = modrm >> 6;
  const uint8_t low = modrm & 7;
  out.has_modrm = true;
  out.reg = (modrm >> 3 & 7) + extensions.reg;
  if (mod == modrm_register) {
    out.rm = low + extensions.base + (out.vector_bytes != 0 ? extensions.rm_high : 0);
    if (out.broadcast)
      out.vector_bytes = 64;  // between registers the bit means a rounding mode, in the place of the length
    return;
  }
  X86Memory memory{.has_segment = segment};
  uint8_t base = low;
  if (low == 4) {
    const uint8_t sib = bytes.next();
    base = sib & 7;
    memory.scale = static_cast<uint8_t>(1U << (sib >> 6));
    memory.is_vector_index = has_vector_index(out);
    const uint8_t index = (sib >> 3 & 7) + extensions.index;
    if (memory.is_vector_index)
      memory.index = index + extensions.index_high;
    else if (index != 4)
      memory.index = index;
  }
  int displacement_bytes = mod == 1 ? 1 : mod == 2 ? 4 : 0;
  if (mod == 0 && base == 5) {
    displacement_bytes = 4;
    memory.from_next = low == 5;
  } else {
    memory.base = base + extensions.base;
  }
  memory.displacement = bytes.signed_number(displacement_bytes);
  short_displacement = displacement_bytes == 1;
  out.memory = memory;
}

constexpr uint8_t mandatory_prefix[] = {0, 0x66, 0xf3, 0xf2};

// After the bytes c4, c5 or 62.
Extensions read_vector_prefix(Bytes& bytes, uint8_t first, X86Instruction& out) {
  Extensions extensions;
  const auto inverted = [](uint8_t byte, int bit, uint8_t value) -> uint8_t {
    return (byte >> bit & 1) == 0 ? value : 0;
  };
  const uint8_t p0 = bytes.next();
  extensions.reg = inverted(p0, 7, 8);
  if (first == 0xc5) {
    out.encoding = X86Encoding::Vex;
    out.map = 1;
    out.third = ~p0 >> 3 & 15;
    out.vector_bytes = (p0 & 4) != 0 ? 32 : 16;
    out.prefix = mandatory_prefix[p0 & 3];
    return extensions;
  }
  extensions.index = inverted(p0, 6, 8);
  extensions.base = inverted(p0, 5, 8);
  const uint8_t p1 = bytes.next();
  out.wide = (p1 & 0x80) != 0;
  out.third = ~p1 >> 3 & 15;
  out.prefix = mandatory_prefix[p1 & 3];
  if (first == 0xc4) {
    out.encoding = X86Encoding::Vex;
    out.map = p0 & 0x1f;
    out.vector_bytes = (p1 & 4) != 0 ? 32 : 16;
    return extensions;
  }
  out.encoding = X86Encoding::Evex;
  out.map = p0 & 7;
  const uint8_t p2 = bytes.next();
  extensions.reg += inverted(p0, 4, 16);
  extensions.rm_high = inverted(p0, 6, 16);
  extensions.index_high = inverted(p2, 3, 16);
  out.third += inverted(p2, 3, 16);
  out.vector_bytes = static_cast<uint8_t>(16 << std::min(p2 >> 5 & 3, 2));
  out.zeroing = (p2 & 0x80) != 0;
  out.broadcast = (p2 & 0x10) != 0;
  out.mask = p2 & 7;
  return extensions;
}

}  // namespace

std::optional<X86Instruction> decode_x86(std::span<const std::byte> code) {
  Bytes bytes(code.subspan(0, std::min(code.size(), longest)));
  X86Instruction out;
  const Prefixes prefixes = read_prefixes(bytes);
  const uint8_t first = bytes.next();
  Extensions extensions;
  std::optional<Form> form;
  if (first == 0xc4 || first == 0xc5 || first == 0x62) {
    extensions = read_vector_prefix(bytes, first, out);
    const bool known_map =
        (out.map >= 1 && out.map <= 3) || (out.encoding == X86Encoding::Evex && (out.map == 5 || out.map == 6));
    if (!known_map) return std::nullopt;
    out.opcode = bytes.next();
    form = vector_form(out.map, out.opcode);
    if (out.encoding == X86Encoding::Vex && is_vex_scalar(out.map, out.opcode)) out.vector_bytes = 0;
  } else {
    out.wide = (prefixes.rex & 8) != 0;
    extensions = {.reg = static_cast<uint8_t>(prefixes.rex << 1 & 8),
                  .index = static_cast<uint8_t>(prefixes.rex << 2 & 8),
                  .base = static_cast<uint8_t>(prefixes.rex << 3 & 8)};
    out.prefix = prefixes.repeat != 0 ? prefixes.repeat : prefixes.operand_size ? 0x66 : 0;
    out.opcode = first;
    if (first == 0x0f) {
      out.opcode = bytes.next();
      out.map = out.opcode == 0x38 ? 2 : out.opcode == 0x3a ? 3 : 1;
      if (out.map != 1) out.opcode = bytes.next();
      form = out.map == 1 ? two_byte_form(out.opcode) : Form{true, out.map == 3 ? 1 : 0};
      if (is_legacy_vector(out.map, out.opcode)) out.vector_bytes = 16;
    } else {
      form = one_byte_form(first, out.wide, prefixes.operand_size ? 2 : 4);
    }
  }
  if (!form) return std::nullopt;

  bool short_displacement = false;
  if (form->modrm) read_modrm(bytes, extensions, prefixes.segment, out, short_displacement);
  const bool is_test = out.map == 0 && (out.opcode == 0xf6 || out.opcode == 0xf7) && (out.reg & 7) < 2;
  const int immediate = !is_test ? form->immediate : out.opcode == 0xf6 ? 1 : prefixes.operand_size ? 2 : 4;
  for (int i = 0; i < immediate; ++i) out.immediate = bytes.next();
  if (bytes.failed()) return std::nullopt;
  out.length = static_cast<uint8_t>(bytes.position());
  if (out.memory) {
    out.memory->bytes = memory_bytes(out);
    if (out.encoding == X86Encoding::Evex && short_displacement) out.memory->displacement *= out.memory->bytes;
  }
  return out;
}

}  // namespace sapper::target
