#include "llo/renamed.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

namespace sapper::llo {
namespace {

using Numbers = std::vector<uint32_t>;
using Definitions = std::unordered_map<uint32_t, InstructionIndex>;

Definitions definitions_of(const Program& program) {
  Definitions definitions;
  for (InstructionIndex i = 0; i < program.instructions.size(); ++i)
    definitions.emplace(program.instructions[i].result.number, i);
  return definitions;
}

Numbers vector_operands(const Instruction& instruction) {
  Numbers numbers;
  for (const Operand& operand : instruction.operands)
    if (const auto* name = std::get_if<Register>(&operand.value))
      if (name->bank == Bank::Vector || name->bank == Bank::Mask) numbers.push_back(name->number);
  return numbers;
}

bool commutes(std::string_view opcode) {
  constexpr std::string_view kinds[] = {"vadd", "vmul", "vmax",  "vmin", "vand",
                                        "vor",  "vxor", "vmand", "vmor", "vmxor"};
  return std::ranges::any_of(kinds, [&](std::string_view kind) { return opcode.starts_with(kind); });
}

std::string_view first_part(std::string_view opcode) { return opcode.substr(0, opcode.find('.')); }

// A function's result is popped from its unit's queue once passes have taken the two apart.
bool same_kind(const Instruction& first, const Instruction& second) {
  if (first.result.bank != second.result.bank) return false;
  const bool popped = first.opcode.find(".pop") != std::string_view::npos && second.opcode.starts_with("vpop.e");
  return popped || first_part(first.opcode) == first_part(second.opcode);
}

class Renaming {
 public:
  Renaming(const Program& earlier, const Program& later)
      : earlier_(earlier), later_(later), before_(definitions_of(earlier)), after_(definitions_of(later)) {}

  Renamed run() {
    std::vector<std::pair<InstructionIndex, InstructionIndex>> open;  // instructions that are the same, to be looked at
    for (const auto& [number, at] : after_)
      if (const auto same = before_.find(number); same != before_.end()) open.emplace_back(same->second, at);
    std::ranges::sort(open);
    // Each round looks again at those that the last one left open.
    for (bool changed = true; changed;) {
      changed = false;
      std::vector<std::pair<InstructionIndex, InstructionIndex>> left;
      for (const auto& [first, second] : open) {
        const size_t known = names_.size();
        const bool done = compare(earlier_.instructions[first], later_.instructions[second]);
        if (!done) left.emplace_back(first, second);
        changed = changed || names_.size() > known;
      }
      for (const auto& pair : std::exchange(fresh_, {})) left.push_back(pair);
      open = std::move(left);
    }
    Renamed renamed{std::move(names_), {}};
    for (const auto& [later, earlier] : possible_)
      if (!renamed.certain.contains(later)) renamed.possible.emplace_back(later, earlier);
    return renamed;
  }

 private:
  // False: there is still something to learn from them.
  bool compare(const Instruction& first, const Instruction& second) {
    if (first.opcode != second.opcode) return true;
    Numbers a = vector_operands(first);
    Numbers b = vector_operands(second);
    if (a.size() != b.size()) return true;
    for (uint32_t& number : b)
      if (const auto known = names_.find(number); known != names_.end()) number = known->second;
    for (size_t i = 0; i < b.size();) {
      const auto same = std::ranges::find(a, b[i]);
      if (same == a.end()) {
        ++i;
        continue;
      }
      a.erase(same);
      b.erase(b.begin() + static_cast<int64_t>(i));
    }
    if (a.empty()) return true;
    const bool alike = std::ranges::all_of(a, [&](uint32_t number) { return number == a.front(); }) &&
                       std::ranges::all_of(b, [&](uint32_t number) { return number == b.front(); });
    if (!alike && commutes(first.opcode)) {
      for (const uint32_t later : b)
        for (const uint32_t earlier : a)
          if (may_be(earlier, later)) possible_.emplace(later, earlier);
      return false;
    }
    for (size_t i = 0; i < a.size(); ++i) learn(a[i], b[i]);
    return true;
  }

  [[nodiscard]] bool may_be(uint32_t earlier, uint32_t later) const {
    if (after_.contains(earlier) || before_.contains(later)) return false;
    if (!after_.contains(later) || !before_.contains(earlier)) return false;
    return same_kind(earlier_.instructions[before_.at(earlier)], later_.instructions[after_.at(later)]);
  }

  void learn(uint32_t earlier, uint32_t later) {
    if (!may_be(earlier, later)) return;
    if (!names_.emplace(later, earlier).second) return;
    if (const auto first = before_.find(earlier); first != before_.end())
      fresh_.emplace_back(first->second, after_.at(later));
  }

  const Program& earlier_;
  const Program& later_;
  const Definitions before_, after_;
  std::unordered_map<uint32_t, uint32_t> names_;
  std::set<std::pair<uint32_t, uint32_t>> possible_;  // later, earlier
  std::vector<std::pair<InstructionIndex, InstructionIndex>> fresh_;
};

}  // namespace

Renamed renamed_values(const Program& earlier, const Program& later) { return Renaming(earlier, later).run(); }

}  // namespace sapper::llo
