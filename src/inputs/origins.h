// Where values come from: back through data movement, calls and loops to the entry computation's parameters.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <vector>

#include "hlo/module.h"

namespace sapper::inputs {

// A value: an instruction's result, or the element of it that `tuple_element` selects (-1: all of it).
struct Place {
  hlo::ComputationIndex computation;
  hlo::InstructionIndex instruction;
  int64_t tuple_element = -1;
  auto operator<=>(const Place&) const = default;
};

class Origins {
 public:
  // `module` must outlive it. Linear in the module.
  explicit Origins(const hlo::Module& module);

  // Numbers of the entry parameters (arrays) that the value at `start` is, or holds parts of, or is computed from by
  // operations that are `through`, squares aside. Gives up, with what it has, on values of very many origins.
  [[nodiscard]] std::set<int64_t> parameters(const Place& start, const std::set<hlo::Opcode>& through = {}) const;

 private:
  struct CallSite {
    hlo::ComputationIndex computation;
    hlo::InstructionIndex instruction;
  };

  void follow_operands(const Place& place, bool through, std::vector<Place>& pending) const;
  void follow_callers(const Place& place, std::vector<Place>& pending) const;

  const hlo::Module& module_;
  std::vector<std::vector<CallSite>> callers_;  // of each computation
};

}  // namespace sapper::inputs
