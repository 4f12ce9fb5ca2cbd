// Program: one stage of one kernel as its dump states it. One form for all text forms: SSA, packed bundles, bundles on
// physical registers. Nothing is interpreted here: opcodes are names (isa.h knows them), addresses are symbolic.
// Views point into the text, which the program owns.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sapper::llo {

using InstructionIndex = uint32_t;  // position in Program::instructions
using RegionIndex = uint32_t;       // position in Program::regions
using BundleIndex = uint32_t;       // position in Program::bundles

// The register banks, by the letters of their names: %s1, %v1, %vm1, %p1, and %1 of what has no value but a place in
// a queue (or none).
enum class Bank : uint8_t { Scalar, Vector, Mask, Predicate, Token };

// %v17_v3: value 17, in physical register 3. Before register allocation: %v17.
struct Register {
  Bank bank = Bank::Token;
  uint32_t number = 0;
  int32_t physical = -1;  // -1: none yet
  bool operator==(const Register&) const = default;
};

// 12, 0x1f, -3 are the bits of an integer; 1.5, -inf, nan, 1e-3 those of an f32; 1.0|2.0 a pair of bf16, high|low.
struct Immediate {
  uint32_t bits = 0;
  bool is_float = false;
};

// #allocation3, #allocation7_spill: a piece of memory whose address the loader chooses.
struct AllocationName {
  uint32_t number = 0;
  bool spill = false;
  bool operator==(const AllocationName&) const = default;
};

// SparseCore: any memory of the sparse cores (sparse_core_tile_smem, ...); only top-level programs know it.
enum class Space : uint8_t { Hbm, Vmem, Smem, Sflag, Cmem, Host, SparseCore };

// What stands where one scalar is expected.
using ScalarOperand = std::variant<Immediate, Register, AllocationName>;

// [vmem:[%s1 + $0x8] ss:$2 sm:$0xff pattern:$0x76543210]
struct MemoryOperand {
  Space space = Space::Vmem;
  ScalarOperand base;
  std::optional<ScalarOperand> offset;
  bool subtract_offset = false;
  std::optional<ScalarOperand> sublane_stride;       // ss: rows from one sublane to the next
  std::optional<ScalarOperand> sublanes_per_stride;  // sps: so many sublanes lie together; 1 where not stated
  std::optional<ScalarOperand> sublane_mask;         // sm: bit i: sublane i
  std::optional<ScalarOperand> pattern;              // nibble i: the row of sublane i
  // Options of other generations, by key, without the colon: {"iar", "1"}.
  std::vector<std::pair<std::string_view, std::string_view>> options;
};

struct Operand {
  std::variant<Immediate, Register, AllocationName, MemoryOperand> value;
  // From a /*name=*/ before it; "old": the value that stays where the guard does not hold, as in
  // smov.u32 (%p1, %old), %new; empty: none.
  std::string_view name;
  uint32_t offset = 0;  // of an allocation: added to its address, in the address unit: [#allocation3 + $0x8]
};

// (%p3) or (!%p3) or (1): the instruction takes effect only then.
struct Guard {
  std::variant<Register, bool> condition;
  bool negated = false;
};

struct Instruction {
  std::string_view opcode;  // "vmatmul.bf16.gmra.mxu0"
  Register result;          // Bank::Token with its number where there is no value
  std::vector<Operand> operands;
  // What stands in brackets beside the operands: {"shape", "f32[256]"}, {"kind", "input"}, {"resolvable", "$true"},
  // {"", "1/16"}, {"", "short"}, {"alias", "#allocation3"} after the operands of an address.
  std::vector<std::pair<std::string_view, std::string_view>> attributes;
  std::optional<Guard> guard;
  std::optional<uint32_t> target;  // the region number a branch goes to
  std::string_view comment;        // the last /* ... */ that names no operand, without its marks
  uint32_t line = 0;               // 1-based, in the dump
  RegionIndex region = 0;
  BundleIndex bundle = 0;  // in bundle forms

  [[nodiscard]] std::optional<std::string_view> attribute(std::string_view key) const;
};

// $region14: #{fusion.1} parent=3 // loop_header
struct Region {
  uint32_t number = 0;
  std::optional<uint32_t> parent;  // by number
  std::string_view kind;           // "loop_header"; empty: none
  std::string_view hlo;            // the HLO instruction; empty: none
  std::string_view mark;           // "PrimaryCoreRegion", "[sym:post-main]"; empty: none
  InstructionIndex first = 0;      // the instruction where it starts; instructions.size(): at the program's end
  std::optional<BundleIndex> end;  // bundle forms: the bundle that it ends with; nullopt: not stated
};

struct Allocation {
  AllocationName name;
  Space space = Space::Vmem;
  std::string_view shape;          // 'f32[256,256]{1,0:T(8,128)S(1)}'
  std::optional<uint64_t> size;    // bytes; nullopt: not stated (all ones in the dump)
  std::optional<uint64_t> offset;  // bytes
  bool scoped = false;
  bool fixed = false;  // fixed_abs
  std::string_view tag;
  RegionIndex region = 0;
  uint32_t line = 0;
};

struct Bundle {
  uint32_t address = 0;
  InstructionIndex first = 0;  // instructions [first, first + count)
  uint32_t count = 0;
  std::string_view label;  // "LB", "PF", ...; empty: none
  uint32_t line = 0;
};

enum class Form : uint8_t {
  Ssa,              // one instruction a line, values
  ValueBundles,     // bundles of values, before register allocation
  PhysicalBundles,  // bundles on physical registers
};

struct Program {
  std::shared_ptr<const std::string> text;
  std::string file;
  Form form = Form::Ssa;
  std::vector<Instruction> instructions;
  std::vector<Region> regions;  // in the order of their starts
  std::vector<Allocation> allocations;
  std::vector<Bundle> bundles;  // empty in SSA form

  // The instruction of the HLO module that `instruction` was made for; empty: not stated.
  [[nodiscard]] std::string_view hlo_of(const Instruction& instruction) const;
};

[[nodiscard]] const char* to_string(Space space);
// The memory of this name that holds data: hbm, vmem, smem, cmem; nullopt: another name.
[[nodiscard]] std::optional<Space> data_space_named(std::string_view name);
[[nodiscard]] std::string to_string(const Register& name);

}  // namespace sapper::llo
