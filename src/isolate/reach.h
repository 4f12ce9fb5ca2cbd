// Which computations a cut enters, and how often a run of the module comes there.
#pragma once

#include <vector>

#include "hlo/module.h"

namespace sapper::isolate {

// Executions of each computation as control flow; 0: never (applied to elements, the body of a fusion, dead). A loop
// runs as often as the compiler says it does, else once; each branch counts as taken.
class Reach {
 public:
  explicit Reach(const hlo::Module& module);

  // To be called for callers before callees, that is from the last computation to the first.
  void enter_called(hlo::ComputationIndex caller, const hlo::Instruction& instruction);

  [[nodiscard]] double executions(hlo::ComputationIndex computation) const { return executions_[computation]; }

 private:
  std::vector<double> executions_;
};

// The number of iterations of a while that its backend config states; 1: it states none.
[[nodiscard]] double trip_count(const hlo::Instruction& loop);

// The text of the value of `key` in a backend config in JSON, without quotes; empty: it is not there.
[[nodiscard]] std::string_view config_value(std::string_view config, std::string_view key);

}  // namespace sapper::isolate
