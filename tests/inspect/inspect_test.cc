// Real kernels, looked into while the LLO machine runs them.
#include "inspect/inspect.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "hlo/proto.h"
#include "inspect/report.h"
#include "target/target.h"

namespace sapper::inspect {
namespace {

const std::string shared = std::string(SAPPER_SOURCE_DIR) + "/../shared";

#define SKIP_WITHOUT(target_name)                                                        \
  if (!std::filesystem::exists(shared)) GTEST_SKIP() << "no corpus beside the checkout"; \
  if (!target::plugin_present(*target::parse_target(target_name))) GTEST_SKIP() << "no plugin for " << (target_name)

Result<Inspection> inspect(const std::string& path, const std::string& on, InspectOptions options = {}) {
  static auto* const pool = new target::CompilerPool({.workers = 2, .worker_program = SAPPER_BINARY});
  options.check.target = *target::parse_target(on);
  SAPPER_TRY(hlo::Module module, hlo::read_module(path));
  return inspect_kernel(*pool, std::move(module), path, options);
}

const InspectedInstruction& named(const Inspection& inspection, std::string_view name) {
  for (const InspectedInstruction& inspected : inspection.instructions)
    if (inspection.module.computations[inspected.computation].instructions[inspected.instruction].name == name)
      return inspected;
  static const InspectedInstruction none;
  ADD_FAILURE() << "no instruction " << name;
  return none;
}

class Inspect : public testing::TestWithParam<const char*> {};

// f32 minus its own round trip through f16: neither convert rounds, so that the difference cancels. It is legal, and
// what happened shows inside of the kernel.
TEST_P(Inspect, RoundTripIsNotRounded) {
  const std::string on = std::string("tpu:") + GetParam();
  SKIP_WITHOUT(on);
  const auto inspection = inspect(shared + "/cases/qat_residual.hlo", on);
  ASSERT_TRUE(inspection) << inspection.error().describe();
  EXPECT_FALSE(inspection->first_divergence);
  EXPECT_EQ(inspection->output_differing, 1024);
  const InspectedInstruction& x = named(*inspection, "param_0");
  EXPECT_EQ(x.standing, Standing::Observed);
  const InspectedInstruction& narrowed = named(*inspection, "h.1");
  EXPECT_EQ(narrowed.standing, Standing::Explained);
  EXPECT_EQ(narrowed.liberty, Liberty::NotRounded);
  EXPECT_EQ(narrowed.seen, 1024);
  const InspectedInstruction& widened = named(*inspection, "y.1");
  EXPECT_EQ(widened.standing, Standing::Explained);
  EXPECT_EQ(widened.liberty, Liberty::Elided);
  // The register is the one that x was loaded to.
  ASSERT_FALSE(widened.probes.empty());
  EXPECT_EQ(widened.probes[0].reg, x.probes[0].reg);
  EXPECT_EQ(widened.got.max, x.got.max);
  EXPECT_EQ(widened.got.stddev, x.got.stddev);
  const InspectedInstruction& residual = named(*inspection, "r.1");
  EXPECT_EQ(residual.standing, Standing::Downstream);
  EXPECT_EQ(residual.got.max, 0);
  EXPECT_EQ(exit_code(*inspection), 0);
}

// Strictly, the first convert is where it goes wrong.
TEST_P(Inspect, StrictlyTheConvertDiverges) {
  const std::string on = std::string("tpu:") + GetParam();
  SKIP_WITHOUT(on);
  InspectOptions options;
  options.check.strict = true;
  const auto inspection = inspect(shared + "/cases/qat_residual.hlo", on, options);
  ASSERT_TRUE(inspection) << inspection.error().describe();
  ASSERT_TRUE(inspection->first_divergence);
  const InspectedInstruction& first = inspection->instructions[*inspection->first_divergence];
  EXPECT_EQ(&first, &named(*inspection, "h.1"));
  ASSERT_TRUE(first.worst);
  EXPECT_FALSE(first.worst->reg.empty());
  EXPECT_THAT(inspection->code[first.worst->line].text, testing::HasSubstr("vld"));
  ASSERT_TRUE(first.got_value && first.expected_value);
  EXPECT_EQ(exit_code(*inspection), 1);
}

INSTANTIATE_TEST_SUITE_P(Generations, Inspect, testing::Values("v2", "v3", "v4", "v5e", "v5p", "v6e", "tpu7x"),
                         [](const auto& test) { return std::string(test.param); });

// Elementwise code: every instruction is seen, at the stage that the emitter wrote and at the last one.
TEST(InspectStages, ElementwiseIsSeenAtEveryStage) {
  SKIP_WITHOUT("tpu:v5e");
  for (const char* stage : {"original", "post-GVN", "packed-bundles-pre-ra", "final_bundles"}) {
    InspectOptions options;
    options.stage = stage;
    const auto inspection = inspect(shared + "/corpus/ops/gelu.pb", "tpu:v5e", options);
    ASSERT_TRUE(inspection) << stage << ": " << inspection.error().describe();
    EXPECT_EQ(inspection->output_differing, 0) << stage;
    for (const InspectedInstruction& inspected : inspection->instructions) {
      const hlo::Instruction& it =
          inspection->module.computations[inspected.computation].instructions[inspected.instruction];
      if (it.opcode == hlo::Opcode::Constant || it.opcode == hlo::Opcode::Broadcast) continue;
      EXPECT_EQ(inspected.standing, Standing::Observed) << stage << ": " << it.name;
      EXPECT_EQ(inspected.seen, inspected.elements) << stage << ": " << it.name;
    }
  }
}

// What does not fit into the memory that is given is not looked for, and that is said; the results always count.
TEST(InspectMemory, IsBounded) {
  SKIP_WITHOUT("tpu:v5e");
  InspectOptions options;
  const auto whole = inspect(shared + "/corpus/ops/gelu.pb", "tpu:v5e", options);
  ASSERT_TRUE(whole) << whole.error().describe();
  const auto seen_in = [](const Inspection& inspection) {
    int64_t bytes = 0;
    for (const InspectedInstruction& it : inspection.instructions)
      if (it.seen > 0) bytes += it.seen * 8;
    return bytes;
  };
  options.memory_bytes = seen_in(*whole) / 2;
  const auto half = inspect(shared + "/corpus/ops/gelu.pb", "tpu:v5e", options);
  ASSERT_TRUE(half) << half.error().describe();
  EXPECT_GT(seen_in(*half), 0);
  EXPECT_LT(seen_in(*half), seen_in(*whole));
  EXPECT_THAT(half->notes, testing::Contains(testing::HasSubstr("not looked for")));
  EXPECT_EQ(exit_code(*half), 0);
  options.memory_bytes = 0;
  options.check.strict = true;
  const auto nothing = inspect(shared + "/cases/qat_residual.hlo", "tpu:v5e", options);
  ASSERT_TRUE(nothing) << nothing.error().describe();
  EXPECT_EQ(nothing->output_differing, 1024) << "the results are compared all the same";
  EXPECT_EQ(exit_code(*nothing), 1);
}

TEST(InspectErrors, SayWhatThereIs) {
  SKIP_WITHOUT("tpu:v5e");
  InspectOptions options;
  options.kernel = "nothing";
  auto inspection = inspect(shared + "/cases/qat_residual.hlo", "tpu:v5e", options);
  ASSERT_FALSE(inspection);
  EXPECT_EQ(inspection.error().kind, ErrorKind::BadInput);
  EXPECT_THAT(inspection.error().message, testing::HasSubstr("convert_subtract_fusion"));
  options.kernel.clear();
  options.stage = "no_such_pass";
  inspection = inspect(shared + "/cases/qat_residual.hlo", "tpu:v5e", options);
  ASSERT_FALSE(inspection);
  EXPECT_EQ(inspection.error().kind, ErrorKind::BadInput);
}

}  // namespace
}  // namespace sapper::inspect
