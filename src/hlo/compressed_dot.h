// Dots of operands that are stored shorter than they are.
#pragma once

#include "hlo/module.h"

namespace sapper::hlo {

// Whether an operand is sparse or scaled by blocks. A configuration that says nothing of either side, as XLA:TPU writes
// it to every dot, is none.
[[nodiscard]] inline bool is_compressed_dot(const Attributes& attributes) {
  const auto& sparsity = attributes.sparsity_config();
  const auto& scaling = attributes.block_scaling_config();
  return sparsity.has_lhs() || sparsity.has_rhs() || scaling.has_lhs() || scaling.has_rhs();
}

}  // namespace sapper::hlo
