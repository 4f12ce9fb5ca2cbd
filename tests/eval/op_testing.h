// What tests of single operations share: instructions built by hand, literals from numbers, an operation run on them.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "eval/op.h"

namespace sapper::eval::testing {

inline hlo::Shape shape(hlo::ElementType type, std::vector<int64_t> dimensions) {
  return hlo::Shape::array(type, std::move(dimensions));
}

inline hlo::Literal literal(hlo::ElementType type, std::vector<int64_t> dimensions, const std::vector<double>& values) {
  hlo::Literal result(shape(type, std::move(dimensions)));
  for (size_t i = 0; i < values.size(); ++i) result.set_real(static_cast<int64_t>(i), values[i]);
  return result;
}

inline std::vector<double> reals(const hlo::Literal& literal) {
  std::vector<double> values;
  for (int64_t i = 0; i < literal.element_count(); ++i) values.push_back(literal.real_at(i));
  return values;
}

// Numbers of any sign: whole for integers, with a few significant bits more than bf16 has for floats.
inline hlo::Literal random_literal(hlo::ElementType type, std::vector<int64_t> dimensions, std::mt19937& random) {
  hlo::Literal result(shape(type, std::move(dimensions)));
  std::uniform_int_distribution<int64_t> integers(-1000, 1000);
  const auto next = [&] { return static_cast<double>(integers(random)) / 64; };
  for (int64_t i = 0; i < result.element_count(); ++i) {
    if (hlo::is_complex(type)) {
      result.set_complex(i, {next(), next()});
    } else if (hlo::is_float(type)) {
      result.set_real(i, next());
    } else {
      result.set_integer(i, integers(random) * 0x10001);
    }
  }
  return result;
}

inline hlo::Instruction instruction(hlo::Opcode opcode, hlo::Shape result) {
  hlo::Instruction made;
  made.opcode = opcode;
  made.name = "tested";
  made.shape = std::move(result);
  return made;
}

inline Result<hlo::Literal> run(Op op, const hlo::Instruction& instruction, const std::vector<hlo::Literal>& operands,
                                const Options& options = {}) {
  const hlo::Module module;
  const hlo::Computation computation;
  return op({.module = module, .computation = computation, .instruction = instruction, .options = options, .call = {}},
            operands);
}

}  // namespace sapper::eval::testing
