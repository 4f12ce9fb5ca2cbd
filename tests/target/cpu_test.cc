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
  void SetUp() override { SKIP_WITHOUT_PLUGIN(target_); }
  // Compiles and runs.
  Result<CompileResult> run(std::string module, std::vector<Literal> arguments) {
    return pool().compile(target_, {.module = std::move(module), .arguments = std::move(arguments)});
  }
  Target target_ = parse_target(GetParam()).value();
};

INSTANTIATE_TEST_SUITE_P(Releases, Cpu, testing::Values("cpu", "cpu@0.106", "cpu@0.81"), [](const auto& test) {
  const std::string release = parse_target(test.param)->release;
  return "v" + std::to_string(std::stoi(release.substr(release.find('.') + 1)));
});

TEST_P(Cpu, SaysWhatItIs) {
  const auto info = pool().probe(target_);
  ASSERT_OK(info);
  EXPECT_EQ(std::to_string(info->api_major) + "." + std::to_string(info->api_minor), target_.release);
  EXPECT_EQ(info->path, plugin_path(target_).value());
  EXPECT_THAT(info->platform_version, HasSubstr("cpu"));
}

// One module that doubles a value of each type.
TEST_P(Cpu, RunsEveryElementType) {
  const ElementType types[] = {ElementType::S2,         ElementType::S4,
                               ElementType::S8,         ElementType::S16,
                               ElementType::S32,        ElementType::S64,
                               ElementType::U2,         ElementType::U4,
                               ElementType::U8,         ElementType::U16,
                               ElementType::U32,        ElementType::U64,
                               ElementType::F16,        ElementType::BF16,
                               ElementType::F32,        ElementType::F64,
                               ElementType::C64,        ElementType::C128,
                               ElementType::F8E5M2,     ElementType::F8E4M3FN,
                               ElementType::F8E4M3,     ElementType::F8E4M3B11FNUZ,
                               ElementType::F8E5M2FNUZ, ElementType::F8E4M3FNUZ,
                               ElementType::F8E3M4,     ElementType::F4E2M1FN,
                               ElementType::F8E8M0FNU};
  Builder b;
  std::vector<Shape> shapes;
  std::vector<hlo::InstructionIndex> doubled;
  std::vector<Literal> arguments;
  std::vector<Literal> expected;
  for (const ElementType type : types) {
    const Shape shape = Shape::array(type, {2, 1});
    Literal x(shape);
    Literal twice(shape);
    if (hlo::is_integer(type)) {
      x.set_integer(0, -1);
      twice.set_integer(0, -2);
    } else {
      x.set_real(0, 2);
      twice.set_real(0, 4);
      x.set_real(1, 1);  // zero has no code in f8e8m0fnu
      twice.set_real(1, 2);
    }
    shapes.push_back(shape);
    arguments.push_back(std::move(x));
    expected.push_back(std::move(twice));
  }
  for (const Shape& shape : shapes) b.parameter(shape);
  for (hlo::InstructionIndex i = 0; i < shapes.size(); ++i) doubled.push_back(b.add(Opcode::Add, shapes[i], {i, i}));
  b.add(Opcode::Tuple, Shape::tuple(shapes), doubled);
  const auto result = run(b.build(), arguments);
  ASSERT_OK(result);
  ASSERT_EQ(result->output->elements().size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_TRUE(result->output->elements()[i] == expected[i]) << hlo::to_string(types[i]);
}

TEST_P(Cpu, RunsPredicates) {
  const Shape shape = Shape::array(ElementType::Pred, {3});
  Builder b;
  b.add(Opcode::Not, shape, {b.parameter(shape)});
  const auto result = run(b.build(), {filled(shape, 0)});
  ASSERT_OK(result);
  EXPECT_EQ(result->output->integer_at(0), 1);
  EXPECT_EQ(result->output->integer_at(1), 0);
}

TEST_P(Cpu, TuplesComeBackAsTuples) {
  const Shape a = Shape::array(ElementType::F32, {2, 3});
  const Shape c = Shape::array(ElementType::S64, {});
  Builder b;
  const auto x = b.parameter(a);
  const auto y = b.parameter(c);
  b.add(Opcode::Tuple, Shape::tuple({c, a}), {y, x});
  const auto result = run(b.build(), {filled(a, 1), filled(c, 7)});
  ASSERT_OK(result);
  ASSERT_EQ(result->output->elements().size(), 2);
  EXPECT_TRUE(result->output->elements()[0] == filled(c, 7));
  EXPECT_TRUE(result->output->elements()[1] == filled(a, 1));
}

TEST_P(Cpu, ATupleOfOneIsStillATuple) {
  const Shape a = Shape::array(ElementType::F32, {2});
  Builder b;
  b.add(Opcode::Tuple, Shape::tuple({a}), {b.parameter(a)});
  const auto result = run(b.build(), {filled(a, 1)});
  ASSERT_OK(result);
  EXPECT_TRUE(result->output->shape().is_tuple());
}

TEST_P(Cpu, ATupleAsTheOnlyParameter) {
  const Shape a = Shape::array(ElementType::F32, {2});
  const Shape c = Shape::array(ElementType::S32, {3});
  Builder b;
  b.parameter(Shape::tuple({a, c}));
  const auto result = run(b.build(), {Literal::tuple({filled(a, 1), filled(c, 7)})});
  ASSERT_OK(result);
  EXPECT_TRUE(*result->output == Literal::tuple({filled(a, 1), filled(c, 7)}));
}

TEST_P(Cpu, LiteralsAreRowMajorWhateverTheLayout) {
  auto layout = std::make_shared<hlo::Layout>();
  layout->minor_to_major = {0, 1};
  const Shape shape = Shape::array(ElementType::F32, {2, 3}).with_layout(layout);
  Builder b;
  b.add(Opcode::Copy, shape, {b.parameter(shape)});
  const auto result = run(b.build(), {filled(shape, 1)});
  ASSERT_OK(result);
  EXPECT_TRUE(*result->output == filled(shape, 1));
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
  const auto second = pool().compile(
      target_, {.module = optimized, .run_backend_only = true, .arguments = std::vector{filled(shape, 0.1)}});
  ASSERT_OK(second);
  EXPECT_TRUE(*second->output == *first->output);
}

TEST_P(Cpu, StagesFollowThePipeline) {
  const std::string module = residual();
  const auto result = pool().compile(target_, {.module = module, .dump_passes = true});
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
  const auto again = pool().compile(target_, {.module = module, .dump_passes = true});
  ASSERT_OK(again);
  EXPECT_EQ(again->stages.size(), result->stages.size());
}

TEST_P(Cpu, RejectionCarriesTheCompilersMessage) {
  const Shape shape = Shape::array(ElementType::F32, {2});
  Builder b;
  b.add(Opcode::Add, Shape::array(ElementType::F32, {3}), {b.parameter(shape), b.parameter(shape)});
  const auto result = pool().compile(target_, {.module = b.build()});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::Rejected);
  EXPECT_THAT(result.error().message, HasSubstr("f32[3]"));
}

TEST_P(Cpu, DamagedModuleIsRejected) {
  const std::string module = residual();
  for (const size_t size : {size_t{0}, size_t{5}, module.size() / 2, module.size() - 1}) {
    const auto result = run(module.substr(0, size), {});
    ASSERT_FALSE(result) << size;
    EXPECT_NE(result.error().kind, ErrorKind::Crash) << result.error().describe();
  }
}

TEST_P(Cpu, WrongArgumentsAreAnError) {
  const Shape shape = Shape::array(ElementType::F32, {4});
  EXPECT_FALSE(run(doubling(shape), {}));
  EXPECT_FALSE(run(doubling(shape), {filled(shape, 1), filled(shape, 1)}));
  EXPECT_FALSE(run(doubling(shape), {filled(Shape::array(ElementType::F32, {5}), 1)}));
  EXPECT_FALSE(run(doubling(shape), {Literal(Shape::token())}));
  ASSERT_OK(run(doubling(shape), {filled(shape, 1)}));
}

TEST_P(Cpu, OptionsReachTheCompiler) {
  CompileRequest request{.module = residual(), .dump_passes = true};
  const auto plain = pool().compile(target_, request);
  ASSERT_OK(plain);
  request.configuration.options["xla_disable_hlo_passes"] = std::string("fusion");
  const auto without = pool().compile(target_, request);
  ASSERT_OK(without);
  EXPECT_FALSE(std::ranges::any_of(without->stages, [](const HloStage& s) { return s.pass == "fusion"; }));
}

TEST_P(Cpu, WrongOptionsAreBadInput) {
  CompileRequest request{.module = residual()};
  request.configuration.options["xla_allow_excess_precision"] = int64_t{1};
  const auto type = pool().compile(target_, request);
  ASSERT_FALSE(type);
  EXPECT_EQ(type.error().kind, ErrorKind::BadInput);
  EXPECT_THAT(type.error().message, HasSubstr("xla_allow_excess_precision"));
  EXPECT_THAT(type.error().message, HasSubstr("Write true or false"));

  request.configuration.options = {{"xla_no_such_option", true}};
  const auto name = pool().compile(target_, request);
  ASSERT_FALSE(name);
  EXPECT_EQ(name.error().kind, ErrorKind::BadInput);
  EXPECT_THAT(name.error().message, HasSubstr("xla_no_such_option"));
}

TEST_P(Cpu, InitFlagsGetAWorkerOfTheirOwn) {
  CompileRequest request{.module = residual()};
  request.configuration.init_flags = "--xla_no_such_flag=1";
  const auto result = pool().compile(target_, request);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("xla_no_such_flag"));
  ASSERT_OK(pool().compile(target_, {.module = residual()}));
}

}  // namespace
}  // namespace sapper::target
