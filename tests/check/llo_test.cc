// Below HLO: kernels run from the LLO that libtpu dumps of them, against the HLO and against each other.
#include <gmock/gmock.h>

#include <filesystem>

#include "check/check.h"
#include "check/kernel_passes.h"
#include "check/kernels.h"
#include "hlo/fingerprint.h"
#include "hlo/proto.h"
#include "hlo/text.h"
#include "inputs/sampler.h"
#include "llo/pass_walk.h"
#include "llo/text.h"
#include "target/target.h"
#include "tests/llo/mutants.h"

namespace sapper::check {
namespace {

using testing::HasSubstr;

const std::string shared = std::string(SAPPER_SOURCE_DIR) + "/../shared";

target::CompilerPool& pool() {
  static auto* const workers = new target::CompilerPool({.workers = 2, .worker_program = SAPPER_BINARY});
  return *workers;
}

#define SKIP_WITHOUT(target_name)                                                        \
  if (!std::filesystem::exists(shared)) GTEST_SKIP() << "no corpus beside the checkout"; \
  if (!target::plugin_present(*target::parse_target(target_name))) GTEST_SKIP() << "no plugin for " << (target_name)

Report check_at(Level level, const std::string& path, const std::string& on, bool strict = false) {
  CheckOptions options;
  options.target = *target::parse_target(on);
  options.level = level;
  options.strict = strict;
  const std::string inputs = path.substr(0, path.rfind('.')) + ".npz";
  if (std::filesystem::exists(inputs)) options.inputs = inputs;
  return check_file(pool(), path, options);
}

class Llo : public testing::TestWithParam<const char*> {};

// Elementwise, masked tails, reductions over lanes and sublanes, transposes, matrices, packed types, loops, DMA.
TEST_P(Llo, KernelsOfTheCorpusAgree) {
  const std::string on = std::string("tpu:") + GetParam();
  SKIP_WITHOUT(on);
  for (const char* name : {"softmax", "small", "mm_bf", "tr3", "cvti8", "u_digamma", "rev", "sort0", "conv", "bool"}) {
    const Report report = check_at(Level::All, shared + "/corpus/ops/" + name + ".pb", on);
    EXPECT_TRUE(report.verdict == Verdict::Agree || report.verdict == Verdict::Policy)
        << name << " on " << on << ": " << report.reason;
    ASSERT_TRUE(report.kernels) << name;
    EXPECT_EQ(report.kernels->from_llo, report.kernels->kernels) << name << " on " << on;
  }
}

// f32 minus its own round trip through f16: the emitters cancel it, which excess precision allows.
TEST_P(Llo, ElidedRoundTripIsPolicyAndStrictlyAMismatch) {
  const std::string on = std::string("tpu:") + GetParam();
  SKIP_WITHOUT(on);
  const std::string path = shared + "/cases/qat_residual.hlo";
  EXPECT_EQ(check_at(Level::Hlo, path, on).verdict, Verdict::Agree);
  const Report report = check_at(Level::Llo, path, on);
  EXPECT_EQ(report.verdict, Verdict::Policy) << report.reason;
  ASSERT_EQ(report.kernels->reports.size(), 1);
  EXPECT_EQ(report.kernels->reports[0].outputs[0].difference.max_relative, 1);
  const Report strict = check_at(Level::Llo, path, on, /*strict=*/true);
  EXPECT_EQ(strict.verdict, Verdict::Mismatch);
  ASSERT_TRUE(strict.guilty);
  EXPECT_EQ(strict.guilty->pass, "original");
  EXPECT_THAT(strict.guilty->instruction, HasSubstr("vst"));
}

INSTANTIATE_TEST_SUITE_P(Generations, Llo, testing::Values("v2", "v3", "v4", "v5e", "v5p", "v6e", "tpu7x"),
                         [](const auto& test) { return std::string(test.param); });

// A real defect of released compilers: a negative s8 start index is used as if it were unsigned.
TEST(LloDefect, ZeroExtendedIndexIsFoundInTheEmitter) {
  SKIP_WITHOUT("tpu:v5e@0.0.50");
  for (const char* name : {"m_dus_s8", "dus_int8_300"}) {
    const std::string path = shared + "/corpus/ops2/" + name + ".pb";
    EXPECT_EQ(check_at(Level::Hlo, path, "tpu:v5e@0.0.50").verdict, Verdict::Agree) << name;
    const Report wrong = check_at(Level::All, path, "tpu:v5e@0.0.50");
    EXPECT_EQ(wrong.verdict, Verdict::Mismatch) << name;
    ASSERT_TRUE(wrong.guilty) << name;
    EXPECT_EQ(wrong.guilty->level, "llo");
    EXPECT_EQ(wrong.guilty->pass, "original");
    EXPECT_THAT(wrong.guilty->kernel, HasSubstr("slice")) << name;
    EXPECT_THAT(wrong.guilty->instruction, HasSubstr("vst")) << name;
    EXPECT_EQ(check_at(Level::All, path, "tpu:v5e@0.0.52").verdict, Verdict::Agree) << name;
  }
}

// Where HLO leaves open what a program means, no kernel is wrong; a multiply by a subnormal constant is.
TEST(LloDefect, OpenMeaningIsNoneAndFlushedConstantIsOne) {
  SKIP_WITHOUT("tpu:v5e");
  const std::string zoo = shared + "/cases/zoo/";
  EXPECT_EQ(check_at(Level::All, zoo + "reduce_init_2d.hlo", "tpu:v5e").verdict, Verdict::Undetermined);
  const Report flushed = check_at(Level::All, zoo + "div_const_big.hlo", "tpu:v5e");
  EXPECT_EQ(flushed.verdict, Verdict::Mismatch);
  ASSERT_TRUE(flushed.guilty);
  EXPECT_EQ(flushed.guilty->level, "llo");
}

// Emitters stage weights in scratch memory, register by register, further than it reaches; passes put the registers in
// the place of the loads. What runs is right.
TEST(LloFindings, WhatALaterStageUndoesIsNoMismatch) {
  constexpr const char* head = R"($region0: #{negate}
  #allocation0 [shape = 'f32[1024]{0}', space=vmem, size = 0x1000, scoped, tag = 'staging']
  %s0 = inlined_call_operand.vmem [shape: f32[8,128], index: 0, kind: input, shape index: {}]
  %s1 = inlined_call_operand.vmem [shape: f32[8,128], index: 1, kind: output, shape index: {}]
  %v2 = vld [vmem:[%s0] sm:$0xff]
)";
  const std::string staged = std::string(head) + R"(  %s3 = scalar_lea.vmem [#allocation0], 8
  %4 = vst [vmem:[%s3] sm:$0xff] /*vst_source=*/%v2
  %v5 = vld [vmem:[%s3] sm:$0xff]
  %v6 = vsub.f32 0.0, %v5
  %7 = vst [vmem:[%s1] sm:$0xff] /*vst_source=*/%v6
)";
  const auto direct = [&](const char* opcode) {
    return std::string(head) + "  %v6 = " + opcode + " 0.0, %v2\n  %7 = vst [vmem:[%s1] sm:$0xff] /*vst_source=*/%v6\n";
  };
  const auto module = hlo::parse_text(R"(HloModule m
%fused (p: f32[8,128]) -> f32[8,128] {
  p = f32[8,128]{1,0:T(8,128)S(1)} parameter(0)
  ROOT n = f32[8,128]{1,0:T(8,128)S(1)} negate(p)
}
ENTRY e {
  a = f32[8,128]{1,0:T(8,128)S(1)} parameter(0)
  ROOT negate = f32[8,128]{1,0:T(8,128)S(1)} fusion(a), kind=kLoop, calls=fused
})");
  ASSERT_TRUE(module) << module.error().describe();
  const auto arguments = inputs::sample(*module, hlo::fingerprint(*module), 0);
  ASSERT_TRUE(arguments);
  KernelOptions options;
  options.machine.generation = *llo::generation_of("v5e");
  const auto run_with = [&](const std::string& last) {
    const llo::ModuleDump dump =
        llo::read_dump({{"1-negate-00-original.txt", staged}, {"1-negate-01-final_bundles.txt", last}});
    return run_kernels(*module, dump, *arguments, options);
  };
  const KernelsReport right = run_with(direct("vsub.f32"));
  EXPECT_EQ(right.verdict, Verdict::Agree) << right.reason;
  ASSERT_FALSE(right.reports.at(0).findings.empty());
  EXPECT_EQ(right.reports[0].findings[0].kind, llo::FindingKind::OutOfBounds);
  EXPECT_TRUE(right.reports[0].findings[0].undone);
  EXPECT_EQ(run_with(direct("vadd.f32")).verdict, Verdict::Mismatch);
  const KernelsReport staged_to_the_end = run_with(staged);
  EXPECT_EQ(staged_to_the_end.verdict, Verdict::Mismatch);
  EXPECT_FALSE(staged_to_the_end.reports.at(0).findings.at(0).undone);
}

TEST(LloLevel, IsForTpuTargets) {
  SKIP_WITHOUT("cpu");
  const Report report = check_at(Level::Llo, shared + "/cases/qat_residual.hlo", "cpu");
  ASSERT_TRUE(report.error);
  EXPECT_EQ(report.error->kind, ErrorKind::BadInput);
}

// The kernels of a module with what they were run on.
struct Kernels {
  llo::ModuleDump dump;
  KernelsReport report;
};

Result<Kernels> kernels_of(const std::string& name, const std::string& passes) {
  SAPPER_TRY(const hlo::Module module, hlo::read_module(shared + "/corpus/ops/" + name + ".pb"));
  target::CompileRequest request;
  request.module = hlo::to_compilable_proto(module);
  request.dump_llo = passes;
  SAPPER_TRY(const target::CompileResult compiled, pool().compile(*target::parse_target("tpu:v5e"), request));
  SAPPER_TRY(const hlo::Module optimized, hlo::parse_proto(compiled.optimized));
  SAPPER_TRY(const auto arguments, inputs::sample(module, hlo::fingerprint(module), 0));
  Kernels kernels{llo::read_dump(compiled.llo), {}};
  KernelOptions options;
  options.keep_calls = true;
  kernels.report = run_kernels(optimized, kernels.dump, arguments, options);
  return kernels;
}

// No pass of a right compiler changes a bit of any kernel.
TEST(LloPasses, KeepEveryBit) {
  SKIP_WITHOUT("tpu:v5e");
  int passes = 0;
  for (const char* name : {"softmax", "mm_bf", "sort0", "rev"}) {
    const auto kernels = kernels_of(name, ".*");
    ASSERT_TRUE(kernels) << kernels.error().describe();
    for (const KernelReport& kernel : kernels->report.reports) {
      const llo::KernelDump* const dump = kernels->dump.kernel_of(kernel.instruction);
      const auto walk = llo::walk_passes(
          *dump, {nullptr, kernel.call->operands, kernel.call->operand_shapes, kernel.call->result, {}});
      ASSERT_TRUE(walk) << walk.error().describe();
      if (walk->guilty)
        ADD_FAILURE() << name << " " << kernel.kernel << " " << walk->passes[*walk->guilty].pass << " "
                      << (walk->divergence ? walk->divergence->later : 0) << " of "
                      << walk->passes[*walk->guilty].instructions;
      for (const llo::PassOutcome& pass : walk->passes) passes += pass.result == llo::PassOutcome::Result::Same ? 1 : 0;
    }
  }
  EXPECT_GT(passes, 150);
}

// The names of the corpus of operations.
std::vector<std::string> all_operations() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(shared + "/corpus/ops"))
    if (entry.path().extension() == ".pb") names.push_back(entry.path().stem());
  std::ranges::sort(names);
  return names;
}

// Defects planted in the last stage are seen, and the changed instruction is named.
TEST(LloMutants, AreFoundAndNamed) {
  SKIP_WITHOUT("tpu:v5e");
  int effective = 0;
  int named = 0;
  std::map<std::string, int> missed;
  std::vector<std::string> names = {"softmax", "small", "cvti8", "sum0", "cmp", "roll", "trb", "u_sin"};
  if (std::getenv("SAPPER_SLOW_TESTS") != nullptr) names = all_operations();
  for (const std::string& name : names) {
    const auto kernels = kernels_of(name, kFirstAndLastStage);
    ASSERT_TRUE(kernels) << kernels.error().describe();
    for (const KernelReport& kernel : kernels->report.reports) {
      const llo::KernelDump* const dump = kernels->dump.kernel_of(kernel.instruction);
      if (dump == nullptr || !kernel.call) continue;  // not run from LLO
      const auto first = llo::parse_program(dump->stage("original")->text, kernel.kernel);
      const auto last = llo::parse_program(dump->stage("final_bundles")->text, kernel.kernel);
      ASSERT_TRUE(first && last);
      llo::MachineOptions machine;
      machine.step_limit = 10'000'000;
      const llo::KernelCall call{&*first, kernel.call->operands, kernel.call->operand_shapes, kernel.call->result,
                                 machine};
      const auto run = [&](const llo::Program& program) {
        return llo::run_kernel(program, &*first, call.operands, call.operand_shapes, call.result, machine);
      };
      const auto right = run(*last);
      ASSERT_TRUE(right) << right.error().describe();
      for (const llo::Mutant& mutant : llo::mutants_of(*last, 4)) {
        const auto wrong = run(mutant.program);
        if (!wrong) continue;  // not a program that the machine takes
        const bool changed = !numerics::same_bits(wrong->output, right->output);
        if (!changed && wrong->findings.empty()) continue;  // no effect on these inputs
        ++effective;
        const auto divergence = llo::first_divergence(*last, mutant.program, call);
        const bool by_value = divergence && *divergence && (*divergence)->later == mutant.instruction;
        // A wait that is missing is not there to be named: what runs into the DMA is, or the DMA.
        const bool by_finding = std::ranges::any_of(wrong->findings, [&](const llo::Finding& finding) {
          return finding.instruction == mutant.instruction ||
                 (mutant.kind == "missing wait" &&
                  (finding.kind == llo::FindingKind::Race || finding.kind == llo::FindingKind::UnbalancedSync));
        });
        if (by_value || by_finding) {
          ++named;
        } else {
          ++missed[std::string(mutant.kind)];
        }
      }
    }
  }
  EXPECT_GT(effective, 100);
  for (const auto& [kind, count] : missed) std::cout << kind << ": " << count << " of the wrong instruction\n";
  std::cout << named << " of " << effective << " named\n";
  EXPECT_GE(named * 100, effective * 99);
}

}  // namespace
}  // namespace sapper::check
