#include "llo/result_queue.h"

#include <algorithm>

namespace sapper::llo {

Queued queued_operand(const Machine& machine, Slot vector) {
  Queued operand;
  operand.value = machine.vector(vector);
  if (const Vreg* undefined = machine.vector_undefined(vector)) operand.undefined = *undefined;
  return operand;
}

void push_result(Machine& machine, const Step& step, QueueKind kind, uint32_t unit, Queued result) {
  result.token = step.result;
  machine.push(kind, unit, result);
}

void pop_result(Machine& machine, const Step& step, QueueKind kind, uint32_t unit) {
  std::deque<Queued>& queue = machine.queue(kind, unit);
  auto next = queue.begin();
  if (machine.code().program->form == Form::Ssa)
    for (int k = 0; k < step.operand_count; ++k)
      if (step.operand_bank[k] == Bank::Token)
        next = std::find_if(queue.begin(), queue.end(),
                            [&](const Queued& queued) { return queued.token == step.operand[k]; });
  Vreg& result = machine.write_vector(step.result);
  if (next == queue.end()) {
    machine.report(step, FindingKind::EmptyQueue, "pops a result that nothing has pushed");
    Vreg nothing;
    std::fill_n(nothing.word, kVregWords, ~uint32_t{0});
    std::fill_n(result.word, kVregWords, 0);
    machine.set_vector_undefined(step.result, nothing);
    return;
  }
  result = next->value;
  if (next->undefined) machine.set_vector_undefined(step.result, *next->undefined);
  queue.erase(next);
}

void pop_scalar(Machine& machine, const Step& step, QueueKind kind) {
  std::deque<Queued>& queue = machine.queue(kind, 0);
  if (queue.empty()) {
    machine.report(step, FindingKind::EmptyQueue, "pops a word that nothing has pushed");
    machine.set_scalar(step.result, 0, ~uint32_t{0});
    return;
  }
  const Queued& next = queue.front();
  machine.set_scalar(step.result, next.value.word[0], next.undefined ? next.undefined->word[0] : 0);
  queue.pop_front();
}

}  // namespace sapper::llo
