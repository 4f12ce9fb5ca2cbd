// On sampled inputs no operation module of the corpus produces a NaN or an infinity that nobody meant. But for the
// gamma functions: they have poles at 0 and the negative integers, which are no domain that a range could have.
#include <gtest/gtest.h>

#include <filesystem>

#include "hlo/proto.h"
#include "inputs/sampler.h"
#include "tests/inputs/unintended.h"

namespace sapper::inputs {
namespace {

TEST(CorpusRanges, OperationsAreFiniteOnEveryKindOfInputs) {
  const std::filesystem::path folder(SAPPER_SOURCE_DIR "/../shared/corpus/ops");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not there";
  int modules = 0;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const auto module = hlo::read_module(file.path());
    ASSERT_TRUE(module.has_value()) << file.path();
    ++modules;
    const Ranges ranges = safe_ranges(*module);
    const bool has_poles = file.path().filename().string().find("gamma") != std::string::npos;
    for (const Kind kind : kinds) {
      if (has_poles && kind != Kind::Dense) continue;
      const auto arguments = sample(*module, ranges, hlo::fingerprint(*module), 0, kind);
      ASSERT_TRUE(arguments.has_value()) << file.path();
      UnintendedWatch watch;
      eval::Options options;
      options.trace = [&](const hlo::Computation& computation, const hlo::Instruction& instruction,
                          const hlo::Literal& value) { watch.see(computation, instruction, value); };
      ASSERT_TRUE(eval::evaluate(*module, *arguments, options).has_value()) << file.path();
      const Unintended* const first = watch.first_used();
      EXPECT_EQ(first, nullptr) << file.path() << ", " << to_string(kind) << ": " << first->opcode << " "
                                << first->instruction << " is " << (first->is_nan ? "NaN" : "infinite");
    }
  }
  EXPECT_GE(modules, 146);
}

}  // namespace
}  // namespace sapper::inputs
