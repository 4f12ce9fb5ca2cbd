#include "eval/scalar_program.h"

#include <gtest/gtest.h>

#include "tests/eval/op_harness.h"

namespace sapper::eval {
namespace {

hlo::Module module_of(std::vector<hlo::Computation> computations) {
  hlo::Module module;
  module.computations = std::move(computations);
  return module;
}

// A program of float parameters and one float result, applied to one element.
float apply(ScalarProgram& program, const std::vector<float>& arguments) {
  std::vector<const void*> inputs;
  inputs.reserve(arguments.size());
  for (const float& argument : arguments) inputs.push_back(&argument);
  float result = 0;
  void* outputs[] = {&result};
  program.run(1, inputs, outputs);
  return result;
}

TEST(ScalarProgram, WorksOnWholeBlocks) {
  const hlo::Module module = module_of({binary(Opcode::Subtract, ElementType::F32)});
  ScalarProgram program = *ScalarProgram::compile(module, 0);
  std::vector<float> a(ScalarProgram::block);
  std::vector<float> b(ScalarProgram::block);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i);
    b[i] = static_cast<float>(3 * i);
  }
  const void* inputs[] = {a.data(), b.data()};
  void* outputs[] = {a.data()};  // in place
  program.run(a.size(), inputs, outputs);
  for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i], -2.0F * static_cast<float>(i));
}

TEST(ScalarProgram, TakesConstantsBroadcastsSelectsAndConverts) {
  // x == 0 ? 10 : f32(bf16(x + 1))
  ComputationBuilder body;
  const auto x = body.parameter(ElementType::F32);
  const auto zero = body.constant(ElementType::F32, 0);
  const auto one = body.add(Opcode::Broadcast, ElementType::F32, {body.constant(ElementType::F32, 1)});
  const auto sum = body.add(Opcode::Add, ElementType::F32, {x, one});
  const auto narrow = body.add(Opcode::Convert, ElementType::BF16, {sum});
  const auto wide = body.add(Opcode::Convert, ElementType::F32, {narrow});
  const auto is_zero = body.compare("EQ", x, zero);
  body.add(Opcode::Select, ElementType::F32, {is_zero, body.constant(ElementType::F32, 10), wide});
  const hlo::Module module = module_of({body.build()});
  ScalarProgram program = *ScalarProgram::compile(module, 0);
  EXPECT_EQ(apply(program, {0}), 10);
  EXPECT_EQ(apply(program, {1.001F}), 2);  // 2.001 has no bf16
}

TEST(ScalarProgram, InlinesCallsAndTuples) {
  // swap(a, b) = (b, a); main(a, b) = swap(a, b)[0] - swap(a, b)[1]
  ComputationBuilder swap;
  const auto first = swap.parameter(ElementType::F32);
  const auto other = swap.parameter(ElementType::F32);
  swap.tuple({other, first});
  ComputationBuilder body;
  const auto a = body.parameter(ElementType::F32);
  const auto b = body.parameter(ElementType::F32);
  const Shape pair = Shape::tuple({Shape::scalar(ElementType::F32), Shape::scalar(ElementType::F32)});
  const auto swapped = body.add(Opcode::Call, pair, {a, b});
  body.instruction(swapped).called = {0};
  const auto left = body.add(Opcode::GetTupleElement, ElementType::F32, {swapped});
  const auto right = body.add(Opcode::GetTupleElement, ElementType::F32, {swapped});
  body.instruction(right).tuple_index = 1;
  body.add(Opcode::Subtract, ElementType::F32, {left, right});
  const hlo::Module module = module_of({swap.build(), body.build()});
  ScalarProgram program = *ScalarProgram::compile(module, 1);
  EXPECT_EQ(apply(program, {3, 10}), 7);
}

TEST(ScalarProgram, SwapsInPlace) {
  ComputationBuilder body;
  const auto a = body.parameter(ElementType::F32);
  const auto b = body.parameter(ElementType::F32);
  body.tuple({b, a});
  const hlo::Module module = module_of({body.build()});
  ScalarProgram program = *ScalarProgram::compile(module, 0);
  float x = 1;
  float y = 2;
  const void* inputs[] = {&x, &y};
  void* outputs[] = {&x, &y};
  program.run(1, inputs, outputs);
  EXPECT_EQ(x, 2);
  EXPECT_EQ(y, 1);
  EXPECT_EQ(program.forwarded_parameter(0), 1U);
}

TEST(ScalarProgram, RoundsEachStepToItsOwnType) {
  ComputationBuilder body;
  const auto a = body.parameter(ElementType::BF16);
  const auto b = body.parameter(ElementType::BF16);
  const auto sum = body.add(Opcode::Add, ElementType::BF16, {a, b});
  body.add(Opcode::Subtract, ElementType::BF16, {sum, a});
  const hlo::Module module = module_of({body.build()});
  ScalarProgram program = *ScalarProgram::compile(module, 0);
  EXPECT_EQ(apply(program, {256, 1}), 0);  // bf16 lanes are floats
}

TEST(ScalarProgram, TakesBitcastsOfOneWidth) {
  ComputationBuilder body;
  const auto a = body.parameter(ElementType::F32);
  body.add(Opcode::Bitcast, ElementType::S32, {a});
  ComputationBuilder narrower;
  const auto b = narrower.parameter(ElementType::F32);
  narrower.add(Opcode::Bitcast, ElementType::BF16, {b});
  const hlo::Module module = module_of({body.build(), narrower.build()});
  ASSERT_TRUE(ScalarProgram::compile(module, 0));
  ScalarProgram program = *ScalarProgram::compile(module, 0);
  const float one = 1;
  int32_t bits = 0;
  const void* inputs[] = {&one};
  void* outputs[] = {&bits};
  program.run(1, inputs, outputs);
  EXPECT_EQ(bits, 0x3f800000);
  EXPECT_FALSE(ScalarProgram::compile(module, 1));
}

TEST(ScalarProgram, KnowsASingleOperation) {
  const hlo::Module module = module_of(
      {binary(Opcode::Add, ElementType::F32), binary(Opcode::Subtract, ElementType::F32), second(ElementType::F32)});
  EXPECT_EQ(ScalarProgram::compile(module, 0)->single_operation(), Opcode::Add);
  EXPECT_EQ(ScalarProgram::compile(module, 1)->single_operation(), std::nullopt);
  EXPECT_EQ(ScalarProgram::compile(module, 2)->single_operation(), std::nullopt);
  EXPECT_EQ(ScalarProgram::compile(module, 2)->forwarded_parameter(0), 1U);
}

TEST(ScalarProgram, DoublingIsNoSingleOperation) {
  ComputationBuilder body;
  const auto a = body.parameter(ElementType::F32);
  body.parameter(ElementType::F32);
  body.add(Opcode::Add, ElementType::F32, {a, a});
  const hlo::Module module = module_of({body.build()});
  EXPECT_EQ(ScalarProgram::compile(module, 0)->single_operation(), std::nullopt);
}

TEST(ScalarProgram, LeavesArraysAndControlFlowToTheInterpreter) {
  ComputationBuilder loop;
  const auto a = loop.parameter(ElementType::F32);
  loop.instruction(loop.add(Opcode::While, ElementType::F32, {a})).called = {0, 0};
  ComputationBuilder array;
  array.parameter(Shape::array(ElementType::F32, {2}));
  const hlo::Module module = module_of({interpreted(Opcode::Add, ElementType::F32), loop.build(), array.build()});
  for (hlo::ComputationIndex i = 0; i < 3; ++i) EXPECT_FALSE(ScalarProgram::compile(module, i)) << i;
}

TEST(ScalarProgram, IgnoresWhatTheRootDoesNotNeed) {
  ComputationBuilder body;
  const auto a = body.parameter(ElementType::F32);
  body.add(Opcode::Iota, Shape::array(ElementType::F32, {4}), {});
  body.add(Opcode::Negate, ElementType::F32, {a});
  const hlo::Module module = module_of({body.build()});
  std::optional<ScalarProgram> program = ScalarProgram::compile(module, 0);
  ASSERT_TRUE(program);
  EXPECT_EQ(apply(*program, {2}), -2);
}

TEST(ScalarProgram, RefusesComputationsThatGrowWithoutEnd) {
  // Each computation calls the one before twice.
  std::vector<hlo::Computation> chain{binary(Opcode::Add, ElementType::F32)};
  for (hlo::ComputationIndex i = 0; i < 40; ++i) {
    ComputationBuilder body;
    const auto a = body.parameter(ElementType::F32);
    const auto b = body.parameter(ElementType::F32);
    const auto once = body.add(Opcode::Call, ElementType::F32, {a, b});
    const auto twice = body.add(Opcode::Call, ElementType::F32, {once, b});
    body.instruction(once).called = {i};
    body.instruction(twice).called = {i};
    chain.push_back(body.build());
  }
  const hlo::Module module = module_of(std::move(chain));
  EXPECT_TRUE(ScalarProgram::compile(module, 5));
  EXPECT_FALSE(ScalarProgram::compile(module, 40));
}

TEST(ScalarProgram, ComputesOneRegisterOnItsOwn) {
  ComputationBuilder body;
  const auto a = body.parameter(ElementType::F32);
  const auto b = body.parameter(ElementType::F32);
  const auto negative = body.add(Opcode::Negate, ElementType::F32, {a});
  body.add(Opcode::Add, ElementType::F32, {negative, b});
  const hlo::Module module = module_of({body.build()});
  const ScalarProgram program = *ScalarProgram::compile(module, 0);
  ScalarProgram part = program.computing(program.steps()[0].result);
  EXPECT_EQ(part.steps().size(), 1U);
  EXPECT_EQ(apply(part, {5, 1}), -5);
}

}  // namespace
}  // namespace sapper::eval
