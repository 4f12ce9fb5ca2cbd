// Kernels of the real XLA:CPU, looked into while their machine code runs: as compiled, and with simulated defects.
#include "inspect/native.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "check/inputs_for.h"
#include "hlo/proto.h"
#include "hlo/text.h"
#include "inputs/npz.h"
#include "inspect/inspect.h"
#include "inspect/native_flow.h"
#include "inspect/native_tags.h"
#include "inspect/native_values.h"
#include "target/step.h"
#include "target/x86.h"
#include "tests/inspect/native_patches.h"
#include "tests/target/programs.h"

namespace sapper::inspect {
namespace {

using target::chain;
using testing::HasSubstr;

// Zero where the product is not rounded.
constexpr const char* elision = R"(HloModule elision
  ENTRY main {
    x = bf16[1024] parameter(0)
    y = bf16[1024] parameter(1)
    wx = f32[1024] convert(x)
    wy = f32[1024] convert(y)
    wide = f32[1024] multiply(wx, wy)
    product = bf16[1024] multiply(x, y)
    rounded = f32[1024] convert(product)
    ROOT r = f32[1024] subtract(wide, rounded)
  })";

constexpr const char* row_sums = R"(HloModule row_sums
  plus {
    l = f32[] parameter(0)
    r = f32[] parameter(1)
    ROOT t = f32[] add(l, r)
  }
  ENTRY main {
    x = f32[24,40] parameter(0)
    z = f32[] constant(0)
    ROOT s = f32[24] reduce(x, z), dimensions={1}, to_apply=plus
  })";

constexpr const char* products = R"(HloModule products
  ENTRY main {
    x = f32[24,40] parameter(0)
    y = f32[40] parameter(1)
    wide = f32[24,40] broadcast(y), dimensions={1}
    ROOT m = f32[24,40] multiply(x, wide)
  })";

const InspectedInstruction& named(const Inspection& inspection, std::string_view name) {
  for (const InspectedInstruction& inspected : inspection.instructions) {
    const std::string& its_name =
        inspection.module.computations[inspected.computation].instructions[inspected.instruction].name;
    if (its_name == name || its_name.starts_with(std::string(name) + ".")) return inspected;
  }
  static const InspectedInstruction none;
  ADD_FAILURE() << "no instruction " << name;
  return none;
}

std::string first_divergence(const Inspection& inspection) {
  if (!inspection.first_divergence) return "";
  const InspectedInstruction& first = inspection.instructions[*inspection.first_divergence];
  const std::string& name = inspection.module.computations[first.computation].instructions[first.instruction].name;
  return name.substr(0, name.find('.'));
}

constexpr const char* row_maxima = R"(HloModule row_maxima
  max {
    a = f32[] parameter(0)
    b = f32[] parameter(1)
    ROOT c = f32[] maximum(a, b)
  }
  ENTRY main {
    x = f32[64,32] parameter(0)
    low = f32[] constant(-inf)
    ROOT m = f32[64] reduce(x, low), dimensions={1}, to_apply=max
  })";

class Native : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    options.target = *target::parse_target(GetParam());
    if (!target::plugin_present(options.target)) GTEST_SKIP() << "no plugin for " << GetParam();
  }
  Result<Inspection> inspect(const char* text) {
    static auto* const pool = new target::CompilerPool({.workers = 1, .worker_program = SAPPER_BINARY});
    SAPPER_TRY(const hlo::Module module, hlo::parse_text(text));
    SAPPER_TRY(const auto sets, check::inputs_for(module, "", std::nullopt, {.seeds = 1}));
    return inspect_native(*pool, module, sets.front().arguments, options);
  }
  // The bytes of the kernel's code.
  Result<std::string> code_of(const char* text, const std::string& kernel) {
    SAPPER_TRY(const hlo::Module module, hlo::parse_text(text));
    SAPPER_TRY(const auto sets, check::inputs_for(module, "", std::nullopt, {.seeds = 1}));
    target::CompilerPool pool({.workers = 1, .worker_program = SAPPER_BINARY});
    SAPPER_TRY(const target::StepResult result, pool.step(options.target, {.module = hlo::to_compilable_proto(module),
                                                                           .arguments = sets.front().arguments,
                                                                           .kernel = kernel}));
    const std::span<const std::byte> code = result.trace.code();
    return std::string(reinterpret_cast<const char*>(code.data()), code.size());
  }
  NativeOptions options;
};

// The HLO instructions of `chain` that are made of one machine instruction.
const std::map<std::string, std::string> opcodes = {{"vaddps", "a"}, {"vmulps", "b"}, {"vdivps", "c"}, {"vmaxps", "d"}};

std::vector<CodeLine>::const_iterator first_line_of(const Inspection& inspection, const std::string& name) {
  return std::ranges::find_if(inspection.code,
                              [&](const CodeLine& line) { return line.hlo_instruction.starts_with(name); });
}

INSTANTIATE_TEST_SUITE_P(Releases, Native, testing::Values("cpu", "cpu@0.106", "cpu@0.81"), [](const auto& test) {
  const std::string release = target::parse_target(test.param)->release;
  return fmt::format("v{}", release.substr(release.find('.') + 1));
});

TEST_P(Native, SeesEveryElement) {
  const auto inspection = inspect(chain);
  ASSERT_TRUE(inspection) << inspection.error().describe();
  EXPECT_EQ(inspection->stage, "native");
  EXPECT_EQ(first_divergence(*inspection), "");
  for (const char* name : {"a", "b", "c", "d"}) {
    const InspectedInstruction& inspected = named(*inspection, name);
    EXPECT_EQ(inspected.standing, Standing::Observed) << name;
    EXPECT_EQ(inspected.seen, 67) << name;
    ASSERT_FALSE(inspected.probes.empty()) << name;
    EXPECT_FALSE(inspection->code[inspected.probes[0].line].text.empty());
    EXPECT_NE(inspection->code[inspected.probes[0].line].hlo_instruction, "");
  }
  EXPECT_THAT(inspection->code[named(*inspection, "c").probes[0].line].text, HasSubstr("div"));
}

TEST_P(Native, ProductIsNotRounded) {
  const auto inspection = inspect(elision);
  ASSERT_TRUE(inspection) << inspection.error().describe();
  EXPECT_EQ(first_divergence(*inspection), "");
  const InspectedInstruction& product = named(*inspection, "product");
  EXPECT_EQ(product.standing, Standing::Explained);
  EXPECT_EQ(product.liberty, Liberty::NotRounded);
  EXPECT_EQ(product.seen, 1024);
  EXPECT_GT(product.differing, 900);
  EXPECT_EQ(named(*inspection, "rounded").liberty, Liberty::Elided);
  EXPECT_EQ(named(*inspection, "r").standing, Standing::Downstream);
  EXPECT_EQ(named(*inspection, "r").got.max, 0);
}

TEST_P(Native, ProductIsRoundedWhereItHasToBe) {
  options.configuration.options["xla_allow_excess_precision"] = false;
  const auto inspection = inspect(elision);
  ASSERT_TRUE(inspection) << inspection.error().describe();
  EXPECT_EQ(inspection->output_differing, 0);
  for (const InspectedInstruction& inspected : inspection->instructions) EXPECT_EQ(inspected.liberty, Liberty::None);
  EXPECT_GT(named(*inspection, "r").got.max, 0);
}

TEST_P(Native, SeesSums) {
  const auto inspection = inspect(row_sums);
  ASSERT_TRUE(inspection) << inspection.error().describe();
  EXPECT_EQ(first_divergence(*inspection), "");
  EXPECT_EQ(inspection->instructions.back().seen, inspection->instructions.back().elements);
  EXPECT_NE(inspection->instructions.back().standing, Standing::Unknown);
}

// Roundings to bf16 are integer code: halves of words are blended, NaN is put in by a mask.
TEST_P(Native, SeesRoundingsToBf16) {
  const auto inspection = inspect(R"(HloModule swish
    ENTRY main {
      x = bf16[512] parameter(0)
      one = bf16[] constant(1)
      ones = bf16[512] broadcast(one), dimensions={}
      n = bf16[512] negate(x)
      e = bf16[512] exponential(n)
      a = bf16[512] add(e, ones)
      d = bf16[512] divide(ones, a)
      ROOT m = bf16[512] multiply(x, d)
    })");
  ASSERT_TRUE(inspection) << inspection.error().describe();
  EXPECT_EQ(first_divergence(*inspection), "");
  int roundings = 0;
  for (const InspectedInstruction& inspected : inspection->instructions) {
    const hlo::Instruction& it =
        inspection->module.computations[inspected.computation].instructions[inspected.instruction];
    if (it.opcode == hlo::Opcode::Constant || it.opcode == hlo::Opcode::Broadcast) continue;
    EXPECT_TRUE(inspected.standing == Standing::Observed || inspected.standing == Standing::Explained)
        << it.name << " " << to_string(inspected.standing);
    EXPECT_EQ(inspected.seen, 512) << it.name;
    roundings += it.shape.element_type() == hlo::ElementType::BF16 ? 1 : 0;
  }
  EXPECT_GE(roundings, 5);
}

// A sum that takes a product which is rounded with it; that product takes others, which are rounded.
TEST_P(Native, SeesWhichProductIsRoundedWithItsSum) {
  const auto inspection = inspect(R"(HloModule cube
    ENTRY main {
      x = f32[512] parameter(0)
      c = f32[] constant(0.7)
      cs = f32[512] broadcast(c), dimensions={}
      s = f32[512] multiply(x, x)
      t = f32[512] multiply(s, x)
      p = f32[512] multiply(t, cs)
      a = f32[512] add(x, p)
      ROOT r = f32[512] maximum(a, x)
    })");
  ASSERT_TRUE(inspection) << inspection.error().describe();
  const InspectedInstruction& sum = named(*inspection, "a");
  EXPECT_EQ(sum.liberty, Liberty::Fused);
  EXPECT_EQ(sum.seen, 512);
}

// Elements that a predicate of constants leaves out are not of the operand that it leaves out.
TEST_P(Native, SeesWhatIsComputedFromSelectedElements) {
  const auto inspection = inspect(R"(HloModule triangle
    ENTRY main {
      x = f32[32,32] parameter(0)
      y = f32[32,32] parameter(1)
      i = s32[32,32] iota(), iota_dimension=0
      j = s32[32,32] iota(), iota_dimension=1
      below = pred[32,32] compare(i, j), direction=GE
      low = f32[] constant(-100)
      lows = f32[32,32] broadcast(low), dimensions={}
      chosen = f32[32,32] select(below, x, lows)
      scaled = f32[32,32] multiply(chosen, y)
      ROOT r = f32[32,32] maximum(scaled, y)
    })");
  ASSERT_TRUE(inspection) << inspection.error().describe();
  EXPECT_EQ(named(*inspection, "scaled").standing, Standing::Observed);
  EXPECT_EQ(named(*inspection, "scaled").seen, 32 * 32);
}

TEST_P(Native, SeesBroadcastOperands) {
  const auto inspection = inspect(products);
  ASSERT_TRUE(inspection) << inspection.error().describe();
  EXPECT_EQ(first_divergence(*inspection), "");
  EXPECT_EQ(named(*inspection, "m").standing, Standing::Observed);
  EXPECT_EQ(named(*inspection, "wide").standing, Standing::Observed);
}

// One instruction of the machine code is another one, in the main loop or in the code of the last elements: the HLO
// instruction is named that it was made for, which is where its value is first seen.
TEST_P(Native, NamesTheInstructionWhoseCodeIsWrong) {
  const auto control = inspect(chain);
  ASSERT_TRUE(control) << control.error().describe();
  const auto code = code_of(chain, control->kernel);
  ASSERT_TRUE(code) << code.error().describe();
  int patched = 0;
  for (const CodePatch& patch : patches_of(std::as_bytes(std::span(*code)))) {
    const auto line = std::ranges::find(control->code, fmt::format("{:#x}", patch.offset), &CodeLine::address);
    ASSERT_NE(line, control->code.end());
    const auto made_for = opcodes.find(line->text.substr(0, line->text.find(' ')));
    if (made_for == opcodes.end() || !line->hlo_instruction.starts_with(made_for->second)) continue;
    // A maximum that keeps what it takes is part of what follows: the first of each loop is the instruction itself.
    if (made_for->second == "d" && line != first_line_of(*control, "d")) continue;
    options.patches = {{patch.byte, patch.value}};
    const auto inspection = inspect(chain);
    ASSERT_TRUE(inspection) << inspection.error().describe();
    EXPECT_EQ(first_divergence(*inspection), made_for->second) << line->address << " " << line->text;
    const InspectedInstruction& wrong = named(*inspection, made_for->second);
    EXPECT_EQ(wrong.standing, Standing::Diverges);
    ASSERT_TRUE(wrong.worst);
    EXPECT_EQ(inspection->code[wrong.worst->line].address, line->address);
    EXPECT_NE(wrong.worst->got, wrong.worst->expected);
    EXPECT_EQ(named(*inspection, "r").standing, Standing::Downstream);
    ++patched;
  }
  EXPECT_GE(patched, 4);
}

constexpr const char* gate = R"(HloModule gate
  ENTRY main {
    x = f32[256] parameter(0)
    one = f32[] constant(1)
    ones = f32[256] broadcast(one), dimensions={}
    t = f32[256] tanh(x)
    a = f32[256] add(t, ones)
    ROOT r = f32[256] multiply(a, x)
  })";

// A term of the approximation of tanh has the wrong sign: the less it matters, the closer one has to look, and what is
// added to it hides more of it.
TEST_P(Native, NamesAnApproximationThatIsWrongByLittle) {
  const auto control = inspect(gate);
  ASSERT_TRUE(control) << control.error().describe();
  const auto code = code_of(gate, control->kernel);
  ASSERT_TRUE(code) << code.error().describe();
  int wrong = 0;
  for (const CodePatch& patch : patches_of(std::as_bytes(std::span(*code)))) {
    if (patch.change != "multiply-add: multiply-subtract") continue;
    options.patches = {{patch.byte, patch.value}};
    const auto inspection = inspect(gate);
    ASSERT_TRUE(inspection) << inspection.error().describe();
    const bool is_mismatch = std::ranges::any_of(
        inspection->notes, [](const std::string& note) { return note.find("result: mismatch") != std::string::npos; });
    if (!is_mismatch) continue;
    EXPECT_EQ(first_divergence(*inspection), "t") << patch.offset;
    if (++wrong == 3) break;
  }
  EXPECT_EQ(wrong, 3);
}

TEST_P(Native, NamesTheSumWhoseCodeIsWrong) {
  const auto control = inspect(row_sums);
  ASSERT_TRUE(control) << control.error().describe();
  const auto code = code_of(row_sums, control->kernel);
  ASSERT_TRUE(code) << code.error().describe();
  int tried = 0;
  for (const CodePatch& patch : patches_of(std::as_bytes(std::span(*code)))) {
    if (++tried > 4) break;
    options.patches = {{patch.byte, patch.value}};
    const auto inspection = inspect(row_sums);
    ASSERT_TRUE(inspection) << inspection.error().describe();
    const bool is_wrong = std::ranges::any_of(
        inspection->notes, [](const std::string& note) { return note.find("mismatch") != std::string::npos; });
    if (!is_wrong) continue;
    EXPECT_EQ(inspection->first_divergence, inspection->instructions.size() - 1) << patch.change;
  }
}

// What `sapper check` calls policy is no divergence: vectorised maxima drop NaN, unless they are told not to.
TEST_P(Native, JudgesByThePolicyOfTheTarget) {
  hlo::Literal x = target::filled(hlo::Shape::array(hlo::ElementType::F32, {64, 32}), 1);
  for (int64_t row = 0; row < 64; ++row) x.set_real(row * 32 + row % 32, std::nan(""));
  const std::string inputs = testing::TempDir() + fmt::format("nan_{}.npz", getpid());
  ASSERT_TRUE(inputs::write_npz(inputs, {{"in0", inputs::to_npy(x)}}));
  InspectOptions by_policy{.check = {.target = options.target, .inputs = inputs}};
  InspectOptions strictly = by_policy;
  strictly.check.strict = true;
  InspectOptions kept = by_policy;
  kept.check.configuration.options["xla_cpu_enable_fast_min_max"] = false;
  target::CompilerPool pool({.workers = 1, .worker_program = SAPPER_BINARY});
  const auto look = [&](const InspectOptions& how) {
    return inspect_kernel(pool, *hlo::parse_text(row_maxima), "row_maxima.hlo", how);
  };
  const auto legal = look(by_policy);
  ASSERT_TRUE(legal) << legal.error().describe();
  EXPECT_EQ(first_divergence(*legal), "");
  EXPECT_GT(legal->output_differing, 0);
  EXPECT_EQ(legal->instructions.back().standing, Standing::Explained);
  EXPECT_THAT(legal->instructions.back().reason, HasSubstr("NaN"));
  const auto wrong = look(strictly);
  ASSERT_TRUE(wrong) << wrong.error().describe();
  EXPECT_EQ(wrong->first_divergence, wrong->instructions.size() - 1);
  const auto right = look(kept);
  ASSERT_TRUE(right) << right.error().describe();
  EXPECT_EQ(first_divergence(*right), "");
  EXPECT_EQ(right->output_differing, 0);
  std::filesystem::remove(inputs);
}

TEST_P(Native, SaysWhichKernelsThereAre) {
  options.kernel = "nonsense";
  const auto inspection = inspect(chain);
  ASSERT_FALSE(inspection);
  EXPECT_EQ(inspection.error().kind, ErrorKind::BadInput);
  EXPECT_THAT(inspection.error().message, HasSubstr("fusion"));
}

TEST(NativeTags, AreSets) {
  const std::vector<int64_t> counts{8, 8};
  TagTable tags(counts);
  const Tag a = tags.element(0, 1);
  const Tag b = tags.element(1, 1);
  EXPECT_EQ(tags.merge(a, a), a);
  EXPECT_EQ(tags.merge(a, no_tag), a);
  EXPECT_EQ(tags.merge(a, b), tags.merge(b, a));
  EXPECT_EQ(tags.merge(tags.merge(a, b), a), tags.merge(a, b));
  EXPECT_NE(tags.merge(a, b), tags.merge(a, tags.element(1, 2)));
}

// Sums are made in any order: from the front, or by lanes that are added at the end.
RC_GTEST_PROP(NativeTags, DoNotDependOnTheOrder, ()) {
  const auto count = *rc::gen::inRange<int64_t>(1, 60);
  const auto stride = *rc::gen::inRange<int64_t>(1, 9);
  const std::vector<int64_t> counts{count};
  TagTable tags(counts);
  Tag forward = no_tag;
  for (int64_t i = 0; i < count; ++i) forward = tags.merge(forward, tags.element(0, i));
  Tag by_lanes = no_tag;
  for (int64_t lane = 0; lane < stride; ++lane) {
    Tag sum = no_tag;
    for (int64_t i = lane; i < count; i += stride) sum = tags.merge(sum, tags.element(0, i));
    by_lanes = tags.merge(by_lanes, sum);
  }
  RC_ASSERT(forward == by_lanes);
}

TEST(NativeValues, NarrowFloatsAreInLanesAsThemselvesOrAsF32) {
  const Lane converted{.value = 0x3fc00000, .width = 4};  // 1.5
  EXPECT_EQ(bits_in_lane(hlo::ElementType::BF16, converted), 0x3fc0U);
  EXPECT_EQ(bits_in_lane(hlo::ElementType::F16, converted), 0x3e00U);
  const Lane itself{.value = 0x3fc0, .width = 2};
  EXPECT_EQ(bits_in_lane(hlo::ElementType::BF16, itself), 0x3fc0U);
  const Lane too_wide{.value = 0x3fc00001, .width = 4};
  EXPECT_EQ(bits_in_lane(hlo::ElementType::BF16, too_wide), std::nullopt);
  EXPECT_EQ(bits_in_lane(hlo::ElementType::F32, itself), std::nullopt);
  const Lane all_ones{.value = 0xffffffff, .width = 4};
  EXPECT_EQ(bits_in_lane(hlo::ElementType::Pred, all_ones), 1U);
}

TEST(NativeFlow, KnowsWhatInstructionsReadAndWrite) {
  const auto flow = [](std::vector<uint8_t> code) {
    return flow_of(*target::decode_x86(std::as_bytes(std::span(code))));
  };
  const FlowForm add = flow({0xc5, 0xec, 0x58, 0xe3});  // vaddps ymm4, ymm2, ymm3
  EXPECT_EQ(add.flow, Flow::Lanes);
  EXPECT_TRUE(add.reads_third && !add.reads_old);
  const FlowForm fma = flow({0xc4, 0xe2, 0x55, 0xa8, 0xda});  // vfmadd213ps ymm3, ymm5, ymm2
  EXPECT_TRUE(fma.reads_third && fma.reads_old);
  const FlowForm store = flow({0xc5, 0xfc, 0x11, 0x00});  // vmovups [rax], ymm0
  EXPECT_EQ(store.to, Place::Rm);
  EXPECT_TRUE(store.reads_reg);
  const FlowForm extend = flow({0xc4, 0xe2, 0x7d, 0x33, 0x00});  // vpmovzxwd ymm0, [rax]
  EXPECT_EQ(extend.flow, Flow::Resize);
  EXPECT_EQ(extend.width, 2);
  EXPECT_EQ(extend.to_width, 4);
  const FlowForm blend = flow({0xc4, 0xe3, 0x75, 0x0e, 0xc0, 0xaa});  // vpblendw ymm0, ymm1, ymm0, 0xaa
  EXPECT_EQ(blend.flow, Flow::Blend);
  EXPECT_EQ(blend.width, 2);
  EXPECT_TRUE(blend.reads_third);
  const FlowForm scalar = flow({0xc5, 0xfa, 0x58, 0xc1});  // vaddss xmm0, xmm0, xmm1
  EXPECT_EQ(scalar.flow, Flow::Scalar);
  EXPECT_EQ(scalar.width, 4);
}

}  // namespace
}  // namespace sapper::inspect
