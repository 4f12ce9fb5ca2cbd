#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/eval/window_case.h"

namespace sapper::eval {
namespace {

hlo::Computation select_largest(ElementType type) {
  ComputationBuilder body;
  const auto a = body.parameter(type);
  const auto b = body.parameter(type);
  body.compare("GE", a, b);
  return body.build();
}

RC_GTEST_PROP(SelectAndScatter, SendsEachSourceElementToOneOfItsWindow, ()) {
  WindowCase c = draw_window_case();
  for (proto::WindowDimension& dimension : *c.window.mutable_dimensions()) {  // as the verifier demands
    dimension.set_base_dilation(1);
    dimension.set_window_dilation(1);
  }
  for (size_t d = 0; d < c.base.size(); ++d) {
    const proto::WindowDimension& dimension = c.window.dimensions(static_cast<int>(d));
    const int64_t padded = c.base[d] + dimension.padding_low() + dimension.padding_high();
    c.positions[d] = padded < dimension.size() ? 0 : (padded - dimension.size()) / dimension.stride() + 1;
  }
  const ElementType type = *rc::gen::element(ElementType::S32, ElementType::BF16);
  Literal operand(Shape::array(type, c.base));
  Literal source(Shape::array(type, c.positions));
  for (int64_t i = 0; i < operand.element_count(); ++i) set_number(operand, i, draw(0, 6));
  for (int64_t i = 0; i < source.element_count(); ++i) set_number(source, i, draw(-9, 9));
  const Literal operands[] = {operand, source, literal_of<int64_t>(type, {}, {2})};
  hlo::Instruction instruction = instruction_of(Opcode::SelectAndScatter, operand.shape());
  *instruction.edit_attributes().mutable_window() = c.window;
  const Literal result = must_run(instruction, {select_largest(type), binary(Opcode::Subtract, type)}, operands);

  Literal expected(operand.shape());
  for (int64_t i = 0; i < expected.element_count(); ++i) set_number(expected, i, 2);
  for_each_index(c.positions, [&](const Dims& position) {
    int64_t chosen = -1;
    c.for_each_covered(position, [&](const Dims& at) {
      const int64_t i = flat(at, c.base);
      if (chosen < 0 || !(operand.real_at(chosen) >= operand.real_at(i))) chosen = i;
    });
    if (chosen < 0) return;
    const double value = expected.real_at(chosen) - source.real_at(flat(position, c.positions));
    set_number(expected, chosen, static_cast<int64_t>(value));
  });
  RC_ASSERT(result == expected);
}

}  // namespace
}  // namespace sapper::eval
