// Programs for tests of the reducer: from text, with arguments that are easy to recognize.
#pragma once

#include <gtest/gtest.h>

#include "hlo/text.h"
#include "hlo/verifier.h"
#include "reduce/program.h"

namespace sapper::reduce {

inline Program program_of(std::string_view text) {
  auto module = hlo::parse_text(text);
  EXPECT_TRUE(module) << module.error().describe();
  const Status legal = hlo::verify(*module);
  EXPECT_TRUE(legal) << legal.error().describe();
  std::vector<hlo::Literal> arguments;
  const hlo::Computation& entry = module->entry_computation();
  for (const hlo::InstructionIndex parameter : entry.parameters()) {
    hlo::Literal argument(entry.instructions[parameter].shape);
    for (int64_t i = 0; i < argument.element_count(); ++i) argument.set_real(i, static_cast<double>(i % 5) + 1);
    arguments.push_back(std::move(argument));
  }
  auto program = normalized(std::move(*module), arguments, {});
  EXPECT_TRUE(program) << program.error().describe();
  return std::move(*program);
}

// Every kind of operation that edits know something of.
constexpr const char* varied = R"(HloModule varied
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
below {
  state = (s32[], f32[4,6], f32[8]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  three = s32[] constant(3)
  ROOT less = pred[] compare(i, three), direction=LT
}
step {
  state = (s32[], f32[4,6], f32[8]) parameter(0)
  i = s32[] get-tuple-element(state), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[4,6] get-tuple-element(state), index=1
  twice = f32[4,6] add(x, x)
  idle = f32[8] get-tuple-element(state), index=2
  ROOT all = (s32[], f32[4,6], f32[8]) tuple(next, twice, idle)
}
square {
  a = f32[4,6] parameter(0)
  ROOT b = f32[4,6] multiply(a, a)
}
half {
  a = f32[4,6] parameter(0)
  ROOT b = f32[4,6] negate(a)
}
fused {
  a = f32[4,6] parameter(0)
  b = f32[4,6] parameter(1)
  c = f32[4,6] multiply(a, b)
  ROOT d = f32[4,6] tanh(c)
}
ENTRY e {
  x = f32[4,6] parameter(0)
  y = f32[6,10] parameter(1)
  z = f32[1,1,8,10] parameter(2)
  k = f32[1,1,3,3] parameter(3)
  v = f32[8] parameter(4)
  zero = f32[] constant(0)
  izero = s32[] constant(0)
  one = s32[] constant(1)
  init = (s32[], f32[4,6], f32[8]) tuple(izero, x, v)
  loop = (s32[], f32[4,6], f32[8]) while(init), condition=below, body=step
  looped = f32[4,6] get-tuple-element(loop), index=1
  fusion = f32[4,6] fusion(looped, x), kind=kLoop, calls=fused
  yes = pred[] constant(true)
  chosen = f32[4,6] conditional(yes, fusion, x), true_computation=square, false_computation=half
  dot = f32[4,10] dot(chosen, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  conv = f32[1,1,8,10] convolution(z, k), window={size=3x3 pad=1_1x1_1}, dim_labels=bf01_oi01->bf01
  window = f32[1,1,7,9] reduce-window(conv, zero), window={size=1x1x2x2}, to_apply=sum
  padded = f32[1,1,9,9] pad(window, zero), padding=0_0x0_0x1_1x0_0
  flat = f32[81] reshape(padded)
  part = f32[20] slice(flat), slice={[2:62:3]}
  table = f32[4,5] reshape(part)
  turned = f32[5,4] transpose(table), dimensions={1,0}
  picked = f32[2,10] dynamic-slice(dot, one, izero), dynamic_slice_sizes={2,10}
  placed = f32[4,10] dynamic-update-slice(dot, picked, izero, izero)
  rows = f32[4] reduce(placed, zero), dimensions={1}, to_apply=sum
  wide = f32[5,4] broadcast(rows), dimensions={1}
  both = f32[10,4] concatenate(turned, wide), dimensions={0}
  sorted = f32[10,4] sort(both), dimensions={0}, to_apply=lower
  index = s32[3,1] iota(), iota_dimension=0
  gathered = f32[3,4] gather(sorted, index), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}
  scattered = f32[10,4] scatter(sorted, index, gathered), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum
  back = f32[10,4] reverse(scattered), dimensions={0}
  small = bf16[10,4] convert(back)
  ROOT results = (bf16[10,4], f32[4], f32[1,1,8,10]) tuple(small, rows, conv)
}
lower {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT
}
)";

}  // namespace sapper::reduce
