// Builds the module that a plan describes.
#pragma once

#include <unordered_map>

#include "isolate/plan.h"

namespace sapper::isolate {

class Builder {
 public:
  Builder(const hlo::Module& module, const std::vector<ComputationFacts>& facts, ConstantFates& fates)
      : module_(module), facts_(facts), called_planner_(module, facts, fates) {}

  // Parameter k is input k of the plan.
  [[nodiscard]] hlo::Module build(hlo::ComputationIndex computation, const Plan& plan);

 private:
  void add_called(const hlo::Computation& computation, const Plan& plan);
  hlo::Computation emit(const hlo::Computation& from, const Plan& plan);
  hlo::InstructionIndex emit_node(const hlo::Computation& from, const Plan& plan, const PlanNode& node,
                                  hlo::Computation& to);
  hlo::InstructionIndex emit_copy(const hlo::Computation& from, const hlo::Instruction& instruction,
                                  std::vector<hlo::InstructionIndex> operands, hlo::Computation& to);
  hlo::InstructionIndex emit_done(const hlo::Computation& from, const hlo::Instruction& done,
                                  std::vector<hlo::InstructionIndex> operands, hlo::Computation& to);

  const hlo::Module& module_;
  const std::vector<ComputationFacts>& facts_;
  Planner called_planner_;
  hlo::Module out_;
  std::unordered_map<hlo::ComputationIndex, hlo::ComputationIndex> moved_computations_;
  std::vector<hlo::InstructionIndex> moved_;  // node of the plan -> instruction
};

}  // namespace sapper::isolate
