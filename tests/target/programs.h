// Small programs to compile, and what tests of real compilers share.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hlo/module.h"
#include "hlo/proto.h"
#include "target/target.h"

namespace sapper::target {

using hlo::ElementType;
using hlo::Literal;
using hlo::Opcode;
using hlo::Shape;

// Builds a module of one computation.
class Builder {
 public:
  hlo::InstructionIndex parameter(const Shape& shape) {
    const hlo::InstructionIndex index = add(Opcode::Parameter, shape, {});
    instructions().back().parameter_number = parameters_++;
    return index;
  }
  hlo::InstructionIndex add(Opcode opcode, const Shape& shape, std::vector<hlo::InstructionIndex> operands) {
    hlo::Instruction instruction;
    instruction.opcode = opcode;
    instruction.shape = shape;
    instruction.operands = std::move(operands);
    instruction.name = "i" + std::to_string(instructions().size());
    instructions().push_back(std::move(instruction));
    return static_cast<hlo::InstructionIndex>(instructions().size() - 1);
  }
  // Serialized HloModuleProto; the last instruction is the root.
  std::string build() {
    computation_.name = "main";
    computation_.root = static_cast<hlo::InstructionIndex>(instructions().size() - 1);
    hlo::Module module;
    module.name = "test";
    module.computations.push_back(computation_);
    return hlo::to_proto(module);
  }

 private:
  std::vector<hlo::Instruction>& instructions() { return computation_.instructions; }
  hlo::Computation computation_;
  int parameters_ = 0;
};

// x + x.
inline std::string doubling(const Shape& shape) {
  Builder b;
  const auto x = b.parameter(shape);
  b.add(Opcode::Add, shape, {x, x});
  return b.build();
}

// r = x - f32(f16(x)): zero where the compiler elides the rounding.
inline std::string residual() {
  const Shape wide = Shape::array(ElementType::F32, {1024});
  Builder b;
  const auto x = b.parameter(wide);
  const auto narrow = b.add(Opcode::Convert, Shape::array(ElementType::F16, {1024}), {x});
  const auto back = b.add(Opcode::Convert, wide, {narrow});
  b.add(Opcode::Subtract, wide, {x, back});
  return b.build();
}

// Takes every compiler a minute or more and makes it grow to 100 MB and more: a long chain whose links are used again
// and again later on.
inline std::string slow_to_compile() {
  constexpr int length = 4000;
  const Shape shape = Shape::array(ElementType::F32, {1000});
  Builder b;
  hlo::InstructionIndex x = b.parameter(shape);
  for (int i = 0; i < length; ++i) {
    const hlo::InstructionIndex earlier = x / 2;
    x = b.add(i % 2 == 0 ? Opcode::Atan2 : Opcode::Power, shape, {x, earlier});
  }
  return b.build();
}

inline Literal filled(const Shape& shape, double first) {
  Literal literal(shape);
  for (int64_t i = 0; i < literal.element_count(); ++i) {
    if (hlo::is_integer(shape.element_type()))
      literal.set_integer(i, static_cast<int64_t>(first) + i);
    else
      literal.set_real(i, first + static_cast<double>(i));
  }
  return literal;
}

}  // namespace sapper::target

// Skips the test when the target's plugin is not in the cache; tests never fetch.
#define SKIP_WITHOUT_PLUGIN(target) \
  if (!plugin_present(target)) GTEST_SKIP() << "the plugin of " << (target).to_string() << " is not in the cache"

#define ASSERT_OK(result) ASSERT_TRUE(result) << (result).error().describe()
