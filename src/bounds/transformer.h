// The driver of bounds and intents: walks the computations of a module, called ones when they are called,
// and writes forms of them into a new module that compute something beside each value, as a table of rules says.
//
// The bounded form of a computation has its parameters, then one more for each leaf of them that deviates; its root is
// a tuple of the original root and one array for each leaf of it that deviates (the original root alone when none
// does).
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bounds/bounded.h"
#include "bounds/builder.h"
#include "bounds/rules.h"
#include "bounds/site.h"
#include "hlo/module.h"
#include "numerics/contract.h"

namespace sapper::bounds {

struct BoundedComputation {
  hlo::ComputationIndex index = 0;  // in the new module
  std::vector<bool> deviates;       // each leaf of the root
};

class Transformer {
 public:
  // `rules` are for opcodes that run no computation on whole values.
  Transformer(const hlo::Module& from, const numerics::Contract& contract, RuleTable rules);

  // `computation` of the original module where the leaves of its parameters that `deviates` says have deviations.
  // `is_output`: its result leaves the program as it is.
  const BoundedComputation& bounded(hlo::ComputationIndex computation, const std::vector<bool>& deviates,
                                    bool is_output = false);
  // The computation as it is.
  hlo::ComputationIndex copied(hlo::ComputationIndex computation);
  // A computation on two scalars that is one operation.
  hlo::ComputationIndex operation(hlo::Opcode opcode, hlo::ElementType type);
  hlo::ComputationIndex add(hlo::Computation computation);

  // Says that no rule bounds an instruction.
  void report_unbounded(const hlo::Computation& computation, const hlo::Instruction& instruction);

  [[nodiscard]] const hlo::Module& from() const { return from_; }
  [[nodiscard]] const numerics::Contract& contract() const { return contract_; }
  [[nodiscard]] hlo::Module& to() { return to_; }
  [[nodiscard]] std::vector<std::string> unbounded() && { return std::move(unbounded_); }

 private:
  BoundedComputation transform(const hlo::Computation& computation, const std::vector<bool>& deviates, bool is_output);

  const hlo::Module& from_;
  const numerics::Contract contract_;
  const RuleTable rules_;
  hlo::Module to_;
  std::map<std::tuple<hlo::ComputationIndex, std::vector<bool>, bool>, BoundedComputation> bounded_;
  std::map<hlo::ComputationIndex, hlo::ComputationIndex> copied_;
  std::map<std::pair<hlo::Opcode, hlo::ElementType>, hlo::ComputationIndex> operations_;
  std::vector<std::string> unbounded_;
};

// with_bounds() by any table.
[[nodiscard]] Result<BoundedModule> with_rules(const hlo::Module& module, const numerics::Contract& contract,
                                               RuleTable rules);

}  // namespace sapper::bounds
