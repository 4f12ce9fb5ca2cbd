// Kernels with one instruction changed: the HLO instruction that it makes wrong is named. The whole corpus is gone
// through by inspect_corpus.cc.
#include "tests/inspect/wrong_kernels.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "target/target.h"
#include "tests/llo/mutants.h"

namespace sapper::inspect {
namespace {

const std::string shared = std::string(SAPPER_SOURCE_DIR) + "/../shared";

std::string first_divergence(const Inspection& inspection) {
  if (!inspection.first_divergence) return "";
  const InspectedInstruction& first = inspection.instructions[*inspection.first_divergence];
  return inspection.module.computations[first.computation].instructions[first.instruction].name;
}

// Elementwise code, tails with masks, reductions, products, packed types.
TEST(WrongKernels, TheInstructionIsNamed) {
  if (!std::filesystem::exists(shared)) GTEST_SKIP() << "no corpus beside the checkout";
  const target::Target target = *target::parse_target("tpu:v5e");
  if (!target::plugin_present(target)) GTEST_SKIP() << "no plugin";
  target::CompilerPool pool({.workers = 1, .worker_program = SAPPER_BINARY});
  const LloInspectionOptions options = *options_for(target);
  int wrong = 0;
  for (const char* name : {"gelu", "layernorm", "softmax", "concat", "rms", "mm_bf", "cmp", "argmax0"}) {
    const auto cases = kernel_cases(pool, shared + "/corpus/ops/" + name + ".pb", target);
    ASSERT_TRUE(cases) << name << ": " << cases.error().describe();
    for (const KernelCase& kernel : *cases) {
      const auto right = inspect_llo(kernel.at_end(), options);
      ASSERT_TRUE(right) << name << ": " << right.error().describe();
      EXPECT_FALSE(right->first_divergence) << name << " " << kernel.name << ": " << first_divergence(*right);
      for (const llo::Mutant& mutant : llo::mutants_of(kernel.final, 1)) {
        const auto first = first_changed(kernel, mutant.program, options);
        ASSERT_TRUE(first) << first.error().describe();
        if (first->empty()) continue;
        ++wrong;
        const auto inspection =
            inspect_llo({kernel.module, kernel.operands, kernel.original, mutant.program, "final_bundles"}, options);
        ASSERT_TRUE(inspection) << inspection.error().describe();
        EXPECT_TRUE(first->contains(first_divergence(*inspection)))
            << name << " " << kernel.name << ", " << mutant.kind << " at line "
            << kernel.final.instructions[mutant.instruction].line << ": " << first_divergence(*inspection);
      }
    }
  }
  EXPECT_GE(wrong, 40);
}

}  // namespace
}  // namespace sapper::inspect
