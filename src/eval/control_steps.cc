// Steps that run other computations: call, fusion, while, conditional.
#include <cstring>

#include "eval/execution.h"
#include "eval/index_space.h"

namespace sapper::eval {

using hlo::Instruction;

Status Execution::run(const Site& site, const CallStep& work) {
  SAPPER_TRY(std::vector<Value> results,
             run_computation(work.computation, take_operands(site, 0, site.step.operands.size())));
  for (size_t k = 0; k < site.step.outputs.size(); ++k) set_output(site, k, std::move(results[k]));
  return {};
}

Status Execution::run(const Site& site, const WhileStep& work) {
  const Plan& condition = plan_of(work.condition);
  const Plan& body = plan_of(work.body);
  Frame condition_frame = take_frame(condition);
  Frame body_frame = take_frame(body);
  std::vector<Value> state = take_operands(site, 0, site.step.operands.size());
  for (;;) {
    for (size_t k = 0; k < state.size(); ++k)
      if (!condition.parameters[k].dies) condition_frame[condition.parameters[k].slot] = state[k];
    SAPPER_CHECKED(run(condition, condition_frame));
    Buffer goes_on = std::move(condition_frame[condition.results[0].slot].bytes);
    const bool done = goes_on->data()[0] == std::byte{0};
    pool_.release(std::move(goes_on));
    if (done) break;
    SAPPER_CHECKED(count_iteration(site.instruction()));
    bind(body, body_frame, state);
    SAPPER_CHECKED(run(body, body_frame));
    take_results(body, body_frame, state);
  }
  give_back(std::move(condition_frame));
  give_back(std::move(body_frame));
  for (size_t k = 0; k < site.step.outputs.size(); ++k) set_output(site, k, std::move(state[k]));
  return {};
}

Status Execution::count_iteration(const Instruction& instruction) {
  ++iterations_;
  SAPPER_CHECKED(check_time(instruction));
  if (options_.iteration_limit == 0 || iterations_ <= options_.iteration_limit) return {};
  return sapper::fail(hlo::error_at(ErrorKind::Resource, instruction,
                                    fmt::format("more than {} loop iterations", options_.iteration_limit)));
}

Status Execution::run(const Site& site, const ConditionalStep& work) {
  const Instruction& instruction = site.instruction();
  const auto branches = static_cast<int64_t>(instruction.called.size());
  const hlo::ElementType type = site.operand(0).shape.element_type();
  int64_t branch = IndexReader(site.data(0), type)[0];
  if (type == hlo::ElementType::Pred) branch = branch != 0 ? 0 : 1;  // true comes first
  if (branch < 0 || branch >= branches) branch = branches - 1;
  const auto chosen = static_cast<size_t>(branch);
  std::vector<Value> arguments = take_operands(site, work.branch_operands[chosen], work.branch_operands[chosen + 1]);
  SAPPER_TRY(std::vector<Value> results, run_computation(instruction.called[chosen], std::move(arguments)));
  for (size_t k = 0; k < site.step.outputs.size(); ++k) set_output(site, k, std::move(results[k]));
  return {};
}

}  // namespace sapper::eval
