// The machine code of a kernel: as the object file that XLA:CPU dumps has it, and where it lies in this process.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace sapper::target {

// Bytes of a function that the loader fills in: an address.
struct Relocation {
  size_t offset = 0;  // in the function
  size_t bytes = 0;
  bool is_relative = false;  // to the place itself
  std::string symbol;        // whose address it is; empty: a section's
  std::string target;        // what the object has there, of read-only data (as much as may matter); empty: unknown
};

struct JitFunction {
  std::string name;
  std::string code;
  std::vector<Relocation> relocations;  // by offset
};

// The functions that an ELF object for x86-64 defines.
[[nodiscard]] Result<std::vector<JitFunction>> read_object(std::string_view object);

// Where this process has the function as code of no file: all copies of the same bytes, but for what the loader fills
// in, which points to the same data.
[[nodiscard]] std::vector<std::byte*> find_in_memory(const JitFunction& function);

// The address of `symbol` as the loader wrote it into a copy of the function; 0: the function does not use it.
[[nodiscard]] uint64_t address_in_code(const JitFunction& function, const std::byte* copy, std::string_view symbol);

}  // namespace sapper::target
