// A gather whose indices two parts of one word are, as XLA:TPU packs them: each is (word & mask) >> the mask's first
// bit.
#pragma once

#include <fmt/format.h>

#include <string>

namespace sapper::inputs {

// Of `count` words, parameter 1: their bits 1..0 index a dimension of 4, bits 8..5 one of 10.
inline std::string packed_gather(int count) {
  return fmt::format(R"(
HloModule packed_gather
ENTRY e {{
  x = f32[4,10] parameter(0)
  words = s32[{0},1] parameter(1)
  mask_a = s32[] constant(3)
  masks_a = s32[{0},1] broadcast(mask_a), dimensions={{}}
  a = s32[{0},1] and(masks_a, words)
  mask_b = s32[] constant(480)
  masks_b = s32[{0},1] broadcast(mask_b), dimensions={{}}
  b = s32[{0},1] and(words, masks_b)
  five = s32[] constant(5)
  fives = s32[{0},1] broadcast(five), dimensions={{}}
  b0 = s32[{0},1] shift-right-logical(b, fives)
  parts = s32[{0},2] concatenate(a, b0), dimensions={{1}}
  indices = s32[{0},2] custom-call(parts), custom_call_target="GatherScatterIndicesBitpacked"
  ROOT r = f32[{0}] gather(x, indices), offset_dims={{}}, collapsed_slice_dims={{0,1}}, start_index_map={{0,1}}, index_vector_dim=1, slice_sizes={{1,1}}
}})",
                     count);
}

}  // namespace sapper::inputs
