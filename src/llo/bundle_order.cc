#include "llo/bundle_order.h"

#include <algorithm>

namespace sapper::llo {

namespace {

Bank file_of(Bank bank) { return bank == Bank::Mask ? Bank::Vector : bank; }

// Calls visit(bank, slot&) for every register that `step` reads.
template <class Visit>
void for_each_read(Step& step, std::vector<Access>& accesses, Visit&& visit) {
  for (int k = 0; k < step.operand_count; ++k)
    if (step.operand_bank[k] != Bank::Token) visit(file_of(step.operand_bank[k]), step.operand[k]);
  if (step.guard != kNoSlot) visit(Bank::Predicate, step.guard);
  if (step.access == UINT32_MAX) return;
  Access& access = accesses[step.access];
  for (Slot* slot : {&access.base, &access.offset, &access.sublane_stride, &access.sublanes_per_stride,
                     &access.sublane_mask, &access.pattern})
    if (*slot != kNoSlot) visit(Bank::Scalar, *slot);
}

bool writes(const Step& step, Bank file, Slot slot) {
  return step.result == slot && step.bank != Bank::Token && file_of(step.bank) == file;
}

bool reads_what_is_written(Step& reader, const Step& writer, std::vector<Access>& accesses) {
  bool found = false;
  for_each_read(reader, accesses, [&](Bank file, Slot& slot) { found = found || writes(writer, file, slot); });
  return found;
}

bool is(const Step& step, Unit unit) { return step.info != nullptr && step.info->unit == unit; }
bool is_pop(const Step& step) { return step.info != nullptr && step.info->name.starts_with("vpop"); }

// Whether `first` has to come before `second` whatever the text says.
bool must_precede(Step& first, Step& second, std::vector<Access>& accesses) {
  if (reads_what_is_written(first, second, accesses)) return true;
  if (is(first, Unit::Load) && is(second, Unit::Store)) return true;
  const bool queues = is(second, Unit::CrossLane) || is(second, Unit::Transcendental) || is(second, Unit::Matrix);
  return is_pop(first) && queues && !is_pop(second);
}

// Lets `steps` other than `writer` read a copy of what it is going to overwrite.
void copy_old_value(size_t writer, std::vector<Step>& steps, std::vector<Access>& accesses, Slots& slots,
                    std::vector<Step>& ordered) {
  const Bank file = file_of(steps[writer].bank);
  const Slot old = steps[writer].result;
  const Slot copy = slots.temporary(file);
  ordered.push_back(copy_step(file, old, copy, steps[writer].source));
  for (size_t i = 0; i < steps.size(); ++i) {
    if (i == writer) continue;
    for_each_read(steps[i], accesses, [&](Bank bank, Slot& slot) {
      if (bank == file && slot == old) slot = copy;
    });
  }
}

}  // namespace

void order_bundle(std::vector<Step>& steps, std::vector<Access>& accesses, Slots& slots) {
  std::vector<Step> ordered;
  while (!steps.empty()) {
    const auto is_free = [&](size_t i) {
      for (size_t j = 0; j < steps.size(); ++j)
        if (j != i && must_precede(steps[j], steps[i], accesses)) return false;
      return true;
    };
    size_t next = 0;
    while (next < steps.size() && !is_free(next)) ++next;
    if (next == steps.size()) {  // a ring of registers
      next = 0;
      while (next < steps.size() && (steps[next].result == kNoSlot || steps[next].bank == Bank::Token)) ++next;
      if (next == steps.size()) {
        next = 0;
      } else {
        copy_old_value(next, steps, accesses, slots, ordered);
      }
    }
    ordered.push_back(steps[next]);
    steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(next));
  }
  steps = std::move(ordered);
}

}  // namespace sapper::llo
