// Kernels as text, run on values.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "hlo/text.h"
#include "llo/kernel.h"
#include "llo/text.h"

namespace sapper::llo::testing {

inline hlo::Shape shape_of(const std::string& text) {
  Result<hlo::Shape> shape = hlo::parse_shape(text);
  EXPECT_TRUE(shape) << text;
  return shape ? *shape : hlo::Shape();
}

// Different words, row-major.
inline hlo::Literal counting(const hlo::Shape& shape, uint32_t first = 1) {
  hlo::Literal value(shape);
  for (int64_t i = 0; i < value.element_count(); ++i) value.set_integer(i, first + i);
  return value;
}

struct KernelCase {
  std::string text;
  std::vector<std::string> operand_shapes;
  std::string result_shape;
  std::string generation = "v5e";
  std::vector<hlo::Literal> operands;  // none: counting()
};

inline Result<KernelRun> try_run(const KernelCase& test) {
  SAPPER_TRY(const Program program, parse_program(test.text, "kernel.txt"));
  std::vector<hlo::Shape> shapes;
  std::vector<hlo::Literal> operands = test.operands;
  for (const std::string& text : test.operand_shapes) {
    shapes.push_back(shape_of(text));
    if (operands.size() < shapes.size()) operands.push_back(counting(shapes.back()));
  }
  MachineOptions options;
  options.step_limit = 100000;
  SAPPER_TRY(options.generation, generation_of(test.generation));
  return run_kernel(program, nullptr, operands, shapes, shape_of(test.result_shape), options);
}

inline KernelRun run(const KernelCase& test) {
  Result<KernelRun> ran = try_run(test);
  EXPECT_TRUE(ran) << ran.error().describe() << "\n" << test.text;
  return ran ? std::move(*ran) : KernelRun();
}

inline std::vector<FindingKind> kinds(const KernelRun& ran) {
  std::vector<FindingKind> kinds;
  for (const Finding& finding : ran.findings) kinds.push_back(finding.kind);
  return kinds;
}

}  // namespace sapper::llo::testing
