// The real XLA:CPU, each release: compiling and running.
#include <gmock/gmock.h>

#include "target/compiler.h"
#include "tests/target/programs.h"

namespace sapper::target {
namespace {

using testing::HasSubstr;

CompilerPool& pool() {
  static CompilerPool shared({.workers = 2});
  return shared;
}

class Cpu : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { SKIP_WITHOUT_PLUGIN(target); }
  // Compiles and runs.
  Result<CompileResult> run(std::string module, std::vector<Literal> arguments) {
    return pool().compile(target, {.module = std::move(module), .argument_sets = {std::move(arguments)}});
  }
  Target target = parse_target(GetParam()).value();
};

INSTANTIATE_TEST_SUITE_P(Releases, Cpu, testing::Values("cpu", "cpu@0.106", "cpu@0.81"), [](const auto& test) {
  const std::string release = parse_target(test.param)->release;
  return "v" + std::to_string(std::stoi(release.substr(release.find('.') + 1)));
});

TEST_P(Cpu, SaysWhatItIs) {
  const auto info = pool().probe(target);
  ASSERT_OK(info);
  EXPECT_EQ(std::to_string(info->api_major) + "." + std::to_string(info->api_minor), target.release);
  EXPECT_EQ(info->path, plugin_path(target).value());
  EXPECT_THAT(info->platform_version, HasSubstr("cpu"));
}

// One program that doubles a value of each type.
TEST_P(Cpu, RunsEveryElementType) {
  constexpr const char* integers[] = {"s2", "s4", "s8", "s16", "s32", "s64", "u2", "u4", "u8", "u16", "u32", "u64"};
  constexpr const char* others[] = {"f16",        "bf16",   "f32",      "f64",       "c64",
                                    "c128",       "f8e5m2", "f8e4m3fn", "f8e4m3",    "f8e4m3b11fnuz",
                                    "f8e5m2fnuz", "f8e3m4", "f4e2m1fn", "f8e8m0fnu", "f8e4m3fnuz"};
  std::string lines;
  std::string shapes;
  std::string results;
  std::vector<Literal> arguments;
  std::vector<Literal> expected;
  const auto add = [&](const char* type, std::initializer_list<double> values) {
    const size_t i = arguments.size();
    lines += fmt::format("  x{0} = {1}[2,1] parameter({0})\n  y{0} = {1}[2,1] add(x{0}, x{0})\n", i, type);
    shapes += fmt::format("{}{}[2,1]", i == 0 ? "" : ", ", type);
    results += fmt::format("{}y{}", i == 0 ? "" : ", ", i);
    const Shape shape = Shape::array(*hlo::parse_element_type(type), {2, 1});
    Literal once(shape);
    Literal twice(shape);
    for (int64_t k = 0; const double value : values) {
      once.set_real(k, value);
      twice.set_real(k++, 2 * value);
    }
    arguments.push_back(once);
    expected.push_back(twice);
  };
  for (const char* type : integers) add(type, {0, type[0] == 's' ? -1.0 : 1.0});
  for (const char* type : others) add(type, {1, 2});
  const auto result = run(
      program(fmt::format("HloModule types\nENTRY main {{\n{}  ROOT r = ({}) tuple({})\n}}", lines, shapes, results)),
      arguments);
  ASSERT_OK(result);
  ASSERT_EQ(result->outputs[0].elements().size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_TRUE(result->outputs[0].elements()[i] == expected[i]) << expected[i].shape().to_text();
}

TEST_P(Cpu, RunsPredicates) {
  const auto result = run(program(R"(HloModule not
    ENTRY main {
      x = pred[3] parameter(0)
      ROOT r = pred[3] not(x)
    })"),
                          {filled(Shape::array(ElementType::Pred, {3}), 0)});
  ASSERT_OK(result);
  EXPECT_EQ(result->outputs[0].integer_at(0), 1);
  EXPECT_EQ(result->outputs[0].integer_at(1), 0);
}

TEST_P(Cpu, TuplesComeBackAsTuples) {
  const Literal a = filled(Shape::array(ElementType::F32, {2, 3}), 1);
  const Literal b = filled(Shape::scalar(ElementType::S64), 7);
  const auto result = run(program(R"(HloModule swap
    ENTRY main {
      a = f32[2,3] parameter(0)
      b = s64[] parameter(1)
      ROOT r = (s64[], f32[2,3]) tuple(b, a)
    })"),
                          {a, b});
  ASSERT_OK(result);
  EXPECT_TRUE(result->outputs[0] == Literal::tuple({b, a}));
}

TEST_P(Cpu, TuplesOfOneAndNoneAreTuples) {
  const Literal a = filled(Shape::array(ElementType::F32, {2}), 1);
  const auto one =
      run(program("HloModule one\nENTRY main {\n a = f32[2] parameter(0)\n ROOT r = (f32[2]) tuple(a)\n}"), {a});
  ASSERT_OK(one);
  EXPECT_TRUE(one->outputs[0] == Literal::tuple({a}));
  const auto none = run(program("HloModule none\nENTRY main {\n ROOT r = () tuple()\n}"), {});
  ASSERT_OK(none);
  EXPECT_TRUE(none->outputs[0] == Literal::tuple({}));
}

TEST_P(Cpu, ATupleAsTheOnlyParameter) {
  const Literal x =
      Literal::tuple({filled(Shape::array(ElementType::F32, {2}), 1), filled(Shape::array(ElementType::S32, {3}), 7)});
  const auto result = run(program("HloModule same\nENTRY main {\n ROOT x = (f32[2], s32[3]) parameter(0)\n}"), {x});
  ASSERT_OK(result);
  EXPECT_TRUE(result->outputs[0] == x);
}

TEST_P(Cpu, WhatPluginsDoNotPassIsUnsupported) {
  const Literal x = filled(Shape::array(ElementType::F32, {4}), 1);
  const auto nested = run(program(R"(HloModule nested
    ENTRY main {
      x = f32[4] parameter(0)
      t = (f32[4]) tuple(x)
      ROOT r = (f32[4], (f32[4])) tuple(x, t)
    })"),
                          {x});
  ASSERT_FALSE(nested);
  EXPECT_EQ(nested.error().kind, ErrorKind::Unsupported);
  EXPECT_THAT(nested.error().message, HasSubstr("a tuple inside a tuple"));
  const auto dynamic = run(program(R"(HloModule dynamic
    ENTRY main {
      x = f32[4] parameter(0)
      n = s32[] constant(3)
      ROOT r = f32[<=4] set-dimension-size(x, n), dimensions={0}
    })"),
                           {x});
  ASSERT_FALSE(dynamic);
  EXPECT_EQ(dynamic.error().kind, ErrorKind::Unsupported);
  EXPECT_THAT(dynamic.error().message, HasSubstr("dynamic shape"));
}

TEST_P(Cpu, EmptyArraysAndTokens) {
  const Literal empty(Shape::array(ElementType::F32, {0, 4}));
  const auto result = run(program(R"(HloModule empty
    ENTRY main {
      x = f32[0,4] parameter(0)
      y = f32[0,4] add(x, x)
      t = token[] after-all()
      ROOT r = (f32[0,4], token[]) tuple(y, t)
    })"),
                          {empty});
  ASSERT_OK(result);
  EXPECT_TRUE(result->outputs[0] == Literal::tuple({empty, Literal(Shape::token())}));
}

TEST_P(Cpu, DonatedArgumentsAreCopies) {
  const Literal x = filled(Shape::array(ElementType::F32, {64}), 1);
  const auto result = run(program(R"(HloModule donated, input_output_alias={ {}: (0, {}, must-alias) }
    ENTRY main {
      x = f32[64] parameter(0)
      ROOT r = f32[64] add(x, x)
    })"),
                          {x});
  ASSERT_OK(result);
  EXPECT_EQ(result->outputs[0].real_at(63), 128);
  EXPECT_EQ(x.real_at(63), 64);
}

TEST_P(Cpu, ExecutesOnEachArgumentSet) {
  const Shape shape = Shape::array(ElementType::F32, {4});
  const auto result =
      pool().compile(target, {.module = doubling(shape), .argument_sets = {{filled(shape, 1)}, {filled(shape, 3)}}});
  ASSERT_OK(result);
  ASSERT_EQ(result->outputs.size(), 2);
  const auto alone = run(doubling(shape), {filled(shape, 3)});
  ASSERT_OK(alone);
  EXPECT_FALSE(result->outputs[0] == result->outputs[1]);
  EXPECT_TRUE(result->outputs[1] == alone->outputs[0]);
}

TEST_P(Cpu, RunsTheSameAgain) {
  const Shape shape = Shape::array(ElementType::F32, {4});
  const auto result = pool().compile(
      target, {.module = doubling(shape), .argument_sets = {{filled(shape, 1)}, {filled(shape, 3)}}, .runs = 3});
  ASSERT_OK(result);
  ASSERT_EQ(result->outputs.size(), 6);
  EXPECT_TRUE(result->outputs[0] == result->outputs[2]);
  EXPECT_FALSE(result->outputs[2] == result->outputs[3]);
  EXPECT_TRUE(result->outputs[3] == result->outputs[5]);
}

TEST_P(Cpu, LiteralsAreRowMajorWhateverTheLayout) {
  const Literal x = filled(Shape::array(ElementType::F32, {2, 3}), 1);
  const auto result = run(program(R"(HloModule layout, entry_computation_layout={(f32[2,3]{0,1})->f32[2,3]{0,1}}
    ENTRY main {
      x = f32[2,3]{0,1} parameter(0)
      ROOT r = f32[2,3]{0,1} copy(x)
    })"),
                          {x});
  ASSERT_OK(result);
  EXPECT_TRUE(result->outputs[0] == x);
}

TEST_P(Cpu, OptimizedProgramIsHlo) {
  const auto result = run(residual(), {filled(Shape::array(ElementType::F32, {1024}), 0.1)});
  ASSERT_OK(result);
  const auto module = hlo::parse_proto(result->optimized);
  ASSERT_OK(module);
  EXPECT_GT(module->instruction_count(), 1);
  EXPECT_GT(result->compile_seconds, 0);
  EXPECT_GT(result->execute_seconds, 0);
  EXPECT_TRUE(result->stages.empty());
}

TEST_P(Cpu, OptimizedProgramCompilesByTheBackendAlone) {
  const Shape shape = Shape::array(ElementType::F32, {1024});
  const auto first = run(residual(), {filled(shape, 0.1)});
  ASSERT_OK(first);
  const std::string optimized = hlo::to_proto(hlo::parse_proto(first->optimized).value());
  const auto second =
      pool().compile(target, {.module = optimized, .run_backend_only = true, .argument_sets = {{filled(shape, 0.1)}}});
  ASSERT_OK(second);
  EXPECT_TRUE(second->outputs[0] == first->outputs[0]);
}

TEST_P(Cpu, StagesFollowThePipeline) {
  const std::string module = residual();
  const auto result = pool().compile(target, {.module = module, .dump_passes = true});
  ASSERT_OK(result);
  ASSERT_GT(result->stages.size(), 5);
  EXPECT_EQ(result->stages[0].pass, "input");
  for (size_t i = 0; i < result->stages.size(); ++i) {
    const HloStage& stage = result->stages[i];
    EXPECT_EQ(stage.index, static_cast<int>(i));
    EXPECT_FALSE(stage.pass.empty());
    const auto parsed = hlo::parse_proto(stage.module);
    ASSERT_OK(parsed);
    EXPECT_EQ(parsed->entry_computation().root_instruction().shape.dimensions(), std::vector<int64_t>{1024});
  }
  EXPECT_TRUE(std::ranges::any_of(result->stages, [](const HloStage& s) { return s.pass == "fusion"; }));
  // A warm worker numbers its modules on: the second dump is read like the first.
  const auto again = pool().compile(target, {.module = module, .dump_passes = true});
  ASSERT_OK(again);
  EXPECT_EQ(again->stages.size(), result->stages.size());
}

TEST_P(Cpu, RejectionCarriesTheCompilersMessage) {
  const auto result = pool().compile(target, {.module = ill_formed()});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::Rejected);
  EXPECT_THAT(result.error().message, HasSubstr("f32[3]"));
}

TEST_P(Cpu, AMissingImplementationIsUnsupported) {
  const std::string module = program(R"(HloModule lu
    ENTRY main {
      x = f32[4,4] parameter(0)
      ROOT lu = (f32[4,4], s32[4], s32[4]) custom-call(x), custom_call_target="LuDecomposition"
    })");
  const auto result = pool().compile(target, {.module = module});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::Unsupported) << result.error().describe();
  EXPECT_THAT(result.error().message, HasSubstr("LuDecomposition"));
}

TEST_P(Cpu, DamagedModuleIsRejected) {
  const std::string module = residual();
  for (const size_t size : {size_t{0}, size_t{5}, module.size() / 2, module.size() - 1}) {
    const auto result = run(module.substr(0, size), {});
    ASSERT_FALSE(result) << size;
    EXPECT_NE(result.error().kind, ErrorKind::Crash) << result.error().describe();
  }
}

TEST_P(Cpu, WrongArgumentsAreBadInput) {
  const Shape shape = Shape::array(ElementType::F32, {4});
  const Literal x = filled(shape, 1);
  const Literal longer = filled(Shape::array(ElementType::F32, {5}), 1);
  const Literal of_integers = filled(Shape::array(ElementType::S32, {4}), 1);
  for (const std::vector<Literal>& arguments : {std::vector<Literal>{}, {x, x}, {longer}, {of_integers}}) {
    const auto result = run(doubling(shape), arguments);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().kind, ErrorKind::BadInput);
  }
  EXPECT_EQ(run(doubling(shape), {Literal(Shape::token())}).error().kind, ErrorKind::Unsupported);
}

TEST_P(Cpu, OptionsReachTheCompiler) {
  CompileRequest request{.module = residual(), .dump_passes = true};
  const auto plain = pool().compile(target, request);
  ASSERT_OK(plain);
  request.configuration.options["xla_disable_hlo_passes"] = std::string("fusion");
  const auto without = pool().compile(target, request);
  ASSERT_OK(without);
  EXPECT_FALSE(std::ranges::any_of(without->stages, [](const HloStage& s) { return s.pass == "fusion"; }));
}

TEST_P(Cpu, WrongOptionsAreBadInput) {
  CompileRequest request{.module = residual()};
  request.configuration.options["xla_allow_excess_precision"] = int64_t{1};
  const auto type = pool().compile(target, request);
  ASSERT_FALSE(type);
  EXPECT_EQ(type.error().kind, ErrorKind::BadInput);
  EXPECT_THAT(type.error().message, HasSubstr("xla_allow_excess_precision"));
  EXPECT_THAT(type.error().message, HasSubstr("Write true or false"));

  request.configuration.options = {{"xla_no_such_option", true}};
  const auto name = pool().compile(target, request);
  ASSERT_FALSE(name);
  EXPECT_EQ(name.error().kind, ErrorKind::BadInput);
  EXPECT_THAT(name.error().message, HasSubstr("xla_no_such_option"));
}

TEST_P(Cpu, InitFlagsGetAWorkerOfTheirOwn) {
  CompileRequest request{.module = residual()};
  request.configuration.init_flags = "--xla_no_such_flag=1";
  const auto result = pool().compile(target, request);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::BadInput);
  EXPECT_THAT(result.error().message, HasSubstr("xla_no_such_flag"));
  ASSERT_OK(pool().compile(target, {.module = residual()}));
}

}  // namespace
}  // namespace sapper::target
