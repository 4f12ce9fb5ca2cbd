#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/eval/index_case.h"

namespace sapper::eval {
namespace {

hlo::Instruction scatter_instruction(const IndexCase& c, const Shape& shape) {
  hlo::Instruction instruction = instruction_of(Opcode::Scatter, shape);
  auto* numbers = instruction.edit_attributes().mutable_scatter_dimension_numbers();
  set_field(numbers->mutable_update_window_dims(), c.window_dimensions);
  set_field(numbers->mutable_inserted_window_dims(), c.dropped);
  set_field(numbers->mutable_scatter_dims_to_operand_dims(), c.component_dimensions);
  numbers->set_index_vector_dim(c.index_vector_dimension);
  set_field(numbers->mutable_input_batching_dims(), c.batching_operand);
  set_field(numbers->mutable_scatter_indices_batching_dims(), c.batching_indices);
  return instruction;
}

Literal draw_values(ElementType type, const Dims& dimensions) {
  Literal literal(Shape::array(type, dimensions));
  for (int64_t i = 0; i < literal.element_count(); ++i) literal.set_integer(i, draw(-100, 100));
  return literal;
}

// Updates in the order of their index vectors, then of the window.
template <class Visit>
void for_each_update(const IndexCase& c, const Literal& indices, Visit&& visit) {
  Dims batch_sizes = c.batched;
  Dims window_sizes(c.batched.size(), 1);
  for (const int64_t d : c.window_dimensions)
    std::swap(batch_sizes[static_cast<size_t>(d)], window_sizes[static_cast<size_t>(d)]);
  for_each_index(batch_sizes, [&](const Dims& batch) {
    for_each_index(window_sizes, [&](const Dims& window) {
      Dims index = batch;
      for (size_t d = 0; d < index.size(); ++d) index[d] += window[d];
      Dims at = c.start_of(index, [&](int64_t i) { return index_value(indices, i); });
      const Dims offset = c.offset_of(index);
      bool inside = true;
      for (size_t d = 0; d < at.size(); ++d) {
        inside = inside && at[d] >= 0 && at[d] <= c.operand[d] - c.window_sizes[d];
      }
      if (!inside) return;
      for (size_t d = 0; d < at.size(); ++d) at[d] += offset[d];
      visit(flat(at, c.operand), flat(index, c.batched));
    });
  });
}

RC_GTEST_PROP(Scatter, CombinesWindowsThatAreInside, ()) {
  const IndexCase c = draw_index_case();
  const Literal indices = draw_indices(c, draw_index_type());
  const ElementType type = *rc::gen::element(ElementType::S8, ElementType::S32, ElementType::U16);
  const Literal operand = draw_values(type, c.operand);
  const Literal updates = draw_values(type, c.batched);
  const int kind = static_cast<int>(draw(0, 2));
  const hlo::Computation combiner = kind == 0   ? second(type)
                                    : kind == 1 ? binary(Opcode::Subtract, type)
                                                : interpreted(Opcode::Subtract, type);
  const Literal operands[] = {operand, indices, updates};
  const Literal result = must_run(scatter_instruction(c, operand.shape()), {combiner}, operands,
                                  [&](std::span<const Literal> arguments) -> Result<Literal> {
                                    Literal value(arguments[0].shape());
                                    value.set_integer(0, arguments[0].integer_at(0) - arguments[1].integer_at(0));
                                    return value;
                                  });
  Literal expected = operand;
  for_each_update(c, indices, [&](int64_t element, int64_t update) {
    const int64_t value = updates.integer_at(update);
    expected.set_integer(element, kind == 0 ? value : expected.integer_at(element) - value);
  });
  RC_ASSERT(result == expected);
}

RC_GTEST_PROP(Scatter, TakesSeveralOperands, ()) {
  const IndexCase c = draw_index_case();
  const Literal indices = draw_indices(c, ElementType::S32);
  const Literal operands[] = {draw_values(ElementType::S32, c.operand), draw_values(ElementType::S8, c.operand),
                              indices, draw_values(ElementType::S32, c.batched),
                              draw_values(ElementType::S8, c.batched)};
  // (a, b, x, y) -> (a + x, max(b, y))
  ComputationBuilder body;
  const auto a = body.parameter(ElementType::S32);
  const auto b = body.parameter(ElementType::S8);
  const auto x = body.parameter(ElementType::S32);
  const auto y = body.parameter(ElementType::S8);
  body.tuple({body.add(Opcode::Add, ElementType::S32, {a, x}), body.add(Opcode::Maximum, ElementType::S8, {b, y})});
  const Shape shape = Shape::tuple({operands[0].shape(), operands[1].shape()});
  const Literal result = must_run(scatter_instruction(c, shape), {body.build()}, operands);

  Literal sums = operands[0];
  Literal largest = operands[1];
  for_each_update(c, indices, [&](int64_t element, int64_t update) {
    sums.set_integer(element, sums.integer_at(element) + operands[3].integer_at(update));
    largest.set_integer(element, std::max(largest.integer_at(element), operands[4].integer_at(update)));
  });
  RC_ASSERT(result.elements()[0] == sums);
  RC_ASSERT(result.elements()[1] == largest);
}

TEST(Scatter, RoundsEverySumOfANarrowType) {
  const IndexCase c{{1}, {2, 1}, {2}, {1}, {}, {0}, {0}, 1, {}, {}};
  const Literal operands[] = {literal_of<double>(ElementType::BF16, {1}, {256}),
                              literal_of<int64_t>(ElementType::S32, {2, 1}, {0, 0}),
                              literal_of<double>(ElementType::BF16, {2}, {1, 1})};
  const Literal result =
      must_run(scatter_instruction(c, operands[0].shape()), {binary(Opcode::Add, ElementType::BF16)}, operands);
  EXPECT_EQ(reals(result), (std::vector<double>{256}));  // 257 rounds to 256 each time
}

TEST(Scatter, NarrowUnsignedIndicesCountByTheirFullValue) {
  const IndexCase c{{300}, {1, 1}, {1}, {1}, {}, {0}, {0}, 1, {}, {}};
  const Literal operands[] = {Literal(Shape::array(ElementType::S32, {300})),
                              literal_of<int64_t>(ElementType::U8, {1, 1}, {200}),
                              literal_of<int64_t>(ElementType::S32, {1}, {7})};
  const Literal result = must_run(scatter_instruction(c, operands[0].shape()), {second(ElementType::S32)}, operands);
  EXPECT_EQ(result.integer_at(200), 7);
}

TEST(Scatter, LeavesItsOperandAlone) {
  const IndexCase c{{2}, {1, 1}, {1}, {1}, {}, {0}, {0}, 1, {}, {}};
  const Literal operands[] = {literal_of<int64_t>(ElementType::S32, {2}, {1, 2}),
                              literal_of<int64_t>(ElementType::S32, {1, 1}, {1}),
                              literal_of<int64_t>(ElementType::S32, {1}, {7})};
  const Literal result = must_run(scatter_instruction(c, operands[0].shape()), {second(ElementType::S32)}, operands);
  EXPECT_EQ(integers(result), (std::vector<int64_t>{1, 7}));
  EXPECT_EQ(integers(operands[0]), (std::vector<int64_t>{1, 2}));
}

}  // namespace
}  // namespace sapper::eval
