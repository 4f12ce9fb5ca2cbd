// SortKey: what a sort's comparator orders by, where it is one comparison of a value that is computed alike from either
// side. That covers compare(a, b) itself, and jax's comparators, which first make zeros and NaNs of a kind equal.
#pragma once

#include <optional>
#include <vector>

#include "eval/ordered_keys.h"
#include "eval/scalar_program.h"

namespace sapper::eval {

struct SortKey {
  ScalarProgram program;         // computes the key from the comparator's parameters, where both sides are one element
  std::vector<size_t> operands;  // of the sort, that the key depends on
  hlo::ElementType type;
  FloatOrder order;
  bool descending;
};

[[nodiscard]] std::optional<SortKey> find_sort_key(const ScalarProgram& comparator);

}  // namespace sapper::eval
