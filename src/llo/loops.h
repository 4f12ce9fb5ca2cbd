// Where a program's branches go and what loops they make: a loop is what a branch backwards jumps over.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "llo/program.h"

namespace sapper::llo {

struct Loop {
  InstructionIndex first = 0;  // where the branch back goes
  InstructionIndex last = 0;   // the branch back, or the last instruction of its delay slots
  int parent = -1;             // the loop around it, by position in LoopTable::loops
};

struct LoopTable {
  static constexpr InstructionIndex kEnd = UINT32_MAX;  // the program's end

  std::vector<Loop> loops;  // outer ones first
  std::vector<int> of;      // of each instruction: the innermost loop, -1: none; empty when there are no loops
  std::unordered_map<uint32_t, InstructionIndex> starts;  // of regions, by number

  [[nodiscard]] const Loop* innermost(InstructionIndex i) const {
    return of.empty() || of[i] < 0 ? nullptr : &loops[static_cast<size_t>(of[i])];
  }
  [[nodiscard]] const Loop* around(const Loop& loop) const {
    return loop.parent < 0 ? nullptr : &loops[static_cast<size_t>(loop.parent)];
  }
  // The instruction where region `number` starts; kEnd: nothing stands there.
  [[nodiscard]] InstructionIndex region_start(uint32_t number) const;
};

// In bundle forms a branch takes effect `delay_slots` bundles later, which belong to the loop. Errors: BadInput: loops
// that overlap without one being inside the other.
[[nodiscard]] Result<LoopTable> find_loops(const Program& program, uint32_t delay_slots);

}  // namespace sapper::llo
