// The first look at a serialized module: where its computations and instructions lie in the bytes. Inside of the proto
// reader.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace sapper::hlo {

// Views point into the bytes that were outlined. `others` are the encoded fields that are not named here.
struct ComputationOutline {
  std::string_view name;
  std::string_view execution_thread;
  std::optional<std::string_view> program_shape;
  int64_t id = 0;
  int64_t root_id = 0;
  bool is_fusion = false;
  std::string others;
  size_t first = 0;  // its instructions are first .. first + count of ModuleOutline::instructions
  size_t count = 0;
};

struct ModuleOutline {
  std::string_view name;
  int64_t id = 0;
  int64_t entry_id = 0;
  std::optional<std::string_view> host_program_shape;
  std::optional<std::string_view> schedule;
  std::string others;
  std::vector<ComputationOutline> computations;
  std::vector<std::string_view> instructions;
};

[[nodiscard]] Result<ModuleOutline> outline_module(std::string_view wire);

// The error of a message that ends too early or is none: "WHAT is damaged or truncated".
[[nodiscard]] tl::unexpected<Error> damaged(std::string_view what);

}  // namespace sapper::hlo
