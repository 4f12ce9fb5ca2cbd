// The text of x86 machine code.
#pragma once

#include <cstddef>
#include <span>
#include <unordered_map>
#include <vector>

#include "inspect/inspection.h"

namespace sapper::inspect {

struct NativeCode {
  std::vector<CodeLine> lines;
  std::unordered_map<uint32_t, size_t> line_at;  // by offset
};

[[nodiscard]] NativeCode disassemble(std::span<const std::byte> code);

}  // namespace sapper::inspect
