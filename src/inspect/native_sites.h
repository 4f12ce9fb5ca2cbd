// Sites: what each instruction of a stepped kernel wrote to each register, lane by lane, every lane with its tag.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "inspect/native_tags.h"
#include "target/trace.h"

namespace sapper::inspect {

// Numbers of registers: the general ones, the vectors, the masks.
constexpr uint32_t first_vector = 16;
constexpr uint32_t first_mask = 48;
// The product inside of a multiply-add that writes vector r, which no register ever holds: 64 + r.
constexpr uint32_t first_product = 64;
[[nodiscard]] constexpr bool is_product(uint32_t reg) { return reg >= first_product; }

// "rax", "ymm3" (by how many bytes of it are written), "k1".
[[nodiscard]] std::string register_name(uint32_t reg, int vector_bytes);

struct Lane {
  uint64_t value = 0;  // its bits; of a mask, the one bit
  Tag tag = no_tag;
  uint32_t execution = 0;  // of the instruction
  uint8_t width = 0;       // bytes; 0: one bit of a mask
  uint8_t position = 0;    // in the register, counted in lanes
};

struct Site {
  uint32_t offset = 0;  // of the instruction
  uint32_t reg = 0;
  int vector_bytes = 0;
  uint64_t executions = 0;
  std::vector<Lane> lanes;  // those with tags
};

// An argument of the kernel that is an operand, in memory.
struct OperandBuffer {
  uint64_t address = 0;
  uint64_t bytes = 0;
  size_t operand = 0;  // as the tags count
  int element_bytes = 0;
  std::vector<int64_t> elements;  // of each place in memory; empty: in order
};

// Errors: Unsupported, where the code has an instruction that is not known.
[[nodiscard]] Result<std::vector<Site>> find_sites(const target::Trace& trace, std::span<const OperandBuffer> operands,
                                                   TagTable& tags);

}  // namespace sapper::inspect
