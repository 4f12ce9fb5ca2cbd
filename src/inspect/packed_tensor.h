// The values of an instruction, small enough to be shown: where there are too many, blocks of them, each by the element
// that differs most.
#pragma once

#include <cstdint>
#include <vector>

#include "inspect/inspection.h"

namespace sapper::inspect {

struct PackedTensor {
  std::vector<int64_t> dimensions;  // of the tensor
  std::vector<int64_t> block;       // elements of a block along each dimension; all 1: every element is here
  std::vector<int64_t> cells;       // blocks along each dimension
  std::vector<float> got;           // a cell each, row-major
  std::vector<float> expected;
  std::vector<bool> seen;
  std::vector<uint32_t> element;  // of the tensor that a cell shows, row-major; empty where every element is here
};

// `item` has its values. At most `most` cells. Complex values are shown by their moduli, integers as the nearest float.
[[nodiscard]] PackedTensor pack(const InspectedInstruction& item, int64_t most);

}  // namespace sapper::inspect
