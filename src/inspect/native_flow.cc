#include "inspect/native_flow.h"

#include <algorithm>
#include <array>

namespace sapper::inspect {
namespace {

using target::X86Encoding;
using target::X86Instruction;

constexpr uint8_t any = 0xff;

struct ResizeRow {
  uint8_t map, prefix, opcode;
  int from, to;
  int wide = -1;  // with W 0 or 1 only
};

// Conversions between widths; those to narrower elements of 0f38 write Rm.
constexpr std::array resizes = {
    ResizeRow{1, 0xf3, 0x5a, 4, 8},    ResizeRow{1, 0xf2, 0x5a, 8, 4},    ResizeRow{1, 0, 0x5a, 4, 8},
    ResizeRow{1, 0x66, 0x5a, 8, 4},    ResizeRow{1, 0xf3, 0xe6, 4, 8},    ResizeRow{1, 0xf2, 0xe6, 8, 4},
    ResizeRow{1, 0x66, 0xe6, 8, 4},    ResizeRow{1, 0xf3, 0x7a, 4, 8, 0}, ResizeRow{1, 0xf2, 0x7a, 8, 4, 1},
    ResizeRow{1, 0, 0x5b, 8, 4, 1},    ResizeRow{1, 0x66, 0x78, 4, 8, 0}, ResizeRow{1, 0x66, 0x79, 4, 8, 0},
    ResizeRow{1, 0x66, 0x7a, 4, 8, 0}, ResizeRow{1, 0x66, 0x7b, 4, 8, 0}, ResizeRow{1, 0, 0x78, 8, 4, 1},
    ResizeRow{1, 0, 0x79, 8, 4, 1},    ResizeRow{2, 0x66, 0x13, 2, 4},    ResizeRow{2, 0x66, 0x20, 1, 2},
    ResizeRow{2, 0x66, 0x30, 1, 2},    ResizeRow{2, 0x66, 0x21, 1, 4},    ResizeRow{2, 0x66, 0x31, 1, 4},
    ResizeRow{2, 0x66, 0x22, 1, 8},    ResizeRow{2, 0x66, 0x32, 1, 8},    ResizeRow{2, 0x66, 0x23, 2, 4},
    ResizeRow{2, 0x66, 0x33, 2, 4},    ResizeRow{2, 0x66, 0x24, 2, 8},    ResizeRow{2, 0x66, 0x34, 2, 8},
    ResizeRow{2, 0x66, 0x25, 4, 8},    ResizeRow{2, 0x66, 0x35, 4, 8},    ResizeRow{2, 0xf3, 0x10, 2, 1},
    ResizeRow{2, 0xf3, 0x20, 2, 1},    ResizeRow{2, 0xf3, 0x30, 2, 1},    ResizeRow{2, 0xf3, 0x11, 4, 1},
    ResizeRow{2, 0xf3, 0x21, 4, 1},    ResizeRow{2, 0xf3, 0x31, 4, 1},    ResizeRow{2, 0xf3, 0x12, 8, 1},
    ResizeRow{2, 0xf3, 0x22, 8, 1},    ResizeRow{2, 0xf3, 0x32, 8, 1},    ResizeRow{2, 0xf3, 0x13, 4, 2},
    ResizeRow{2, 0xf3, 0x23, 4, 2},    ResizeRow{2, 0xf3, 0x33, 4, 2},    ResizeRow{2, 0xf3, 0x14, 8, 2},
    ResizeRow{2, 0xf3, 0x24, 8, 2},    ResizeRow{2, 0xf3, 0x34, 8, 2},    ResizeRow{2, 0xf3, 0x15, 8, 4},
    ResizeRow{2, 0xf3, 0x25, 8, 4},    ResizeRow{2, 0xf3, 0x35, 8, 4},    ResizeRow{2, 0xf3, 0x72, 4, 2},
    ResizeRow{3, 0x66, 0x1d, 4, 2},    ResizeRow{5, 0, 0x5a, 2, 8},       ResizeRow{5, 0x66, 0x5a, 8, 2},
    ResizeRow{5, 0x66, 0x1d, 4, 2},    ResizeRow{5, 0, 0x5b, 4, 2, 0},    ResizeRow{5, 0, 0x5b, 8, 2, 1},
    ResizeRow{5, 0x66, 0x5b, 2, 4},    ResizeRow{5, 0xf3, 0x5b, 2, 4},    ResizeRow{5, 0, 0x78, 2, 4},
    ResizeRow{5, 0, 0x79, 2, 4},       ResizeRow{6, 0x66, 0x13, 2, 4},
};

struct FlowRow {
  uint8_t map, prefix, first, last;
  Flow flow;
  int width;  // 0: 8 with W, else 4
  bool reads_third;
};

constexpr std::array moves = {
    FlowRow{1, 0, 0x14, 0x15, Flow::Shuffle, 4, true},        FlowRow{1, 0x66, 0x14, 0x15, Flow::Shuffle, 8, true},
    FlowRow{1, 0, 0x12, 0x12, Flow::Shuffle, 4, true},        FlowRow{1, 0x66, 0x12, 0x12, Flow::Shuffle, 4, true},
    FlowRow{1, 0xf3, 0x12, 0x12, Flow::Shuffle, 4, false},    FlowRow{1, 0xf2, 0x12, 0x12, Flow::Shuffle, 8, false},
    FlowRow{1, 0, 0x16, 0x16, Flow::Shuffle, 4, true},        FlowRow{1, 0x66, 0x16, 0x16, Flow::Shuffle, 4, true},
    FlowRow{1, 0xf3, 0x16, 0x16, Flow::Shuffle, 4, false},    FlowRow{1, 0x66, 0x60, 0x60, Flow::Shuffle, 1, true},
    FlowRow{1, 0x66, 0x61, 0x61, Flow::Shuffle, 2, true},     FlowRow{1, 0x66, 0x62, 0x62, Flow::Shuffle, 4, true},
    FlowRow{1, 0x66, 0x68, 0x68, Flow::Shuffle, 1, true},     FlowRow{1, 0x66, 0x69, 0x69, Flow::Shuffle, 2, true},
    FlowRow{1, 0x66, 0x6a, 0x6a, Flow::Shuffle, 4, true},     FlowRow{1, 0x66, 0x6c, 0x6d, Flow::Shuffle, 8, true},
    FlowRow{1, 0x66, 0x70, 0x70, Flow::Shuffle, 4, false},    FlowRow{1, 0xf3, 0x70, 0x70, Flow::Shuffle, 2, false},
    FlowRow{1, 0xf2, 0x70, 0x70, Flow::Shuffle, 2, false},    FlowRow{1, 0, 0xc6, 0xc6, Flow::Shuffle, 4, true},
    FlowRow{1, 0x66, 0xc6, 0xc6, Flow::Shuffle, 8, true},     FlowRow{2, 0x66, 0x00, 0x00, Flow::Shuffle, 1, true},
    FlowRow{2, 0x66, 0x0c, 0x0c, Flow::Shuffle, 4, true},     FlowRow{2, 0x66, 0x0d, 0x0d, Flow::Shuffle, 8, true},
    FlowRow{2, 0x66, 0x16, 0x16, Flow::Shuffle, 0, true},     FlowRow{2, 0x66, 0x36, 0x36, Flow::Shuffle, 0, true},
    FlowRow{2, 0x66, 0x18, 0x18, Flow::Broadcast, 4, false},  FlowRow{2, 0x66, 0x19, 0x19, Flow::Broadcast, 8, false},
    FlowRow{2, 0x66, 0x1a, 0x1a, Flow::Broadcast, 16, false}, FlowRow{2, 0x66, 0x1b, 0x1b, Flow::Broadcast, 32, false},
    FlowRow{2, 0x66, 0x58, 0x58, Flow::Broadcast, 4, false},  FlowRow{2, 0x66, 0x59, 0x59, Flow::Broadcast, 8, false},
    FlowRow{2, 0x66, 0x5a, 0x5a, Flow::Broadcast, 16, false}, FlowRow{2, 0x66, 0x5b, 0x5b, Flow::Broadcast, 32, false},
    FlowRow{2, 0x66, 0x78, 0x78, Flow::Broadcast, 1, false},  FlowRow{2, 0x66, 0x79, 0x79, Flow::Broadcast, 2, false},
    FlowRow{2, 0x66, 0x7a, 0x7a, Flow::Broadcast, 1, false},  FlowRow{2, 0x66, 0x7b, 0x7b, Flow::Broadcast, 2, false},
    FlowRow{2, 0x66, 0x7c, 0x7c, Flow::Broadcast, 0, false},  FlowRow{2, 0x66, 0x76, 0x77, Flow::Shuffle, 0, true},
    FlowRow{2, 0x66, 0x7e, 0x7f, Flow::Shuffle, 0, true},     FlowRow{2, 0x66, 0x75, 0x75, Flow::Shuffle, 1, true},
    FlowRow{2, 0x66, 0x7d, 0x7d, Flow::Shuffle, 1, true},     FlowRow{2, 0x66, 0x8d, 0x8d, Flow::Shuffle, 1, true},
    FlowRow{2, 0x66, 0x88, 0x8b, Flow::Shuffle, 0, false},    FlowRow{3, 0x66, 0x00, 0x01, Flow::Shuffle, 8, false},
    FlowRow{3, 0x66, 0x04, 0x04, Flow::Shuffle, 4, false},    FlowRow{3, 0x66, 0x05, 0x05, Flow::Shuffle, 8, false},
    FlowRow{3, 0x66, 0x02, 0x02, Flow::Blend, 4, true},       FlowRow{3, 0x66, 0x0c, 0x0c, Flow::Blend, 4, true},
    FlowRow{3, 0x66, 0x0d, 0x0d, Flow::Blend, 8, true},       FlowRow{3, 0x66, 0x0e, 0x0e, Flow::Blend, 2, true},
    FlowRow{3, 0x66, 0x06, 0x06, Flow::Shuffle, 8, true},     FlowRow{3, 0x66, 0x46, 0x46, Flow::Shuffle, 8, true},
    FlowRow{3, 0x66, 0x0f, 0x0f, Flow::Shuffle, 1, true},     FlowRow{3, 0x66, 0x03, 0x03, Flow::Shuffle, 0, true},
    FlowRow{3, 0x66, 0x23, 0x23, Flow::Shuffle, 8, true},     FlowRow{3, 0x66, 0x43, 0x43, Flow::Shuffle, 8, true},
    FlowRow{3, 0x66, 0x21, 0x21, Flow::Shuffle, 4, true},     FlowRow{3, 0x66, 0x18, 0x18, Flow::Insert, 16, true},
    FlowRow{3, 0x66, 0x38, 0x38, Flow::Insert, 16, true},     FlowRow{3, 0x66, 0x1a, 0x1a, Flow::Insert, 32, true},
    FlowRow{3, 0x66, 0x3a, 0x3a, Flow::Insert, 32, true},     FlowRow{3, 0x66, 0x20, 0x20, Flow::Insert, 1, true},
    FlowRow{3, 0x66, 0x22, 0x22, Flow::Insert, 0, true},      FlowRow{1, 0x66, 0xc4, 0xc4, Flow::Insert, 2, true},
    FlowRow{3, 0x66, 0x19, 0x19, Flow::Extract, 16, false},   FlowRow{3, 0x66, 0x39, 0x39, Flow::Extract, 16, false},
    FlowRow{3, 0x66, 0x1b, 0x1b, Flow::Extract, 32, false},   FlowRow{3, 0x66, 0x3b, 0x3b, Flow::Extract, 32, false},
    FlowRow{3, 0x66, 0x14, 0x14, Flow::Extract, 1, false},    FlowRow{3, 0x66, 0x15, 0x15, Flow::Extract, 2, false},
    FlowRow{3, 0x66, 0x16, 0x16, Flow::Extract, 0, false},    FlowRow{3, 0x66, 0x17, 0x17, Flow::Extract, 4, false},
};

int word(const X86Instruction& i) { return i.wide ? 8 : 4; }
int half_word(const X86Instruction& i) { return i.wide ? 2 : 1; }

// Bytes of what one bit of a mask register selects.
int mask_width(const X86Instruction& i) {
  if (i.map == 5 || i.map == 6) return 2;
  if (i.map == 1 && i.prefix == 0xf2 && (i.opcode == 0x6f || i.opcode == 0x7f)) return half_word(i);
  if (i.map == 2 && i.prefix == 0x66 && (i.opcode == 0x66 || i.opcode == 0x8d)) return half_word(i);
  return word(i);
}

// Comparisons that write a mask register.
int compare_width(const X86Instruction& i) {
  if (i.encoding != X86Encoding::Evex) return 0;
  if (i.map == 1) {
    switch (i.opcode) {
      case 0xc2: return i.prefix == 0x66 || i.prefix == 0xf2 ? 8 : 4;
      case 0x64:
      case 0x74: return 1;
      case 0x65:
      case 0x75: return 2;
      case 0x66:
      case 0x76: return 4;
      default: return 0;
    }
  }
  if (i.map == 2) {
    if (i.opcode == 0x26) return half_word(i);
    if (i.opcode == 0x27) return word(i);
    return i.prefix == 0x66 && (i.opcode == 0x29 || i.opcode == 0x37) ? 8 : 0;
  }
  if (i.map == 3) {
    if (i.opcode == 0x1e || i.opcode == 0x1f) return word(i);
    if (i.opcode == 0x3e || i.opcode == 0x3f) return half_word(i);
    if (i.opcode == 0xc2) return 2;
  }
  return 0;
}

bool is_store(const X86Instruction& i) {
  if (i.map == 1) {
    switch (i.opcode) {
      case 0x11:
      case 0x13:
      case 0x17:
      case 0x29:
      case 0x2b:
      case 0x7f:
      case 0xe7:
      case 0xd6: return true;
      case 0x7e: return i.prefix == 0x66;
      default: return false;
    }
  }
  if (i.map == 5) return i.opcode == 0x11 || i.opcode == 0x7e;
  return i.map == 2 && i.encoding == X86Encoding::Vex && (i.opcode == 0x2e || i.opcode == 0x2f || i.opcode == 0x8e);
}

bool reads_destination(const X86Instruction& i) {
  const bool fma = (i.map == 2 || i.map == 6) && i.opcode >= 0x96 && i.opcode <= 0xbf && (i.opcode & 0xf) >= 6;
  const bool ternary =
      (i.map == 2 && ((i.opcode >= 0x50 && i.opcode <= 0x53) || (i.opcode >= 0x75 && i.opcode <= 0x77) ||
                      (i.opcode >= 0x7d && i.opcode <= 0x7f) || i.opcode == 0xb4 || i.opcode == 0xb5 ||
                      (i.opcode >= 0x70 && i.opcode <= 0x73 && i.prefix == 0x66))) ||
      (i.map == 3 && (i.opcode == 0x25 || i.opcode == 0x54));
  return i.encoding != X86Encoding::Legacy && (fma || ternary);
}

// Operands in vvvv: all but moves, conversions and functions of one operand.
bool reads_third(const X86Instruction& i) {
  if (i.encoding == X86Encoding::Legacy) return false;
  if (i.map == 1)
    return (i.opcode >= 0x51 && i.opcode <= 0x5f && i.opcode != 0x51 && i.opcode != 0x52 && i.opcode != 0x53 &&
            i.opcode != 0x5a && i.opcode != 0x5b) ||
           (i.opcode >= 0x60 && i.opcode <= 0x6d) || (i.opcode >= 0x74 && i.opcode <= 0x76) || i.opcode == 0xc2 ||
           (i.opcode >= 0xd0 && i.opcode != 0xd6 && i.opcode != 0xd7 && i.opcode != 0xe6 && i.opcode != 0xe7 &&
            i.opcode != 0xf0) ||
           i.opcode == 0x7c || i.opcode == 0x7d;
  if (i.map == 2)
    return i.opcode <= 0x0b || (i.opcode >= 0x10 && i.opcode <= 0x15 && i.prefix == 0x66) ||
           (i.opcode >= 0x26 && i.opcode <= 0x2d && i.prefix == 0x66 && i.opcode != 0x2a) ||
           (i.opcode >= 0x36 && i.opcode <= 0x40 && i.prefix == 0x66) || (i.opcode >= 0x45 && i.opcode <= 0x47) ||
           (i.opcode >= 0x50 && i.opcode <= 0x55 && i.opcode != 0x54) || (i.opcode >= 0x64 && i.opcode <= 0x66) ||
           (i.opcode >= 0x70 && i.opcode <= 0x77 && i.prefix != 0xf3) ||
           (i.opcode >= 0x96 && i.opcode <= 0xbf && (i.opcode & 0xf) >= 6) || i.opcode == 0xb4 || i.opcode == 0xb5 ||
           i.opcode == 0xcf;
  if (i.map == 3)
    return i.opcode == 0x0c || i.opcode == 0x0d || i.opcode == 0x0e || i.opcode == 0x25 || i.opcode == 0x1e ||
           i.opcode == 0x1f || i.opcode == 0x3e || i.opcode == 0x3f || (i.opcode >= 0x4a && i.opcode <= 0x4c) ||
           i.opcode == 0x50 || i.opcode == 0x54 || (i.opcode >= 0x70 && i.opcode <= 0x73) || i.opcode == 0xc2;
  if (i.map == 5) return i.opcode >= 0x58 && i.opcode <= 0x5f && i.opcode != 0x5a && i.opcode != 0x5b;
  return i.map == 6 && i.opcode >= 0x96;
}

FlowForm general_flow(const X86Instruction& i) {
  const FlowForm form{.flow = Flow::General, .to = Place::Rm, .reads_old = true, .reads_reg = true};
  if (i.encoding == X86Encoding::Vex && i.map == 3 && i.opcode != 0xf0) return {};  // shifts of masks
  if (i.encoding == X86Encoding::Vex)
    return {
        .flow = Flow::General, .to = i.map == 2 && i.opcode == 0xf3 ? Place::Third : Place::Reg, .reads_third = true};
  if (i.map == 1) {
    if ((i.opcode & 0xf0) == 0x40) return {.flow = Flow::WithFlags, .to = Place::Reg, .reads_old = true};
    if ((i.opcode & 0xf0) == 0x90) return {.flow = Flow::FromFlags, .to = Place::Rm};
    if (i.opcode == 0xb6 || i.opcode == 0xb7 || i.opcode == 0xbe || i.opcode == 0xbf || i.opcode == 0xb8 ||
        i.opcode == 0xbc || i.opcode == 0xbd)
      return {.flow = Flow::General, .to = Place::Reg};
    if (i.opcode == 0xaf) return {.flow = Flow::General, .to = Place::Reg, .reads_old = true};
    if (i.opcode == 0xa3 || i.opcode == 0xba) return {.flow = Flow::Compare, .reads_reg = i.opcode == 0xa3};
    if (i.opcode == 0xa4 || i.opcode == 0xa5 || i.opcode == 0xac || i.opcode == 0xad) return form;
    return {};
  }
  if (i.map != 0) return {};
  if (i.opcode < 0x40) {
    const int low = i.opcode & 7;
    if (low > 3) return {};
    const bool is_compare = (i.opcode & 0x38) == 0x38;
    if (is_compare) return {.flow = Flow::Compare, .reads_reg = true};
    return low < 2 ? form : FlowForm{.flow = Flow::General, .to = Place::Reg, .reads_old = true};
  }
  switch (i.opcode) {
    case 0x63:
    case 0x8a:
    case 0x8b:
    case 0x69:
    case 0x6b: return {.flow = Flow::General, .to = Place::Reg};
    case 0x80:
    case 0x81:
    case 0x83:
      if ((i.reg & 7) == 7) return {.flow = Flow::Compare};
      return {.flow = Flow::General, .to = Place::Rm, .reads_old = true};
    case 0x84:
    case 0x85: return {.flow = Flow::Compare, .reads_reg = true};
    case 0x88:
    case 0x89: return {.flow = Flow::General, .to = Place::Rm, .reads_reg = true};
    case 0xc0:
    case 0xc1:
    case 0xd0:
    case 0xd1:
    case 0xd2:
    case 0xd3:
    case 0xf6:
    case 0xf7:
      if ((i.opcode & 0xf6) == 0xf6 && (i.reg & 7) < 2) return {.flow = Flow::Compare};
      return {.flow = Flow::General, .to = Place::Rm, .reads_old = true};
    default: return {};
  }
}

FlowForm mask_flow(const X86Instruction& i) {
  if (i.map == 1) {
    if (i.opcode >= 0x41 && i.opcode <= 0x4b)
      return {
          .flow = Flow::Masks, .to = Place::Reg, .reads_third = i.opcode != 0x44, .width = i.opcode == 0x4b ? 8 : 0};
    if (i.opcode == 0x90 || i.opcode == 0x92 || i.opcode == 0x93) return {.flow = Flow::Masks, .to = Place::Reg};
    if (i.opcode == 0x91) return {.flow = Flow::Masks, .to = Place::Rm, .reads_reg = true};
    if (i.opcode == 0x98 || i.opcode == 0x99) return {.flow = Flow::Compare, .reads_reg = true, .mask_width = 0};
  }
  return {};
}

FlowForm vector_flow(const X86Instruction& i) {
  FlowForm form{.flow = Flow::Lanes, .to = Place::Reg, .mask_width = mask_width(i)};
  form.reads_third = reads_third(i);
  form.reads_old = reads_destination(i) || (i.encoding == X86Encoding::Legacy && i.map != 3 && !is_store(i));
  if (const int width = compare_width(i); width != 0) {
    form.flow = Flow::CompareMask;
    form.width = form.mask_width = width;
    form.reads_third = true;
    return form;
  }
  if (i.map == 2 && i.prefix == 0xf3 && i.encoding == X86Encoding::Evex) {
    const int width = (i.opcode & 0xf0) == 0x20 ? half_word(i) : word(i);
    if (i.opcode == 0x28 || i.opcode == 0x38) return {.flow = Flow::SpreadMask, .to = Place::Reg, .width = width};
    if (i.opcode == 0x29 || i.opcode == 0x39) return {.flow = Flow::TestMask, .to = Place::Reg, .width = width};
  }
  const auto* resize = std::ranges::find_if(resizes, [&](const ResizeRow& row) {
    return row.map == i.map && row.prefix == i.prefix && row.opcode == i.opcode &&
           (row.wide < 0 || (row.wide == 1) == i.wide);
  });
  if (resize != resizes.end()) {
    form.flow = Flow::Resize;
    form.width = resize->from;
    form.to_width = resize->to;
    form.reads_third = form.reads_old = false;
    const bool to_rm = (i.map == 2 && i.prefix == 0xf3 && i.opcode < 0x40) || (i.map == 3 && i.opcode == 0x1d);
    form.to = to_rm ? Place::Rm : Place::Reg;
    form.reads_reg = to_rm;
    form.mask_width = resize->to;
    return form;
  }
  const auto* move = std::ranges::find_if(moves, [&](const FlowRow& row) {
    return row.map == i.map && (row.prefix == any || row.prefix == i.prefix) && row.first <= i.opcode &&
           i.opcode <= row.last;
  });
  if (move != moves.end()) {
    form.flow = move->flow;
    form.width = move->width != 0 ? move->width : word(i);
    form.reads_third = move->reads_third && i.encoding != X86Encoding::Legacy;
    if (form.flow == Flow::Extract) {
      form.to = Place::Rm;
      form.reads_reg = true;
    }
    return form;
  }
  if (i.map == 1 && i.opcode >= 0x71 && i.opcode <= 0x73) {
    form.to = Place::Third;
    form.reads_third = false;
    const bool bytes = i.opcode == 0x73 && ((i.reg & 7) == 3 || (i.reg & 7) == 7);
    if (bytes) form.flow = Flow::ShiftBytes;
    return form;
  }
  if (i.map == 1 && (i.opcode == 0x2e || i.opcode == 0x2f)) return {.flow = Flow::Compare, .reads_reg = true};
  if (i.map == 2 && i.opcode == 0x17) return {.flow = Flow::Compare, .reads_reg = true};
  if (i.map == 5 && (i.opcode == 0x2e || i.opcode == 0x2f)) return {.flow = Flow::Compare, .reads_reg = true};
  // Into general registers.
  if ((i.map == 1 || i.map == 5) && (i.opcode == 0x2c || i.opcode == 0x2d))
    return {.flow = Flow::General, .to = Place::Reg};
  if (i.map == 1 && (i.opcode == 0x50 || i.opcode == 0xd7 || i.opcode == 0xc5))
    return {.flow = Flow::General, .to = Place::Reg};
  const bool is_move = i.map == 1 || i.map == 5;
  if (is_move && (i.opcode == 0x6e || (i.opcode == 0x7e && i.prefix == 0x66))) {
    form.flow = Flow::Scalar;
    form.width = i.map == 5 ? 2 : word(i);
    form.reads_old = form.reads_third = false;
    form.to = i.opcode == 0x6e ? Place::Reg : Place::Rm;
    form.reads_reg = i.opcode == 0x7e;
    return form;
  }
  if ((i.map == 1 || i.map == 5) && i.opcode == 0x2a) {
    form.flow = Flow::Scalar;
    form.width = i.map == 5 ? 2 : i.prefix == 0xf2 ? 8 : 4;
    form.reads_old = form.reads_third = false;
    return form;
  }
  if (is_store(i)) {
    form.to = Place::Rm;
    form.reads_reg = true;
    form.reads_third = form.reads_old = false;
  }
  if (i.map == 1 && ((i.opcode == 0x7e && i.prefix == 0xf3) || i.opcode == 0xd6)) {
    form.flow = Flow::Scalar;
    form.width = 8;
    form.reads_old = form.reads_third = false;
    return form;
  }
  if (const int scalar = target::scalar_bytes(i); scalar != 0) {
    form.flow = Flow::Scalar;
    form.width = scalar;
    const bool is_plain_move = (i.opcode == 0x10 || i.opcode == 0x11) && is_move;
    if (is_plain_move) form.reads_third = form.reads_old = false;
  }
  const bool plain_load = i.map == 1 && (i.opcode == 0x10 || i.opcode == 0x28 || i.opcode == 0x6f);
  const bool one_operand =
      i.map == 1 && ((i.opcode >= 0x51 && i.opcode <= 0x53) || i.opcode == 0x5b || i.opcode == 0x5a);
  if (i.encoding == X86Encoding::Legacy && (plain_load || one_operand)) form.reads_old = false;
  return form;
}

}  // namespace

FlowForm flow_of(const X86Instruction& i) {
  if (i.vector_bytes != 0) return vector_flow(i);
  const bool is_mask = i.encoding == X86Encoding::Vex && i.map == 1;
  return is_mask ? mask_flow(i) : general_flow(i);
}

}  // namespace sapper::inspect
