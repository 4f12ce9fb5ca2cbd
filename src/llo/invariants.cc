// Invariants of values and branches, and all invariants together.
#include "llo/invariants.h"

#include <unordered_map>

#include "base/assert.h"
#include "llo/invariant_rules.h"

namespace sapper::llo {

namespace {

bool is_phi(std::string_view opcode) { return opcode.ends_with("phi"); }

// These are names for what another instruction makes: they take no time, and stand in the same bundle as it.
// So does the high half of a product beside its low half.
bool is_in_place(std::string_view opcode) {
  return is_phi(opcode) || opcode.starts_with("int_to_ptr") || opcode == "vmul.u32.u64.high";
}

// v2 and v3 fill slots with moves of a mask register onto itself, of a value that nothing defines.
bool is_filler(const Instruction& instruction, const Register& operand) {
  const Register& result = instruction.result;
  return instruction.opcode == "vmmov" && result.physical >= 0 && result.physical == operand.physical;
}

// Where a value is defined: instruction, or bundle where all of a bundle's reads come before its writes.
class Definitions {
 public:
  explicit Definitions(const Program& program) : program_(program) { places_.reserve(program.instructions.size()); }

  [[nodiscard]] static uint64_t key_of(const Register& name) {
    return uint64_t{name.number} << 3 | static_cast<uint64_t>(name.bank);
  }
  // False: it is defined already.
  bool add(InstructionIndex i) { return places_.emplace(key_of(program_.instructions[i].result), i).second; }
  // Where `name` is defined; null: nowhere.
  [[nodiscard]] const InstructionIndex* find(const Register& name) const {
    const auto place = places_.find(key_of(name));
    return place == places_.end() ? nullptr : &place->second;
  }
  [[nodiscard]] bool is_above(InstructionIndex definition, InstructionIndex use) const {
    if (program_.bundles.empty()) return definition < use;
    const BundleIndex defined = program_.instructions[definition].bundle;
    const BundleIndex used = program_.instructions[use].bundle;
    return defined < used || (defined == used && (is_in_place(program_.instructions[definition].opcode) ||
                                                  is_in_place(program_.instructions[use].opcode)));
  }

 private:
  const Program& program_;
  std::unordered_map<uint64_t, InstructionIndex> places_;
};

template <class Visit>
void for_each_register(const Instruction& instruction, Visit visit) {
  const auto scalar = [&](const ScalarOperand& operand) {
    if (const auto* name = std::get_if<Register>(&operand)) visit(*name);
  };
  for (const Operand& operand : instruction.operands) {
    if (const auto* name = std::get_if<Register>(&operand.value)) visit(*name);
    const auto* memory = std::get_if<MemoryOperand>(&operand.value);
    if (memory == nullptr) continue;
    scalar(memory->base);
    for (const auto* part : {&memory->offset, &memory->sublane_stride, &memory->sublane_mask, &memory->pattern}) {
      if (*part) scalar(**part);
    }
  }
  if (!instruction.guard) return;
  if (const auto* name = std::get_if<Register>(&instruction.guard->condition)) visit(*name);
}

}  // namespace

const char* to_string(Invariant invariant) {
  switch (invariant) {
    case Invariant::DefinedOnce: return "defined-once";
    case Invariant::DefinedBeforeUse: return "defined-before-use";
    case Invariant::BranchTarget: return "branch-target";
    case Invariant::AllocationOverlap: return "allocation-overlap";
    case Invariant::DmaBounds: return "dma-bounds";
    case Invariant::SyncBalance: return "sync-balance";
    case Invariant::BundleSlots: return "bundle-slots";
    case Invariant::RegisterFile: return "register-file";
  }
  SAPPER_ASSERT(false);
}

bool is_fragment(const Program& program) {
  return program.regions.empty() && (program.form == Form::Ssa || program.form == Form::ValueBundles);
}

void check_values(const Program& program, std::vector<Violation>& found) {
  Definitions definitions(program);
  for (InstructionIndex i = 0; i < program.instructions.size(); ++i) {
    if (definitions.add(i)) continue;
    const Instruction& again = program.instructions[i];
    const uint32_t first = program.instructions[*definitions.find(again.result)].line;
    found.push_back({Invariant::DefinedOnce,
                     fmt::format("{} is defined in line {} too", to_string(again.result), first), again.line});
  }
  for (InstructionIndex i = 0; i < program.instructions.size(); ++i) {
    const Instruction& instruction = program.instructions[i];
    const bool phi = is_phi(instruction.opcode);
    for_each_register(instruction, [&](const Register& name) {
      const InstructionIndex* definition = definitions.find(name);
      if (definition != nullptr && (phi || definitions.is_above(*definition, i))) return;
      if (definition == nullptr && (is_fragment(program) || is_filler(instruction, name))) return;
      found.push_back({Invariant::DefinedBeforeUse,
                       fmt::format("{} is used but {}", to_string(name),
                                   definition == nullptr ? "defined nowhere" : "defined below only"),
                       instruction.line});
    });
  }
}

void check_branches(const Program& program, std::vector<Violation>& found) {
  if (program.regions.empty()) return;  // the pass was dumped without them
  std::unordered_map<uint32_t, InstructionIndex> starts;
  for (const Region& region : program.regions) starts.emplace(region.number, region.first);
  for (const Instruction& instruction : program.instructions) {
    if (!instruction.target) continue;
    const auto start = starts.find(*instruction.target);
    // Bundles do not say where an empty region at the program's end starts.
    if (start == starts.end() && program.bundles.empty()) {
      found.push_back(
          {Invariant::BranchTarget, fmt::format("there is no region {}", *instruction.target), instruction.line});
    }
  }
}

std::vector<Violation> check_invariants(const Program& program, const Generation& generation) {
  std::vector<Violation> found;
  check_values(program, found);
  check_branches(program, found);
  check_allocations(program, found);
  check_dma(program, generation, found);
  check_bundles(program, generation, found);
  return found;
}

}  // namespace sapper::llo
