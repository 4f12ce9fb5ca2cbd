// The surgical fix of what excess precision does to a kernel: each rounding that the compiler leaves out is written
// down as a reduce-precision, which it must keep, on that instruction alone. The kernel stays one.
#pragma once

#include <string>
#include <vector>

#include "check/check.h"
#include "inspect/inspect.h"

namespace sapper::inspect {

struct Fix {
  hlo::Module module;              // the program with its roundings written down
  std::vector<std::string> fixed;  // instructions of the program
  std::vector<std::string> left;   // of the kernel, that could not be: with the reason
  Inspection before;
  Inspection after;           // the same kernel, on the same inputs
  size_t kernels_before = 0;  // of the compiled program
  size_t kernels_after = 0;
  bool same_meaning = false;   // the reference computes the same bits for both programs
  check::Report strict_check;  // of the new program: by strict semantics

  // Everything that was to be shown holds.
  [[nodiscard]] bool holds() const;
};

// The kernel is the one that `options` name, else the first that is wrong by strict semantics. Errors: as
// inspect_kernel's; BadInput where the kernel leaves out no rounding.
[[nodiscard]] Result<Fix> fix_kernel(target::CompilerPool& pool, const hlo::Module& module, const std::string& path,
                                     const InspectOptions& options);

// What was changed and what was shown, for people.
[[nodiscard]] std::string to_text(const Fix& fix);

// The roundings of `names` (instructions of narrow float types, elementwise or converts) written down; those that
// cannot be go to `left`. For tests, and for those who know which.
[[nodiscard]] hlo::Module with_explicit_roundings(const hlo::Module& module, const std::vector<std::string>& names,
                                                  std::vector<std::string>& fixed, std::vector<std::string>& left);

}  // namespace sapper::inspect
