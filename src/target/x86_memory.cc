// How many bytes of memory instructions take: the vector length, but for those of the table below. EVEX scales short
// displacements by it.
#include <algorithm>
#include <array>

#include "target/x86.h"

namespace sapper::target {
namespace {

constexpr uint8_t any = 0xff;

// Bytes, or a fraction of the vector's.
enum class Size : uint8_t { Half, Quarter, Eighth, One, Two, Four, Eight, Sixteen, ThirtyTwo, Wide, Mask };

struct Row {
  uint8_t map;
  uint8_t prefix;       // any: whichever
  uint8_t first, last;  // opcodes
  Size size;            // Wide: 8 with W, else 4
};

constexpr std::array rows = {
    // 0f
    Row{1, 0, 0x12, 0x13, Size::Eight},
    Row{1, 0x66, 0x12, 0x13, Size::Eight},
    Row{1, 0, 0x16, 0x17, Size::Eight},
    Row{1, 0x66, 0x16, 0x17, Size::Eight},
    Row{1, any, 0x2a, 0x2a, Size::Wide},
    Row{1, 0xf3, 0x2c, 0x2d, Size::Four},
    Row{1, 0xf2, 0x2c, 0x2d, Size::Eight},
    Row{1, 0, 0x2e, 0x2f, Size::Four},
    Row{1, 0x66, 0x2e, 0x2f, Size::Eight},
    Row{1, 0, 0x5a, 0x5a, Size::Half},
    Row{1, 0x66, 0x6e, 0x6e, Size::Wide},
    Row{1, 0x66, 0x7e, 0x7e, Size::Wide},
    Row{1, 0xf3, 0x7e, 0x7e, Size::Eight},
    Row{1, 0x66, 0xd6, 0xd6, Size::Eight},
    Row{1, 0xf3, 0x78, 0x79, Size::Four},
    Row{1, 0xf2, 0x78, 0x79, Size::Eight},
    Row{1, 0xf3, 0x7b, 0x7b, Size::Wide},
    Row{1, 0xf2, 0x7b, 0x7b, Size::Wide},
    Row{1, any, 0x90, 0x91, Size::Mask},
    Row{1, any, 0xae, 0xae, Size::Four},
    Row{1, any, 0xc4, 0xc4, Size::Two},
    Row{1, 0xf3, 0xe6, 0xe6, Size::Half},
    Row{1, 0x66, 0xd1, 0xd3, Size::Sixteen},
    Row{1, 0x66, 0xe1, 0xe2, Size::Sixteen},
    Row{1, 0x66, 0xf1, 0xf3, Size::Sixteen},
    // 0f38
    Row{2, 0x66, 0x13, 0x13, Size::Half},
    Row{2, 0xf3, 0x10, 0x10, Size::Half},
    Row{2, 0xf3, 0x20, 0x20, Size::Half},
    Row{2, 0xf3, 0x30, 0x30, Size::Half},
    Row{2, 0xf3, 0x11, 0x11, Size::Quarter},
    Row{2, 0xf3, 0x21, 0x21, Size::Quarter},
    Row{2, 0xf3, 0x31, 0x31, Size::Quarter},
    Row{2, 0xf3, 0x12, 0x12, Size::Eighth},
    Row{2, 0xf3, 0x22, 0x22, Size::Eighth},
    Row{2, 0xf3, 0x32, 0x32, Size::Eighth},
    Row{2, 0xf3, 0x13, 0x13, Size::Half},
    Row{2, 0xf3, 0x23, 0x23, Size::Half},
    Row{2, 0xf3, 0x33, 0x33, Size::Half},
    Row{2, 0xf3, 0x14, 0x14, Size::Quarter},
    Row{2, 0xf3, 0x24, 0x24, Size::Quarter},
    Row{2, 0xf3, 0x34, 0x34, Size::Quarter},
    Row{2, 0xf3, 0x15, 0x15, Size::Half},
    Row{2, 0xf3, 0x25, 0x25, Size::Half},
    Row{2, 0xf3, 0x35, 0x35, Size::Half},
    Row{2, 0x66, 0x20, 0x20, Size::Half},
    Row{2, 0x66, 0x30, 0x30, Size::Half},
    Row{2, 0x66, 0x21, 0x21, Size::Quarter},
    Row{2, 0x66, 0x31, 0x31, Size::Quarter},
    Row{2, 0x66, 0x22, 0x22, Size::Eighth},
    Row{2, 0x66, 0x32, 0x32, Size::Eighth},
    Row{2, 0x66, 0x23, 0x23, Size::Half},
    Row{2, 0x66, 0x33, 0x33, Size::Half},
    Row{2, 0x66, 0x24, 0x24, Size::Quarter},
    Row{2, 0x66, 0x34, 0x34, Size::Quarter},
    Row{2, 0x66, 0x25, 0x25, Size::Half},
    Row{2, 0x66, 0x35, 0x35, Size::Half},
    Row{2, 0x66, 0x18, 0x18, Size::Four},
    Row{2, 0x66, 0x19, 0x19, Size::Eight},
    Row{2, 0x66, 0x1a, 0x1a, Size::Sixteen},
    Row{2, 0x66, 0x1b, 0x1b, Size::ThirtyTwo},
    Row{2, 0x66, 0x58, 0x58, Size::Four},
    Row{2, 0x66, 0x59, 0x59, Size::Eight},
    Row{2, 0x66, 0x5a, 0x5a, Size::Sixteen},
    Row{2, 0x66, 0x5b, 0x5b, Size::ThirtyTwo},
    Row{2, 0x66, 0x78, 0x78, Size::One},
    Row{2, 0x66, 0x79, 0x79, Size::Two},
    Row{2, 0x66, 0x88, 0x88, Size::Wide},
    Row{2, 0x66, 0x8a, 0x8a, Size::Wide},
    Row{2, 0x66, 0x89, 0x89, Size::Wide},
    Row{2, 0x66, 0x8b, 0x8b, Size::Wide},
    Row{2, 0x66, 0x90, 0x93, Size::Wide},
    Row{2, 0x66, 0xa0, 0xa3, Size::Wide},
    Row{2, any, 0xf0, 0xff, Size::Wide},
    // 0f3a
    Row{3, 0x66, 0x14, 0x14, Size::One},
    Row{3, 0x66, 0x15, 0x15, Size::Two},
    Row{3, 0x66, 0x16, 0x16, Size::Wide},
    Row{3, 0x66, 0x17, 0x17, Size::Four},
    Row{3, 0x66, 0x18, 0x19, Size::Sixteen},
    Row{3, 0x66, 0x38, 0x39, Size::Sixteen},
    Row{3, 0x66, 0x1a, 0x1b, Size::ThirtyTwo},
    Row{3, 0x66, 0x3a, 0x3b, Size::ThirtyTwo},
    Row{3, 0x66, 0x1d, 0x1d, Size::Half},
    Row{3, 0x66, 0x20, 0x20, Size::One},
    Row{3, 0x66, 0x21, 0x21, Size::Four},
    Row{3, 0x66, 0x22, 0x22, Size::Wide},
    Row{3, any, 0xf0, 0xf0, Size::Wide},
    // Conversions of AVX512-FP16
    Row{5, any, 0x2a, 0x2a, Size::Wide},
    Row{5, any, 0x2c, 0x2d, Size::Two},
    Row{5, any, 0x2e, 0x2f, Size::Two},
    Row{5, any, 0x6e, 0x6e, Size::Two},
    Row{5, any, 0x7e, 0x7e, Size::Two},
    Row{5, 0, 0x1d, 0x1d, Size::Four},
    Row{5, 0, 0x5a, 0x5a, Size::Quarter},
    Row{5, 0xf3, 0x5a, 0x5a, Size::Two},
    Row{5, 0xf2, 0x5a, 0x5a, Size::Eight},
    Row{5, 0x66, 0x5b, 0x5b, Size::Half},
    Row{5, 0xf3, 0x5b, 0x5b, Size::Half},
    Row{5, 0, 0x78, 0x79, Size::Half},
    Row{5, 0x66, 0x78, 0x7b, Size::Quarter},
    Row{5, 0xf3, 0x78, 0x79, Size::Two},
    Row{5, 0xf3, 0x7b, 0x7b, Size::Wide},
    Row{6, 0x66, 0x13, 0x13, Size::Half},
    Row{6, 0, 0x13, 0x13, Size::Two},
};

// Of opcodes on general registers: most take the operand size.
int general_bytes(const X86Instruction& i) {
  const int word = i.wide ? 8 : i.prefix == 0x66 ? 2 : 4;
  if (i.map == 1) {
    if ((i.opcode & 0xf0) == 0x90 || i.opcode == 0xb6 || i.opcode == 0xbe) return 1;
    return i.opcode == 0xb7 || i.opcode == 0xbf ? 2 : word;
  }
  if (i.map != 0) return word;
  if (i.opcode == 0x63) return 4;
  if (i.opcode == 0x8f || (i.opcode == 0xff && (i.reg & 7) >= 2 && (i.reg & 7) != 5)) return 8;
  const bool byte_form = (i.opcode < 0x40 && (i.opcode & 1) == 0) || i.opcode == 0x80 || i.opcode == 0x84 ||
                         i.opcode == 0x86 || i.opcode == 0x88 || i.opcode == 0x8a || i.opcode == 0xc0 ||
                         i.opcode == 0xc6 || i.opcode == 0xd0 || i.opcode == 0xd2 || i.opcode == 0xf6 ||
                         i.opcode == 0xfe;
  return byte_form ? 1 : word;
}

int size_bytes(Size size, const X86Instruction& i) {
  switch (size) {
    case Size::Half: return i.vector_bytes / 2;
    case Size::Quarter: return i.vector_bytes / 4;
    case Size::Eighth: return i.vector_bytes / 8;
    case Size::One: return 1;
    case Size::Two: return 2;
    case Size::Four: return 4;
    case Size::Eight: return 8;
    case Size::Sixteen: return 16;
    case Size::ThirtyTwo: return 32;
    case Size::Wide: return i.wide ? 8 : 4;
    case Size::Mask: return i.prefix == 0x66 ? (i.wide ? 4 : 1) : i.wide ? 8 : 2;
  }
  return i.vector_bytes;
}

// Conversions between 32 and 64 bits whose W says which; those with two vectors of the same length take a full one.
bool widens_from_half(const X86Instruction& i) {
  return i.encoding == X86Encoding::Evex && i.map == 1 && !i.wide &&
         ((i.prefix == 0x66 && i.opcode >= 0x78 && i.opcode <= 0x7b) || (i.prefix == 0xf3 && i.opcode == 0x7a));
}

}  // namespace

int scalar_bytes(const X86Instruction& i) {
  if (i.vector_bytes == 0) return 0;
  const int wide = i.wide ? 8 : 4;
  const bool arithmetic = i.opcode == 0x10 || i.opcode == 0x11 || i.opcode == 0x51 || i.opcode == 0x52 ||
                          i.opcode == 0x53 || (i.opcode >= 0x58 && i.opcode <= 0x5f && i.opcode != 0x5b);
  if (i.map == 1 && (arithmetic || i.opcode == 0xc2)) return i.prefix == 0xf3 ? 4 : i.prefix == 0xf2 ? 8 : 0;
  const bool fma = (i.opcode >= 0x99 && i.opcode <= 0xbf && (i.opcode & 1) != 0 && (i.opcode & 0xf) >= 9);
  const bool odd =
      i.opcode == 0x43 || i.opcode == 0x4d || i.opcode == 0x4f || (i.opcode == 0x2d && i.encoding == X86Encoding::Evex);
  if (i.map == 2 && i.encoding != X86Encoding::Legacy && i.prefix == 0x66 && (fma || odd)) return wide;
  if (i.map == 3 && i.prefix == 0x66) {
    if (i.opcode == 0x0a || i.opcode == 0x0b) return i.opcode == 0x0a ? 4 : 8;
    if (i.opcode == 0x27 || i.opcode == 0x51 || i.opcode == 0x55 || i.opcode == 0x57 || i.opcode == 0x67) return wide;
  }
  if (i.map == 3 && ((i.prefix == 0 && (i.opcode == 0x0a || i.opcode == 0x27 || i.opcode == 0x57)) ||
                     (i.prefix == 0xf3 && i.opcode == 0xc2)))
    return i.encoding == X86Encoding::Evex ? 2 : 0;
  if (i.map == 5 && arithmetic && i.opcode != 0x5a && i.prefix == 0xf3) return 2;
  if (i.map == 6 && i.prefix == 0x66 && (fma || odd)) return 2;
  return 0;
}

int memory_bytes(const X86Instruction& i) {
  const bool is_vector_like = i.vector_bytes != 0 || i.encoding == X86Encoding::Vex;
  if (!is_vector_like && !(i.map == 1 && i.opcode == 0xae)) return general_bytes(i);
  if (i.broadcast) return i.map == 5 || i.map == 6 ? 2 : i.wide ? 8 : 4;
  if (const int scalar = scalar_bytes(i); scalar != 0) return scalar;
  if (widens_from_half(i)) return i.vector_bytes / 2;
  // movddup duplicates the one low half of an xmm.
  if (i.map == 1 && i.prefix == 0xf2 && i.opcode == 0x12) return i.vector_bytes == 16 ? 8 : i.vector_bytes;
  const auto* row = std::ranges::find_if(rows, [&](const Row& r) {
    return r.map == i.map && (r.prefix == any || r.prefix == i.prefix) && r.first <= i.opcode && i.opcode <= r.last;
  });
  return row == rows.end() ? i.vector_bytes : size_bytes(row->size, i);
}

}  // namespace sapper::target
