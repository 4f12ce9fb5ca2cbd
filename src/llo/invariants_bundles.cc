// Invariants of bundles and of physical registers. What a generation has room for is measured: the most that any kernel
// of the test corpus (146 modules, every generation) has in one bundle at any stage, and the highest register. The four
// cross-lane slots of v5p are v5e's: only its last stage was measured, which has three. Those of v4 are what
// the compiler states (its utilization tables: two units, two pops); a model whose transposes keep both units busy has
// them.
#include <algorithm>
#include <array>
#include <unordered_map>

#include "llo/invariant_rules.h"
#include "llo/isa.h"

namespace sapper::llo {

namespace {

struct Limits {
  std::string_view generation;
  std::array<int, 9> slots;      // by Unit, Scalar to Sync
  std::array<int, 4> registers;  // by Bank, Scalar to Predicate
};
constexpr std::array<Limits, 7> kLimits = {{
    // scalar, vector, load, store, cross-lane, transcendental, matrix, DMA, sync
    {"v2", {2, 3, 1, 1, 2, 2, 2, 1, 1}, {32, 32, 8, 16}},
    {"v3", {2, 3, 1, 1, 2, 2, 2, 1, 1}, {32, 32, 8, 16}},
    {"v4", {2, 3, 3, 1, 4, 2, 4, 1, 1}, {32, 32, 8, 16}},
    {"v5e", {2, 5, 3, 1, 4, 2, 4, 1, 1}, {32, 64, 16, 16}},
    {"v5p", {2, 6, 3, 1, 4, 2, 3, 1, 1}, {32, 64, 16, 16}},
    {"v6e", {2, 5, 3, 2, 4, 2, 4, 1, 1}, {32, 64, 16, 16}},
    {"tpu7x", {2, 5, 3, 2, 4, 2, 2, 1, 1}, {32, 64, 16, 16}},
}};

// The unit of each opcode, looked up once.
class Units {
 public:
  Unit of(std::string_view opcode) {
    const auto [place, fresh] = known_.try_emplace(opcode, Unit::Pseudo);
    if (!fresh) return place->second;
    const OpcodeMatch match = find_opcode(opcode);
    if (match.info != nullptr) place->second = match.info->unit;
    return place->second;
  }

 private:
  std::unordered_map<std::string_view, Unit> known_;
};

// Some passes schedule as if what is written to spill areas and read back took no slot.
bool is_spill(const Instruction& instruction) {
  for (const Operand& operand : instruction.operands) {
    const auto* memory = std::get_if<MemoryOperand>(&operand.value);
    const auto* base = memory == nullptr ? nullptr : std::get_if<AllocationName>(&memory->base);
    if (base != nullptr && base->spill) return true;
  }
  return false;
}

void check_slots(const Program& program, const Limits& limits, std::vector<Violation>& found) {
  Units units;
  for (const Bundle& bundle : program.bundles) {
    std::array<int, std::tuple_size_v<decltype(limits.slots)>> used{};
    for (uint32_t k = 0; k < bundle.count; ++k) {
      const Instruction& instruction = program.instructions[bundle.first + k];
      const auto unit = static_cast<size_t>(units.of(instruction.opcode));
      if (unit < used.size() && !is_spill(instruction)) ++used[unit];
    }
    for (size_t unit = 0; unit < used.size(); ++unit) {
      if (used[unit] <= limits.slots[unit]) continue;
      found.push_back({Invariant::BundleSlots,
                       fmt::format("the bundle has {} instructions of the {} unit; {} has slots for {}", used[unit],
                                   to_string(static_cast<Unit>(unit)), limits.generation, limits.slots[unit]),
                       bundle.line});
    }
  }
}

void check_registers(const Program& program, const Limits& limits, std::vector<Violation>& found) {
  for (const Instruction& instruction : program.instructions) {
    const Register& name = instruction.result;
    if (name.physical < 0 || name.bank == Bank::Token) continue;
    const int count = limits.registers[static_cast<size_t>(name.bank)];
    if (name.physical < count) continue;
    found.push_back({Invariant::RegisterFile,
                     fmt::format("{}: {} has {} such registers", to_string(name), limits.generation, count),
                     instruction.line});
  }
}

}  // namespace

void check_bundles(const Program& program, const Generation& generation, std::vector<Violation>& found) {
  const auto* const limits = std::ranges::find(kLimits, std::string_view(generation.name), &Limits::generation);
  if (limits == kLimits.end()) return;
  if (!is_fragment(program)) check_slots(program, *limits, found);
  check_registers(program, *limits, found);
}

}  // namespace sapper::llo
