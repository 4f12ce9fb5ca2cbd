#include "llo/loops.h"

#include <algorithm>

namespace sapper::llo {

InstructionIndex LoopTable::region_start(uint32_t number) const {
  const auto start = starts.find(number);
  return start == starts.end() ? kEnd : start->second;
}

Result<LoopTable> find_loops(const Program& program, uint32_t delay_slots) {
  LoopTable table;
  const auto count = static_cast<InstructionIndex>(program.instructions.size());
  for (const Region& region : program.regions)
    if (region.first < count) table.starts.try_emplace(region.number, region.first);

  std::unordered_map<InstructionIndex, InstructionIndex> ends;  // of loops, by first
  for (InstructionIndex i = 0; i < count; ++i) {
    const Instruction& instruction = program.instructions[i];
    if (!instruction.target) continue;
    const InstructionIndex to = table.region_start(*instruction.target);
    if (to == LoopTable::kEnd || to > i) continue;
    InstructionIndex last = i;
    if (!program.bundles.empty()) {
      const size_t end = std::min<size_t>(instruction.bundle + delay_slots, program.bundles.size() - 1);
      const Bundle& bundle = program.bundles[end];
      last = std::max(i, bundle.first + bundle.count - 1);  // an empty bundle ends where the one before it does
    }
    InstructionIndex& end = ends[to];
    end = std::max(end, last);
  }
  for (const auto& [first, last] : ends) table.loops.push_back({first, last, -1});
  std::sort(table.loops.begin(), table.loops.end(), [](const Loop& a, const Loop& b) { return a.first < b.first; });
  if (table.loops.empty()) return table;

  table.of.assign(count, -1);
  std::vector<int> open;
  size_t next = 0;
  for (InstructionIndex i = 0; i < count; ++i) {
    while (!open.empty() && table.loops[static_cast<size_t>(open.back())].last < i) open.pop_back();
    for (; next < table.loops.size() && table.loops[next].first == i; ++next) {
      Loop& loop = table.loops[next];
      if (!open.empty()) {
        loop.parent = open.back();
        const Instruction& at = program.instructions[i];
        if (table.loops[static_cast<size_t>(open.back())].last < loop.last)
          return fail(Error{ErrorKind::BadInput,
                            "two loops overlap without one being inside the other",
                            {program.file, static_cast<int>(at.line), 0, to_string(at.result)}});
      }
      open.push_back(static_cast<int>(next));
    }
    table.of[i] = open.empty() ? -1 : open.back();
  }
  return table;
}

}  // namespace sapper::llo
