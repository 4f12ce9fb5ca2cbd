#include "eval/memory_need.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>
#include <vector>

namespace sapper::eval {
namespace {

int64_t saturating_sum(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

// Whether a step may hand an operand on as its result, or a constant of the module.
struct HandsOn {
  template <class Work>
  bool operator()(const Work&) const {
    return false;
  }
  bool operator()(const BitcastStep&) const { return true; }
  bool operator()(const RepackStep&) const { return true; }
  bool operator()(const OpStep&) const { return true; }
  bool operator()(const ConstantStep&) const { return true; }
  bool operator()(const CallStep&) const { return true; }
  bool operator()(const WhileStep&) const { return true; }
  bool operator()(const ConditionalStep&) const { return true; }
};

// What is live from step to step.
class Tally {
 public:
  explicit Tally(const Plan& plan) : plan_(plan), held_(plan.slot_count, 0) {
    for (const SlotUse& parameter : plan.parameters)
      if (!parameter.dies) take(parameter.slot);
  }

  [[nodiscard]] int64_t live() const { return live_; }

  // What is live beside the operands of a call, at least: operands may be the same memory.
  [[nodiscard]] int64_t beside(const Step& step) const {
    int64_t passed = 0;
    for (const SlotUse& operand : step.operands) passed = saturating_sum(passed, plan_.slot_bytes[operand.slot]);
    return live_ - passed;
  }

  void make_outputs(const Step& step) {
    const bool hands_on = std::visit(HandsOn(), step.work);
    for (const SlotUse& output : step.outputs)
      if (!hands_on || !hand_on(step, output.slot)) take(output.slot);
  }

  void drop_dying(const std::vector<SlotUse>& uses) {
    for (const SlotUse& use : uses)
      if (use.dies) live_ -= std::exchange(held_[use.slot], 0);
  }

 private:
  void take(Slot slot) {
    held_[slot] = std::min(plan_.slot_bytes[slot], std::numeric_limits<int64_t>::max() - live_);
    live_ += held_[slot];
  }

  // The output may be the memory of an operand of its size, or a constant's.
  bool hand_on(const Step& step, Slot output) {
    if (step.operands.empty()) return true;
    const auto same_size = [&](const SlotUse& operand) {
      return plan_.slot_bytes[operand.slot] == plan_.slot_bytes[output];
    };
    const auto operand = std::find_if(step.operands.begin(), step.operands.end(), same_size);
    if (operand == step.operands.end()) return false;
    if (operand->dies) held_[output] = std::exchange(held_[operand->slot], 0);
    return true;
  }

  const Plan& plan_;
  int64_t live_ = 0;
  std::vector<int64_t> held_;  // bytes counted for each slot
};

}  // namespace

MemoryNeed least_memory(const Plan& plan, const std::function<MemoryNeed(hlo::ComputationIndex)>& need_of) {
  Tally tally(plan);
  MemoryNeed most{tally.live(), nullptr};
  const auto reach = [&](int64_t bytes, const hlo::Instruction* at) {
    if (bytes > most.bytes) most = {bytes, at};
  };
  for (const Step& step : plan.steps) {
    const hlo::Instruction* const instruction = &plan.computation->instructions[step.instruction];
    if (const auto* const call = std::get_if<CallStep>(&step.work)) {
      const MemoryNeed called = need_of(call->computation);
      reach(saturating_sum(tally.beside(step), called.bytes),
            called.instruction != nullptr ? called.instruction : instruction);
    }
    tally.make_outputs(step);
    tally.drop_dying(step.operands);  // which the result may have been written over
    reach(tally.live(), instruction);
    tally.drop_dying(step.outputs);
  }
  return most;
}

}  // namespace sapper::eval
