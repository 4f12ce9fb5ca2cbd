// x86-64 instructions as far as stepping through them and reading their registers need it: how long they are, which
// registers and memory they name, and how many bytes of memory they take. Not what they compute, and not their text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace sapper::target {

enum class X86Encoding : uint8_t { Legacy, Vex, Evex };

// A register that does not take part.
constexpr uint8_t no_register = 0xff;

// base + index * scale + displacement. The index of a gather is a vector register.
struct X86Memory {
  uint8_t base = no_register;  // a general register
  uint8_t index = no_register;
  uint8_t scale = 1;
  bool from_next = false;  // base is the address of the next instruction
  bool is_vector_index = false;
  bool has_segment = false;  // fs: or gs:, whose base is not known
  int64_t displacement = 0;
  int bytes = 0;  // that are read or written, masked elements counted; of an EVEX broadcast the one element
};

struct X86Instruction {
  uint8_t length = 0;
  X86Encoding encoding = X86Encoding::Legacy;
  uint8_t map = 0;     // of opcodes: 0: one byte, 1: 0f, 2: 0f38, 3: 0f3a, 5 and 6: those of AVX512-FP16
  uint8_t prefix = 0;  // that selects the opcode's meaning, or the operands' size: 0, 0x66, 0xf3, 0xf2
  uint8_t opcode = 0;
  bool wide = false;         // REX.W, VEX.W, EVEX.W
  uint8_t vector_bytes = 0;  // 16, 32, 64: of a vector instruction's registers; 0: it is none
  bool has_modrm = false;
  uint8_t reg = no_register;    // ModRM.reg, extended
  uint8_t rm = no_register;     // ModRM.rm, extended, where it names a register
  uint8_t third = no_register;  // vvvv, of VEX and EVEX; also where the instruction has no such operand (0 then)
  std::optional<X86Memory> memory;
  uint8_t mask = 0;      // k register of the elements that are written; 0: all are
  bool zeroing = false;  // the others become zero
  bool broadcast = false;
  uint8_t immediate = 0;  // the last byte
};

// The instruction at the beginning of `code`; nullopt: it is cut off, or not one that compilers emit in 64-bit code.
[[nodiscard]] std::optional<X86Instruction> decode_x86(std::span<const std::byte> code);

// Bytes of memory that an instruction with a memory operand takes (x86_memory.cc).
[[nodiscard]] int memory_bytes(const X86Instruction& instruction);

// Bytes of one element, of an instruction on vectors that works on the lowest element only ("scalar": addss); 0: it
// works on all.
[[nodiscard]] int scalar_bytes(const X86Instruction& instruction);

}  // namespace sapper::target
