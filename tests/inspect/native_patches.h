// Defects of a compiler, simulated: bytes of a kernel's machine code that are written over, so that one instruction
// computes something else of the same length and operands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sapper::inspect {

struct CodePatch {
  uint32_t offset = 0;  // of the instruction
  uint32_t byte = 0;    // of the byte that is written
  uint8_t value = 0;
  std::string change;  // "add: multiply"
};

// One for each instruction of the code that has a counterpart.
[[nodiscard]] std::vector<CodePatch> patches_of(std::span<const std::byte> code);

}  // namespace sapper::inspect
