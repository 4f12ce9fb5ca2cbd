// Which dimensions of a module's arrays must be equal: an addition's operands and result, what a loop carries, the
// contracted dimensions of a dot, ... Those are changed together.
#pragma once

#include <cstdint>
#include <vector>

#include "hlo/module.h"

namespace sapper::reduce {

class Dimensions {
 public:
  explicit Dimensions(const hlo::Module& module);

  // Dimension d of leaf `leaf` (in tuple order) of an instruction's value.
  struct Place {
    hlo::ComputationIndex computation = 0;
    hlo::InstructionIndex instruction = 0;
    uint32_t leaf = 0;
    uint32_t dimension = 0;
  };

  // A number for the dimensions that are equal to this one.
  [[nodiscard]] uint32_t group(const Place& place) const { return find(index(place)); }
  // Something depends on the size in a way that is not followed.
  [[nodiscard]] bool is_fixed(uint32_t group) const { return fixed_[group]; }

  // Of each group one place, in the order in which they first occur.
  [[nodiscard]] std::vector<Place> groups() const;

 private:
  friend class DimensionRules;
  [[nodiscard]] uint32_t index(const Place& place) const {
    return first_leaf_dimension_[first_leaf_[first_instruction_[place.computation] + place.instruction] + place.leaf] +
           place.dimension;
  }
  [[nodiscard]] uint32_t find(uint32_t dimension) const;
  void unite(const Place& a, const Place& b);
  void fix(const Place& place) { fixed_[find(index(place))] = true; }

  std::vector<uint32_t> first_instruction_;     // of each computation
  std::vector<uint32_t> first_leaf_;            // of each instruction
  std::vector<uint32_t> first_leaf_dimension_;  // of each leaf
  std::vector<Place> places_;                   // of each dimension
  mutable std::vector<uint32_t> parent_;
  std::vector<bool> fixed_;  // of roots
};

// How dimensions of a reshape's operand and result belong together: stretches with the same product.
struct ReshapeGroup {
  std::vector<size_t> from;
  std::vector<size_t> to;
};
[[nodiscard]] std::vector<ReshapeGroup> reshape_groups(const hlo::Shape& from, const hlo::Shape& to);

}  // namespace sapper::reduce
