// Invariants of memory: allocations, DMAs of stated sizes, sync flags of programs without branches.
#include <algorithm>
#include <map>
#include <unordered_map>

#include "llo/invariant_rules.h"

namespace sapper::llo {

namespace {

constexpr uint64_t kRowBytes = 512;

// An allocation and what is added to its address, in its space's unit.
struct Place {
  AllocationName name;
  int64_t offset = 0;
};

// Values that are places, known from the text: addresses of allocations and sums of them and constants.
class Places {
 public:
  explicit Places(const Program& program) {
    for (const Instruction& instruction : program.instructions) {
      const bool sum = instruction.opcode.starts_with("scalar_lea") && instruction.operands.size() == 2;
      const bool same = (instruction.opcode.starts_with("int_to_ptr") || instruction.opcode == "smov.u32") &&
                        instruction.operands.size() == 1;
      if (instruction.guard || (!sum && !same)) continue;
      auto place = of(instruction.operands[0]);
      if (!place) continue;
      if (sum) {
        const auto* step = std::get_if<Immediate>(&instruction.operands[1].value);
        if (step == nullptr || step->is_float) continue;
        place->offset += static_cast<int32_t>(step->bits);
      }
      known_.emplace(key_of(instruction.result), *place);
    }
  }

  [[nodiscard]] std::optional<Place> of(const Operand& operand) const {
    if (const auto* name = std::get_if<AllocationName>(&operand.value)) {
      return Place{*name, static_cast<int32_t>(operand.offset)};
    }
    const auto* name = std::get_if<Register>(&operand.value);
    if (name == nullptr) return std::nullopt;
    const auto place = known_.find(key_of(*name));
    return place == known_.end() ? std::nullopt : std::optional(place->second);
  }

 private:
  [[nodiscard]] static uint64_t key_of(const Register& name) {
    return uint64_t{name.number} << 3 | static_cast<uint64_t>(name.bank);
  }
  std::unordered_map<uint64_t, Place> known_;
};

std::optional<uint64_t> constant(const Instruction& instruction, size_t operand) {
  if (operand >= instruction.operands.size()) return std::nullopt;
  const auto* value = std::get_if<Immediate>(&instruction.operands[operand].value);
  if (value == nullptr || value->is_float) return std::nullopt;
  return value->bits;
}

std::string name_of(const AllocationName& name) {
  return fmt::format("#allocation{}{}", name.number, name.spill ? "_spill" : "");
}

// dma.hbm_to_vmem and its like; dma.done and dma.general are others.
bool is_transfer(const Instruction& instruction) {
  return instruction.opcode.starts_with("dma.") && instruction.opcode.find("_to_") != std::string_view::npos;
}

// A DMA of one chunk: source, size, destination, flag. Strided ones move within what their strides say.
void check_ends(const Program& program, const Places& places, const Generation& generation,
                std::vector<Violation>& found) {
  std::map<std::pair<uint32_t, bool>, const Allocation*> declared;
  for (const Allocation& allocation : program.allocations) {
    declared.emplace(std::pair(allocation.name.number, allocation.name.spill), &allocation);
  }
  for (const Instruction& instruction : program.instructions) {
    if (!is_transfer(instruction) || instruction.operands.size() != 4) continue;
    const auto granules = constant(instruction, 1);
    if (!granules) continue;
    for (const size_t end : {size_t{0}, size_t{2}}) {
      const auto place = places.of(instruction.operands[end]);
      if (!place) continue;
      const auto known = declared.find({place->name.number, place->name.spill});
      if (known == declared.end() || !known->second->size) continue;
      const Space space = known->second->space;
      if (space != Space::Hbm && space != Space::Vmem && space != Space::Cmem) continue;
      const uint64_t unit = space == Space::Hbm ? generation.hbm_unit_bytes : kRowBytes;
      const int64_t first = place->offset * static_cast<int64_t>(unit);
      const int64_t last = first + static_cast<int64_t>(*granules * generation.granule_bytes);
      if (first >= 0 && static_cast<uint64_t>(last) <= *known->second->size) continue;
      found.push_back({Invariant::DmaBounds,
                       fmt::format("moves bytes {} to {} of {}, which has {}", first, last, name_of(place->name),
                                   *known->second->size),
                       instruction.line});
    }
  }
}

// Of programs that run from top to bottom: each instruction once.
void check_flags(const Program& program, const Places& places, std::vector<Violation>& found) {
  struct Flag {
    int64_t granules = 0;  // put on it and not taken from it
    uint32_t line = 0;     // of the last change
  };
  std::map<std::tuple<uint32_t, bool, int64_t>, Flag> flags;
  for (const Instruction& instruction : program.instructions) {
    if (instruction.target) return;
    const bool transfer = is_transfer(instruction);
    const bool done = instruction.opcode == "dma.done";
    const bool add = instruction.opcode.starts_with("vsyncadd");
    const bool other = !transfer && !done && !add && instruction.opcode != "dma.done.wait" &&
                       (instruction.opcode.starts_with("vsync") || instruction.opcode.starts_with("dma"));
    if (other) return;
    if (!transfer && !done && !add) continue;
    const size_t flag = transfer ? 3 : 0;
    if (instruction.guard || instruction.operands.size() <= flag) return;
    const auto place = places.of(instruction.operands[flag]);
    const auto count = constant(instruction, 1);
    if (!place || !count) return;
    Flag& changed = flags[{place->name.number, place->name.spill, place->offset}];
    changed.granules += done ? -static_cast<int64_t>(*count) : static_cast<int32_t>(*count);
    changed.line = instruction.line;
  }
  for (const auto& [key, flag] : flags) {
    if (flag.granules == 0) continue;
    found.push_back({Invariant::SyncBalance,
                     fmt::format("#allocation{} is left with {} granules", std::get<0>(key), flag.granules),
                     flag.line});
  }
}

// Which regions are in which: what is declared in a region lives only there, so that regions side by side share memory.
class RegionTree {
 public:
  explicit RegionTree(const Program& program) : first_(program.regions.size()), last_(program.regions.size()) {
    std::unordered_map<uint32_t, RegionIndex> by_number;
    std::vector<RegionIndex> parents(program.regions.size());
    for (RegionIndex i = 0; i < program.regions.size(); ++i) {
      const auto& parent = program.regions[i].parent;
      const auto place = parent ? by_number.find(*parent) : by_number.end();
      parents[i] = place == by_number.end() ? i : place->second;  // parents come first; itself: none
      by_number.emplace(program.regions[i].number, i);
    }
    std::vector<uint32_t> size(parents.size(), 1);
    for (size_t i = parents.size(); i-- > 0;) {
      if (parents[i] != i) size[parents[i]] += size[i];
    }
    std::vector<uint32_t> next(parents.size());  // where the next child of a region goes, in the order of a walk
    uint32_t root = 0;
    for (size_t i = 0; i < parents.size(); ++i) {
      uint32_t& place = parents[i] == i ? root : next[parents[i]];
      first_[i] = place;
      last_[i] = place + size[i];
      next[i] = place + 1;
      place += size[i];
    }
  }

  [[nodiscard]] bool contains(RegionIndex outer, RegionIndex inner) const {
    if (outer == inner) return true;
    return first_[outer] <= first_[inner] && first_[inner] < last_[outer];
  }

 private:
  std::vector<uint32_t> first_, last_;  // the stretch of a walk through the tree that a region takes
};

bool overlap(const Allocation& a, const Allocation& b) {
  const Allocation& low = *a.offset <= *b.offset ? a : b;
  const Allocation& high = &low == &a ? b : a;
  return *high.offset - *low.offset < *low.size;
}

}  // namespace

void check_allocations(const Program& program, std::vector<Violation>& found) {
  const RegionTree tree(program);
  std::vector<const Allocation*> live;  // of the regions around the one that is looked at, outermost first
  std::map<std::pair<Space, uint64_t>, const Allocation*> by_place;  // the same, by where they begin
  for (const Allocation& allocation : program.allocations) {
    if (!allocation.offset || !allocation.size || *allocation.size == 0 || allocation.fixed) continue;
    while (!live.empty() && !tree.contains(live.back()->region, allocation.region)) {
      const auto place = by_place.find({live.back()->space, *live.back()->offset});
      if (place != by_place.end() && place->second == live.back()) by_place.erase(place);
      live.pop_back();
    }
    const auto after = by_place.lower_bound({allocation.space, *allocation.offset});
    const auto report = [&](const Allocation& other) {
      if (other.space != allocation.space || !overlap(other, allocation)) return;
      found.push_back(
          {Invariant::AllocationOverlap,
           fmt::format("{} and {} (line {}) share memory", name_of(allocation.name), name_of(other.name), other.line),
           allocation.line});
    };
    if (after != by_place.end()) report(*after->second);
    if (after != by_place.begin()) report(*std::prev(after)->second);
    live.push_back(&allocation);
    by_place.emplace(std::pair(allocation.space, *allocation.offset), &allocation);
  }
}

void check_dma(const Program& program, const Generation& generation, std::vector<Violation>& found) {
  const Places places(program);
  check_ends(program, places, generation, found);
  check_flags(program, places, found);
}

}  // namespace sapper::llo
