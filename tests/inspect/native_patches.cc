#include "tests/inspect/native_patches.h"

#include <algorithm>
#include <array>

#include "target/x86.h"

namespace sapper::inspect {
namespace {

struct Row {
  uint8_t map, from, to;
  const char* change;
};

// Opcodes of vector instructions with the same operands.
constexpr std::array rows = {
    Row{1, 0x58, 0x59, "add: multiply"},
    Row{1, 0x59, 0x58, "multiply: add"},
    Row{1, 0x5c, 0x58, "subtract: add"},
    Row{1, 0x5e, 0x59, "divide: multiply"},
    Row{1, 0x5d, 0x5f, "minimum: maximum"},
    Row{1, 0x5f, 0x5d, "maximum: minimum"},
    Row{1, 0xfe, 0xfa, "add s32: subtract"},
    Row{1, 0xfa, 0xfe, "subtract s32: add"},
    Row{1, 0xd4, 0xfb, "add s64: subtract"},
    Row{1, 0xfd, 0xf9, "add s16: subtract"},
    Row{1, 0xfc, 0xf8, "add s8: subtract"},
    Row{1, 0xdb, 0xeb, "and: or"},
    Row{1, 0xeb, 0xdb, "or: and"},
    Row{1, 0xef, 0xeb, "xor: or"},
    Row{1, 0x51, 0x53, "square root: reciprocal"},
    Row{2, 0x39, 0x3d, "minimum s32: maximum"},
    Row{2, 0x3d, 0x39, "maximum s32: minimum"},
    Row{2, 0x3b, 0x3f, "minimum u32: maximum"},
    Row{2, 0x98, 0x9a, "multiply-add: multiply-subtract"},
    Row{2, 0xa8, 0xaa, "multiply-add: multiply-subtract"},
    Row{2, 0xb8, 0xba, "multiply-add: multiply-subtract"},
    Row{2, 0x99, 0x9b, "multiply-add: multiply-subtract"},
    Row{2, 0xa9, 0xab, "multiply-add: multiply-subtract"},
    Row{2, 0xb9, 0xbb, "multiply-add: multiply-subtract"},
    Row{2, 0xbc, 0xb8, "negated multiply-add: multiply-add"},
    Row{2, 0xac, 0xa8, "negated multiply-add: multiply-add"},
};

bool is_comparison(const target::X86Instruction& i) {
  return (i.map == 1 && i.opcode == 0xc2) || (i.map == 3 && (i.opcode == 0x1e || i.opcode == 0x1f));
}

}  // namespace

std::vector<CodePatch> patches_of(std::span<const std::byte> code) {
  std::vector<CodePatch> patches;
  for (size_t at = 0; at < code.size();) {
    const auto i = target::decode_x86(code.subspan(at));
    if (!i) break;
    const auto offset = static_cast<uint32_t>(at);
    at += i->length;
    if (i->vector_bytes == 0 || i->encoding == target::X86Encoding::Legacy) continue;
    if (is_comparison(*i)) {  // the opposite
      const auto last = static_cast<uint32_t>(at - 1);
      patches.push_back(
          {offset, last, static_cast<uint8_t>(std::to_integer<int>(code[last]) ^ 4), "compare: opposite"});
      continue;
    }
    const auto* row = std::ranges::find_if(rows, [&](const Row& r) { return r.map == i->map && r.from == i->opcode; });
    if (row == rows.end()) continue;
    if (i->map == 2 && i->prefix != 0x66) continue;
    // The byte after the prefixes: after two of VEX's (c5), three (c4), four of EVEX.
    const int first = std::to_integer<int>(code[offset]);
    const uint32_t byte = offset + (first == 0xc5 ? 2 : first == 0xc4 ? 3 : 4);
    if (std::to_integer<int>(code[byte]) != i->opcode) continue;
    patches.push_back({offset, byte, row->to, row->change});
  }
  return patches;
}

}  // namespace sapper::inspect
