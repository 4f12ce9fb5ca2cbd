// Sync flags: add, set, wait. A flag counts granules: a DMA adds as many as it moves, a wait takes them away.
#include <fmt/format.h>

#include <algorithm>

#include "llo/isa.h"
#include "llo/machine.h"

namespace sapper::llo {
namespace {

// The flag has reached `granules`: the earliest DMAs that count on it, as far as they are needed for that, are over.
void end_flights(Machine& machine, uint32_t flag, int64_t granules) {
  std::vector<Machine::Flight>& flights = machine.flights();
  int64_t under_way = 0;
  for (const Machine::Flight& flight : flights) {
    if (flight.flag == flag) under_way += static_cast<int64_t>(flight.granules);
  }
  const int64_t arrived = machine.sync_flag(flag) - under_way;
  auto needed = static_cast<uint64_t>(std::max<int64_t>(granules - arrived, 0));
  for (Machine::Flight& flight : flights) {
    if (flight.flag != flag) continue;
    const uint64_t part = std::min(needed, flight.granules);
    flight.granules -= part;
    needed -= part;
  }
  std::erase_if(flights, [](const Machine::Flight& flight) { return flight.granules == 0; });
}

// False: the run ends.
bool wait(Machine& machine, const Step& step) {
  const uint32_t flag = machine.decisive(step, step.operand[0], "a sync flag");
  const auto granules = static_cast<int32_t>(machine.decisive(step, step.operand[1], "what is waited for"));
  const int64_t value = machine.sync_flag(flag);
  if (value < granules && machine.other_core() != nullptr) {
    machine.wait_for_other_core();
    return false;
  }
  if (value < granules) {
    machine.report(
        step, FindingKind::Deadlock,
        fmt::format("waits for {} granules on a sync flag that has {} and that nothing adds to", granules, value));
    machine.stop();
    return false;
  }
  end_flights(machine, flag, granules);
  return true;
}

void wait_and_take(Machine& machine, const Step& step) {
  if (!wait(machine, step)) return;
  machine.sync_flag(machine.scalar(step.operand[0])) -= static_cast<int32_t>(machine.scalar(step.operand[1]));
}

void wait_only(Machine& machine, const Step& step) { (void)wait(machine, step); }

void wait_below(Machine& machine, const Step& step) {
  const uint32_t flag = machine.decisive(step, step.operand[0], "a sync flag");
  const auto limit = static_cast<int32_t>(machine.decisive(step, step.operand[1], "what is waited for"));
  const int64_t value = machine.sync_flag(flag);
  if (value < limit) return;
  if (machine.other_core() != nullptr) return machine.wait_for_other_core();
  machine.report(
      step, FindingKind::Deadlock,
      fmt::format("waits for a sync flag to be less than {}, which has {} and that nothing takes from", limit, value));
  machine.stop();
}

void add(Machine& machine, const Step& step) {
  const uint32_t flag = machine.decisive(step, step.operand[0], "a sync flag");
  machine.sync_flag(flag) += static_cast<int32_t>(machine.decisive(step, step.operand[1], "what a sync flag counts"));
}

void set(Machine& machine, const Step& step) {
  const uint32_t flag = machine.decisive(step, step.operand[0], "a sync flag");
  machine.sync_flag(flag) = static_cast<int32_t>(machine.decisive(step, step.operand[1], "what a sync flag counts"));
}

// A flag's low 14 bits, the core it belongs to in the three above them, the chip in the rest.
void add_remote(Machine& machine, const Step& step) {
  const uint32_t place = machine.decisive(step, step.operand[0], "a sync flag");
  Machine* const owner = machine.core_named(place >> 14 & 7);
  if (owner == nullptr || place >> 17 != 0) {
    return machine.fail_with({ErrorKind::Unsupported, fmt::format("a sync flag {:#x} of another chip", place), {}});
  }
  owner->sync_flag(place & 0x3fff) +=
      static_cast<int32_t>(machine.decisive(step, step.operand[1], "what a sync flag counts"));
}

constexpr OpcodeInfo kOpcodes[] = {
    {"dma.done", "- = s s", Unit::Sync, Action{wait_and_take},
     "Waits until the flag a is at least b, then takes b from it."},
    {"dma.done.wait", "- = s s", Unit::Sync, Action{wait_only}, "Waits until the flag a is at least b."},
    {"vwait.lt.trace", "- = s s", Unit::Sync, Action{wait_below},
     "Waits until the flag a is less than b: for the other core to take from it (v5p's scatters; assumed signed)."},
    {"vsyncadd", "- = s s", Unit::Sync, Action{add}, "Adds b, signed, to the flag a."},
    {"vsyncadd.remote", "- = s s", Unit::Sync, Action{add_remote},
     "Adds b, signed, to a flag of either core: the low 14 bits of a are the flag, the three above them 2 + the core, "
     "the rest the chip."},
    {"vsyncset", "- = s s", Unit::Sync, Action{set}, "The flag a becomes b."},
    {"vsyncpa", "- = s s", Unit::Sync, NoEffect{},
     "Marks the flag a as in use (b is 0) or free (1): no effect on values."},
    {"sfence", "- = ", Unit::Sync, NoEffect{}, "Later accesses of scalar memory wait for earlier ones."},
    {"cfence", "- = x*", Unit::Sync, NoEffect{}, "Later accesses of CMEM wait for earlier ones."},
};

}  // namespace

std::span<const OpcodeInfo> sync_opcodes() { return kOpcodes; }

}  // namespace sapper::llo
