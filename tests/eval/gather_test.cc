#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/eval/hlo_case.h"
#include "tests/eval/index_case.h"

namespace sapper::eval {
namespace {

hlo::Instruction gather_instruction(const IndexCase& c, ElementType type) {
  hlo::Instruction instruction = instruction_of(Opcode::Gather, Shape::array(type, c.batched));
  hlo::Attributes& attributes = instruction.edit_attributes();
  auto* numbers = attributes.mutable_gather_dimension_numbers();
  set_field(numbers->mutable_offset_dims(), c.window_dimensions);
  set_field(numbers->mutable_collapsed_slice_dims(), c.dropped);
  set_field(numbers->mutable_start_index_map(), c.component_dimensions);
  numbers->set_index_vector_dim(c.index_vector_dimension);
  set_field(numbers->mutable_operand_batching_dims(), c.batching_operand);
  set_field(numbers->mutable_start_indices_batching_dims(), c.batching_indices);
  set_field(attributes.mutable_gather_slice_sizes(), c.window_sizes);
  return instruction;
}

Literal counters(ElementType type, const Dims& dimensions) {
  Literal literal(Shape::array(type, dimensions));
  for (int64_t i = 0; i < literal.element_count(); ++i) literal.set_real(i, static_cast<double>(i));
  return literal;
}

RC_GTEST_PROP(Gather, TakesClampedWindows, ()) {
  const IndexCase c = draw_index_case();
  const Literal indices = draw_indices(c, draw_index_type());
  const ElementType type =
      *rc::gen::element(ElementType::S8, ElementType::BF16, ElementType::F32, ElementType::F64, ElementType::C128);
  const Literal operand = counters(type, c.operand);
  const Literal operands[] = {operand, indices};
  const Literal result = must_run(gather_instruction(c, type), {}, operands);

  for_each_index(c.batched, [&](const Dims& index) {
    Dims at = c.start_of(index, [&](int64_t i) { return index_value(indices, i); });
    const Dims offset = c.offset_of(index);
    for (size_t d = 0; d < at.size(); ++d) {
      at[d] = std::clamp<int64_t>(at[d], 0, c.operand[d] - c.window_sizes[d]) + offset[d];
    }
    RC_ASSERT(result.complex_at(flat(index, c.batched)) == operand.complex_at(flat(at, c.operand)));
  });
}

IndexCase rows_of_matrix(int64_t rows, int64_t columns, int64_t count) {
  return {{rows, columns}, {count}, {count, columns}, {1, columns}, {1}, {0}, {0}, 1, {}, {}};
}

TEST(Gather, UnsignedIndicesCountByTheirFullValue) {
  const IndexCase c = rows_of_matrix(300, 2, 3);
  const Literal operands[] = {counters(ElementType::F32, c.operand),
                              literal_of<int64_t>(ElementType::U8, {3}, {200, 255, 0})};
  EXPECT_EQ(reals(must_run(gather_instruction(c, ElementType::F32), {}, operands)),
            (std::vector<double>{400, 401, 510, 511, 0, 1}));
}

TEST(Gather, IndicesBeyondInt64ClampToTheEnd) {
  const IndexCase c = rows_of_matrix(3, 1, 2);
  const Literal operands[] = {counters(ElementType::F32, c.operand),
                              literal_of<uint64_t>(ElementType::U64, {2}, {uint64_t{1} << 63, 1})};
  EXPECT_EQ(reals(must_run(gather_instruction(c, ElementType::F32), {}, operands)), (std::vector<double>{2, 1}));
}

TEST(Gather, PastTheDynamicSizeOfTheIndicesGivesZeros) {
  const IndexCase c = rows_of_matrix(3, 1, 3);
  Literal indices = literal_of<int64_t>(ElementType::S32, {3}, {1, 2, 2});
  indices.set_dynamic_sizes({2});
  const Literal operands[] = {counters(ElementType::F32, c.operand), indices};
  const Literal result = must_run(gather_instruction(c, ElementType::F32), {}, operands);
  EXPECT_EQ(reals(result), (std::vector<double>{1, 2, 0}));
  EXPECT_EQ(result.dynamic_sizes(), (Dims{2, 1}));
}

// The verifier lets a collapsed dimension have no element, as XLA does; what is taken of it has no meaning.
TEST(Gather, OfSlicesWithoutElementsIsNotEvaluated) {
  const hlo::Module module = entry_module(R"(
    table = f32[3,2] constant({{1,2},{3,4},{5,6}})
    indices = s32[1,1] constant({{7}})
    ROOT rows = f32[1,2] gather(table, indices), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},
      index_vector_dim=1, slice_sizes={0,2})");
  const auto value = evaluate(module, {});
  ASSERT_FALSE(value.has_value());
  EXPECT_EQ(value.error().message, "not evaluated: gather (rows): elements of a slice that has none");
}

}  // namespace
}  // namespace sapper::eval
