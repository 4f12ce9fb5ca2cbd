// Kernels to look into: each of a real compilation, with what the reference hands it.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "inspect/llo_inspection.h"
#include "llo/program.h"
#include "target/compiler.h"

namespace sapper::inspect {

struct KernelCase {
  std::string name;  // of the instruction
  hlo::Module module;
  std::vector<hlo::Literal> operands;
  llo::Program original;
  llo::Program final;

  [[nodiscard]] LloKernel at_end() const { return {module, operands, original, final, "final_bundles"}; }
};

// Of the module at `path`, for a tpu target, on inputs of seed 0 (or NAME.npz beside it).
[[nodiscard]] Result<std::vector<KernelCase>> kernel_cases(target::CompilerPool& pool, const std::string& path,
                                                           const target::Target& target);

[[nodiscard]] Result<LloInspectionOptions> options_for(const target::Target& target);

}  // namespace sapper::inspect
