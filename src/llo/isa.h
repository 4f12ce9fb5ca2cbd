// The instruction set: one table of every opcode of every generation and release, with its operands, its unit, its
// meaning and a line of documentation. The machine runs by it, `sapper isa` prints it.
//
// The table is made of one span a subject (opcodes_*.cc); an opcode has exactly one row.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "llo/vreg.h"

namespace sapper::llo {

class Machine;
struct Step;

// Which part of the core does it; the slot of a bundle and the class of its latency.
enum class Unit : uint8_t {
  Scalar,
  Vector,
  Load,
  Store,
  CrossLane,       // the XLUs: rotate, permute, transpose, reduce over lanes; results wait in a FIFO
  Transcendental,  // the EUP
  Matrix,
  Dma,
  Sync,
  Control,
  Pseudo,  // no effect on values
};

// What a row does.
// Each lane of the result from the same lane of the operands. Undefined in, undefined out, lane by lane; lanes are of
// `bits` bits (16 and 8: packed arithmetic). The result may be one of the operands.
using LaneFunction = void (*)(const Vreg* const* operands, Vreg& result);
struct Lanewise {
  LaneFunction compute;
  int bits = 32;
};
// The result's bits are some of the vector operands' bits, chosen by scalars, immediates and attributes only (rotate,
// unpack without conversion, ...): the machine applies it to values and to definedness alike. `operands` are the vector
// operands; the result is none of them.
using MoveFunction = void (*)(const Machine& machine, const Step& step, const Vreg* const* operands, Vreg& result);
struct Movement {
  MoveFunction move;
};
// Everything else: reads and writes the machine, and looks after definedness itself. The rest says of some where their
// results come from, conversions apart (origins.h).
using Semantics = void (*)(Machine& machine, const Step& step);
struct Action {
  Semantics act;
  int lane_bits = 0;             // not 0: each lane of so many bits from the same lanes of the operands
  MoveFunction moves = nullptr;  // the result's bits from these of the operands'
};
struct NoEffect {};
using Meaning = std::variant<NoEffect, Lanewise, Movement, Action>;

struct OpcodeInfo {
  // Parts separated by dots. `a|b` is a choice, `xlu#` any digits after xlu (`mrb[#]` in brackets), a part in
  // parentheses may be missing: "vrot.lane.(b32).xlu#". Step::choice holds, for each part that is a choice or a number
  // or may be missing, the position of the alternative, the number, or 1 where it stands and 0 where not.
  std::string_view name;
  // "v = v v": banks of the result and the operands: s scalar, v vector, m mask, p predicate, t token, M memory,
  // x anything, - no result. "v?" may be missing, "v*" may stand any number of times. An immediate may stand for s, v,
  // p and m. A row of unit Pseudo without effect but with a result gives its first operand a second name.
  std::string_view operands;
  Unit unit = Unit::Pseudo;
  Meaning meaning;
  std::string_view documentation;
};

// The spans of the table.
[[nodiscard]] std::span<const OpcodeInfo> scalar_opcodes();
[[nodiscard]] std::span<const OpcodeInfo> control_opcodes();
[[nodiscard]] std::span<const OpcodeInfo> memory_opcodes();
[[nodiscard]] std::span<const OpcodeInfo> dma_opcodes();
[[nodiscard]] std::span<const OpcodeInfo> sync_opcodes();
[[nodiscard]] std::span<const OpcodeInfo> vector_opcodes();
[[nodiscard]] std::span<const OpcodeInfo> compare_opcodes();
[[nodiscard]] std::span<const OpcodeInfo> mask_opcodes();
[[nodiscard]] std::span<const OpcodeInfo> convert_opcodes();
[[nodiscard]] std::span<const OpcodeInfo> pack_opcodes();
[[nodiscard]] std::span<const OpcodeInfo> cross_lane_opcodes();
[[nodiscard]] std::span<const OpcodeInfo> transpose_opcodes();
[[nodiscard]] std::span<const OpcodeInfo> transcendental_opcodes();
[[nodiscard]] std::span<const OpcodeInfo> matrix_opcodes();
[[nodiscard]] std::span<const OpcodeInfo> pseudo_opcodes();

struct OpcodeMatch {
  const OpcodeInfo* info = nullptr;
  std::vector<uint32_t> choice;
};
// The row of `opcode` ("vrot.lane.b32.xlu1"); info is null: unknown.
[[nodiscard]] OpcodeMatch find_opcode(std::string_view opcode);

// All rows, sorted by name.
[[nodiscard]] std::vector<const OpcodeInfo*> all_opcodes();
// The row's name with the reference line, for people.
[[nodiscard]] std::string describe(const OpcodeInfo& info);
[[nodiscard]] const char* to_string(Unit unit);

}  // namespace sapper::llo
