// The real XLA:TPU, ahead of time: no TPU is needed.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "target/compiler.h"
#include "tests/target/environment.h"
#include "tests/target/programs.h"

namespace sapper::target {
namespace {

using testing::HasSubstr;

CompilerPool& pool() {
  static CompilerPool shared({.workers = 2});
  return shared;
}

// The program of the entry computation as the compiler left it.
hlo::Module optimized(const CompileResult& result) { return hlo::parse_proto(result.optimized).value(); }

int64_t count(const hlo::Module& module, hlo::Opcode opcode) {
  int64_t n = 0;
  hlo::for_each_instruction(module, [&](const auto&, const hlo::Instruction& i) { n += i.opcode == opcode ? 1 : 0; });
  return n;
}

class Tpu : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { SKIP_WITHOUT_PLUGIN(target_); }
  Target target_ = parse_target(GetParam()).value();
};

INSTANTIATE_TEST_SUITE_P(Generations, Tpu,
                         testing::Values("tpu:v2", "tpu:v3", "tpu:v4", "tpu:v5e", "tpu:v5p", "tpu:v6e", "tpu:tpu7x"),
                         [](const auto& test) { return parse_target(test.param)->generation; });
INSTANTIATE_TEST_SUITE_P(Releases, Tpu,
                         testing::Values("tpu:v5e@0.0.41", "tpu:v5e@0.0.45", "tpu:v5e@0.0.48", "tpu:v5e@0.0.5"),
                         [](const auto& test) {
                           std::string name = "v" + parse_target(test.param)->release;
                           std::ranges::replace(name, '.', '_');
                           return name;
                         });

TEST_P(Tpu, CompilesAheadOfTime) {
  const auto result = pool().compile(target_, {.module = residual(), .dump_passes = true});
  ASSERT_OK(result);
  const hlo::Module module = optimized(*result);
  EXPECT_EQ(count(module, hlo::Opcode::Fusion), 1);
  EXPECT_EQ(count(module, hlo::Opcode::Convert), 2);
  EXPECT_TRUE(result->outputs.empty());
  ASSERT_GT(result->stages.size(), 10);
  EXPECT_EQ(result->stages[0].pass, "input");
  for (const HloStage& stage : result->stages) EXPECT_TRUE(hlo::parse_proto(stage.module)) << stage.pass;
}

TEST_P(Tpu, LeavesNoLogsBehind) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / fmt::format("tpu_logs_{}", getpid());
  std::filesystem::create_directories(folder);
  {
    const Environment temporary_files("TMPDIR", folder);
    CompilerPool pool({.workers = 1});
    ASSERT_OK(pool.compile(target_, {.module = residual()}));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder)) << std::filesystem::directory_iterator(folder)->path();
  std::filesystem::remove_all(folder);
}

class TpuV5e : public testing::Test {
 protected:
  void SetUp() override { SKIP_WITHOUT_PLUGIN(target_); }
  Target target_ = parse_target("tpu:v5e").value();
};

TEST_F(TpuV5e, SaysWhatItIs) {
  const auto info = pool().probe(target_);
  ASSERT_OK(info);
  EXPECT_GE(info->api_minor, 81);
  EXPECT_THAT(info->platform_version, HasSubstr("TPU v5 lite"));
}

TEST_F(TpuV5e, OptimizedProgramCompilesByTheBackendAlone) {
  const auto first = pool().compile(target_, {.module = residual()});
  ASSERT_OK(first);
  const std::string module = hlo::to_proto(optimized(*first));
  const auto second = pool().compile(target_, {.module = module, .dump_passes = true, .run_backend_only = true});
  ASSERT_OK(second);
  EXPECT_EQ(optimized(*second).instruction_count(), optimized(*first).instruction_count());
  const auto whole = pool().compile(target_, {.module = residual(), .dump_passes = true});
  ASSERT_OK(whole);
  EXPECT_LT(second->stages.size(), whole->stages.size() / 2);
}

TEST_F(TpuV5e, OptionsReachTheCompiler) {
  CompileRequest request{.module = residual()};
  request.configuration.options["xla_no_such_option"] = true;
  const auto wrong = pool().compile(target_, request);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().kind, ErrorKind::BadInput);
  request.configuration.options = {{"xla_allow_excess_precision", false},
                                   {"xla_tpu_scoped_vmem_limit_kib", int64_t{4096}}};
  ASSERT_OK(pool().compile(target_, request));
}

TEST_F(TpuV5e, InitFlagsReachTheCompiler) {
  CompileRequest request{.module = residual()};
  request.configuration.init_flags = "--xla_tpu_scoped_vmem_limit_kib=1";
  const auto starved = pool().compile(target_, request);
  ASSERT_FALSE(starved);
  EXPECT_EQ(starved.error().kind, ErrorKind::Rejected);
  EXPECT_THAT(starved.error().message, HasSubstr("vmem"));
  ASSERT_OK(pool().compile(target_, {.module = residual()}));
}

TEST_F(TpuV5e, RejectionCarriesTheCompilersMessage) {
  const auto result = pool().compile(target_, {.module = ill_formed()});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::Rejected);
  EXPECT_THAT(result.error().message, HasSubstr("f32[3]"));
}

TEST_F(TpuV5e, ExecutionNeedsADevice) {
  if (can_execute(target_)) GTEST_SKIP() << "this machine has a TPU";
  const auto result = pool().compile(
      target_, {.module = residual(), .argument_sets = {{Literal(Shape::array(ElementType::F32, {1024}))}}});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::Unsupported);
  EXPECT_THAT(result.error().message, HasSubstr("no device"));
}

TEST_F(TpuV5e, BackendProgramsOfOneModuleComeWithItAndNoOther) {
  const CompileRequest request{.module = residual(), .dump_llo = "^original$|^final_bundles$"};
  for (int round = 0; round < 2; ++round) {  // the second one in the same process
    const auto result = pool().compile(target_, request);
    ASSERT_OK(result);
    std::map<std::string, int> stages;
    for (const auto& [name, text] : result->llo) {
      EXPECT_FALSE(text.empty()) << name;
      if (name.find("fusion") == std::string::npos) continue;
      if (name.ends_with("-original.txt")) ++stages["original"];
      if (name.ends_with("-final_bundles.txt") && name.find("schedule") == std::string::npos) ++stages["final_bundles"];
    }
    EXPECT_EQ(stages, (std::map<std::string, int>{{"original", 1}, {"final_bundles", 1}}));
  }
}

TEST(Gpu, SaysThatThereIsNoDevice) {
  const Target gpu = parse_target("gpu").value();
  SKIP_WITHOUT_PLUGIN(gpu);
  if (can_execute(gpu)) GTEST_SKIP() << "this machine has a GPU";
  const auto result = pool().compile(gpu, {.module = residual()});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::Unsupported);
  EXPECT_THAT(result.error().message, HasSubstr("no device"));
}

}  // namespace
}  // namespace sapper::target
