#include "llo/divergence.h"

#include <unordered_map>
#include <vector>

#include "llo/machine.h"

namespace sapper::llo {

namespace {

class Hash {
 public:
  void add(uint64_t value) {
    state_ = (state_ ^ value) * 0x9e3779b97f4a7c15U;
    state_ ^= state_ >> 29;
  }
  void add(std::string_view text) {
    for (const char c : text) add(static_cast<unsigned char>(c));
  }
  [[nodiscard]] uint64_t value() const { return state_; }

 private:
  uint64_t state_ = 0x243f6a8885a308d3U;
};

// What a step did: the defined bits of its result, and where in which piece of memory it wrote what.
uint64_t effect_of(const Step& step, const Machine& machine) {
  Hash hash;
  if (step.result != kNoSlot) {
    switch (step.bank) {
      case Bank::Scalar: hash.add(machine.scalar(step.result) & ~machine.scalar_undefined(step.result)); break;
      case Bank::Predicate: hash.add(machine.predicate(step.result) ? 1 : 0); break;
      case Bank::Vector:
      case Bank::Mask: {
        const Vreg& value = machine.vector(step.result);
        const Vreg* undefined = machine.vector_undefined(step.result);
        for (int i = 0; i < kVregWords; ++i)
          hash.add(undefined == nullptr ? value.word[i] : value.word[i] & ~undefined->word[i]);
        break;
      }
      case Bank::Token: break;
    }
  }
  for (const Machine::Written& written : machine.written()) {
    const Memory& memory = machine.memory(written.space);
    if (const Memory::Piece* piece = memory.piece_at(written.word, written.count)) {
      hash.add(piece->name);
      hash.add(written.word - piece->first_word);
    }
    for (uint64_t i = 0; i < written.count; ++i)
      hash.add(*memory.words(written.word + i) & ~memory.undefined(written.word + i));
  }
  return hash.value();
}

// Numbers are given to instructions across all banks.
struct Trail {
  struct Entry {
    InstructionIndex instruction = 0;
    std::vector<uint64_t> effects;
    std::vector<uint64_t> steps;  // when
  };
  std::unordered_map<uint32_t, Entry> of;  // by the number of the value
};

// Addresses differ from one stage to the next, as pieces of memory lie where they lie: scalars and what is loaded of
// them say nothing by themselves; what is stored through them does.
bool tells(const Step& step, const Machine& machine) {
  if (step.kind != StepKind::Instruction || step.source == UINT32_MAX) return false;
  if (!machine.written().empty()) return true;
  return step.result != kNoSlot &&
         (step.bank == Bank::Vector || step.bank == Bank::Mask || step.bank == Bank::Predicate);
}

Result<Trail> follow(const Program& program, const KernelCall& call) {
  Trail trail;
  MachineOptions options = call.options;
  options.observer = [&](const Step& step, const Machine& machine) {
    if (!tells(step, machine)) return;
    const Instruction& instruction = machine.instruction(step);
    Trail::Entry& entry = trail.of[instruction.result.number];
    entry.instruction = step.source;
    entry.effects.push_back(effect_of(step, machine));
    entry.steps.push_back(machine.steps_run());
  };
  SAPPER_TRY([[maybe_unused]] const KernelRun run,
             run_kernel(program, call.declarations, call.operands, call.operand_shapes, call.result, options));
  return trail;
}

}  // namespace

Result<std::optional<Divergence>> first_divergence(const Program& earlier, const Program& later,
                                                   const KernelCall& call) {
  SAPPER_TRY(const Trail before, follow(earlier, call));
  SAPPER_TRY(const Trail after, follow(later, call));
  std::optional<Divergence> first;
  uint64_t first_step = UINT64_MAX;
  for (const auto& [number, entry] : after.of) {
    const auto same = before.of.find(number);
    if (same == before.of.end() || same->second.effects.size() != entry.effects.size()) continue;
    for (size_t k = 0; k < entry.effects.size(); ++k) {
      if (entry.effects[k] == same->second.effects[k]) continue;
      if (entry.steps[k] < first_step) {
        first_step = entry.steps[k];
        first = Divergence{same->second.instruction, entry.instruction, k};
      }
      break;
    }
  }
  return first;
}

}  // namespace sapper::llo
