#include "llo/divergence.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <vector>

#include "llo/machine.h"
#include "numerics/compare.h"

namespace sapper::llo {

namespace {

// What one execution of an instruction did: its result, what it pushed to queues, what it wrote where in which piece of
// memory. Places are relative to pieces: stages lay them out differently.
struct Effect {
  Bank bank = Bank::Token;
  uint32_t scalar = 0, scalar_undefined = 0;
  std::vector<Queued> vectors;  // the result, when it is a vector or a mask
  struct Written {
    Space space = Space::Vmem;
    std::string piece;
    uint64_t offset = 0;
    std::vector<uint32_t> words, undefined;
  };
  std::vector<Written> written;
  struct Pushed {
    Machine::QueueName queue;
    Queued queued;
  };
  std::vector<Pushed> pushed;
};

Queued value_of(const Machine& machine, Slot slot) {
  Queued value;
  value.value = machine.vector(slot);
  if (const Vreg* undefined = machine.vector_undefined(slot)) value.undefined = *undefined;
  return value;
}

Effect effect_of(const Step& step, const Machine& machine) {
  Effect effect{.bank = step.bank};
  if (step.result != kNoSlot) {
    if (step.bank == Bank::Scalar) {
      effect.scalar = machine.scalar(step.result);
      effect.scalar_undefined = machine.scalar_undefined(step.result);
    } else if (step.bank == Bank::Predicate) {
      effect.scalar = machine.predicate(step.result) ? 1 : 0;
      effect.scalar_undefined = machine.predicate_undefined(step.result) ? 1 : 0;
    } else if (step.bank != Bank::Token) {
      effect.vectors.push_back(value_of(machine, step.result));
    }
  }
  for (const Machine::Written& written : machine.written()) {
    const Memory& memory = machine.memory(written.space);
    const Memory::Piece* piece = memory.piece_at(written.word, written.count);
    if (piece == nullptr) continue;
    Effect::Written copy{written.space, piece->name, written.word - piece->first_word, {}, {}};
    copy.words.assign(memory.words(written.word), memory.words(written.word) + written.count);
    copy.undefined.resize(written.count);
    memory.read_undefined(written.word, written.count, copy.undefined.data());
    effect.written.push_back(std::move(copy));
  }
  std::map<Machine::QueueName, size_t> left;  // of a queue's end: pushed by this step, not yet copied
  for (const Machine::QueueName& name : machine.pushed()) ++left[name];
  for (const Machine::QueueName& name : machine.pushed())
    if (const auto* queue = machine.find_queue(name); queue != nullptr && queue->size() >= left[name])
      effect.pushed.push_back({name, (*queue)[queue->size() - left[name]--]});
  return effect;
}

class Hash {
 public:
  void add(uint64_t value) {
    state_ = (state_ ^ value) * 0x9e3779b97f4a7c15U;
    state_ ^= state_ >> 29;
  }
  void add(const Queued& queued) {
    for (int i = 0; i < kVregWords; ++i)
      add(queued.undefined ? queued.value.word[i] & ~queued.undefined->word[i] : queued.value.word[i]);
  }
  [[nodiscard]] uint64_t value() const { return state_; }

 private:
  uint64_t state_ = 0x243f6a8885a308d3U;
};

// Of the defined bits.
uint64_t hash_of(const Effect& effect) {
  Hash hash;
  hash.add(effect.scalar & ~effect.scalar_undefined);
  for (const Queued& vector : effect.vectors) hash.add(vector);
  for (const Effect::Written& written : effect.written) {
    for (const char c : written.piece) hash.add(static_cast<unsigned char>(c));
    hash.add(written.offset);
    for (size_t i = 0; i < written.words.size(); ++i) hash.add(written.words[i] & ~written.undefined[i]);
  }
  for (const Effect::Pushed& pushed : effect.pushed) hash.add(pushed.queued);
  return hash.value();
}

void write(const Effect& effect, Machine& machine) {
  for (const Effect::Written& written : effect.written) {
    Memory& memory = machine.memory(written.space);
    const Memory::Piece* piece = memory.piece_named(written.piece);
    if (piece == nullptr || written.offset + written.words.size() > piece->words) continue;
    const uint64_t word = piece->first_word + written.offset;
    std::ranges::copy(written.words, memory.words(word));
    memory.write_undefined(word, written.words.size(), written.undefined.data());
  }
}

// Gives what `step` has just computed, or pushed to queues, the effect's values.
void correct(const Effect& effect, const Step& step, Machine& machine) {
  if (step.result != kNoSlot) {
    if (step.bank == Bank::Predicate)
      machine.set_predicate(step.result, effect.scalar != 0, effect.scalar_undefined != 0);
    if (!effect.vectors.empty()) {
      machine.write_vector(step.result) = effect.vectors[0].value;
      if (effect.vectors[0].undefined) machine.set_vector_undefined(step.result, *effect.vectors[0].undefined);
    }
  }
  std::map<Machine::QueueName, size_t> left;
  for (const Effect::Pushed& pushed : effect.pushed) ++left[pushed.queue];
  for (const Effect::Pushed& pushed : effect.pushed) {
    auto& queue = machine.queue(pushed.queue.first, pushed.queue.second);
    const size_t back = left[pushed.queue]--;
    if (back > queue.size()) continue;
    Queued& queued = queue[queue.size() - back];
    queued.value = pushed.queued.value;
    queued.undefined = pushed.queued.undefined;
  }
}

// Addresses differ from one stage to the next, as pieces of memory lie where they lie: scalars say nothing by
// themselves; what is stored through them does.
bool tells(const Step& step, const Machine& machine) {
  if (step.kind != StepKind::Instruction || step.source == UINT32_MAX) return false;
  if (!machine.written().empty() || !machine.pushed().empty()) return true;
  return step.result != kNoSlot && step.bank != Bank::Scalar && step.bank != Bank::Token;
}

// Numbers are given to instructions across all banks.
struct Trail {
  struct Entry {
    InstructionIndex instruction = 0;
    Unit unit = Unit::Pseudo;
    std::vector<uint64_t> effects;  // hashes, of each execution
    std::vector<uint64_t> steps;    // when
  };
  std::unordered_map<uint32_t, Entry> of;  // by the number of the value
  hlo::Literal output;
};

Result<KernelRun> run(const Program& program, const KernelCall& call, const MachineOptions& options) {
  return run_kernel(program, call.declarations, call.operands, call.operand_shapes, call.result, options);
}

Result<Trail> follow(const Program& program, const KernelCall& call) {
  Trail trail;
  MachineOptions options = call.options;
  options.observer = [&](const Step& step, const Machine& machine) {
    if (!tells(step, machine)) return;
    Trail::Entry& entry = trail.of[machine.instruction(step).result.number];
    entry.instruction = step.source;
    entry.unit = step.info->unit;
    entry.effects.push_back(hash_of(effect_of(step, machine)));
    entry.steps.push_back(machine.steps_run());
  };
  SAPPER_TRY(KernelRun done, run(program, call, options));
  trail.output = std::move(done.output);
  return trail;
}

struct Candidate {
  uint32_t number = 0;
  uint64_t step = 0;  // of the later program
  Divergence divergence;
  bool correctable = true;
};

// Instructions that differ, in the order in which the later program ran them.
std::vector<Candidate> candidates_of(const Trail& before, const Trail& after) {
  std::vector<Candidate> candidates;
  for (const auto& [number, entry] : after.of) {
    const auto same = before.of.find(number);
    if (same == before.of.end() || same->second.effects.size() != entry.effects.size()) continue;
    for (size_t k = 0; k < entry.effects.size(); ++k) {
      if (entry.effects[k] == same->second.effects[k]) continue;
      candidates.push_back({number,
                            entry.steps[k],
                            {same->second.instruction, entry.instruction, k},
                            entry.unit != Unit::Dma && entry.unit != Unit::Sync});
      break;
    }
  }
  std::ranges::sort(candidates, {}, &Candidate::step);
  return candidates;
}

using Effects = std::unordered_map<uint32_t, std::vector<Effect>>;  // of each execution

// More than this is not kept: the instructions beyond are not corrected.
constexpr size_t kMostEffects = 20000;

Result<Effects> effects_of(const Program& program, const KernelCall& call, const std::vector<Candidate>& candidates) {
  Effects effects;
  for (const Candidate& candidate : candidates)
    if (candidate.correctable) effects[candidate.number];
  size_t kept = 0;
  MachineOptions options = call.options;
  options.observer = [&](const Step& step, const Machine& machine) {
    if (!tells(step, machine) || kept >= kMostEffects) return;
    const auto place = effects.find(machine.instruction(step).result.number);
    if (place == effects.end()) return;
    place->second.push_back(effect_of(step, machine));
    ++kept;
  };
  SAPPER_TRY([[maybe_unused]] const KernelRun done, run(program, call, options));
  return effects;
}

// Whether the later program gives the right result when its first `count` candidates do what they did earlier.
Result<bool> repairs(const Program& later, const KernelCall& call, const std::vector<Candidate>& candidates,
                     size_t count, const Effects& effects, const hlo::Literal& right) {
  std::unordered_map<uint32_t, size_t> executions;  // so far, of the corrected ones
  for (size_t i = 0; i < count; ++i)
    if (candidates[i].correctable) executions[candidates[i].number] = 0;
  // What this execution of the step did earlier; null: it is not to be corrected.
  const auto next_effect = [&](const Step& step, const Machine& machine) -> const Effect* {
    if (step.kind != StepKind::Instruction || step.source == UINT32_MAX) return nullptr;
    const uint32_t number = machine.instruction(step).result.number;
    const auto place = executions.find(number);
    if (place == executions.end()) return nullptr;
    const std::vector<Effect>& known = effects.at(number);
    return place->second < known.size() ? &known[place->second] : nullptr;
  };
  const auto advance = [&](const Step& step, const Machine& machine) {
    ++executions.at(machine.instruction(step).result.number);
  };
  MachineOptions options = call.options;
  // A store is done in the place of the step, which might write where nothing was written; all else is set right after.
  options.substitute = [&](const Step& step, Machine& machine) {
    const Effect* effect = next_effect(step, machine);
    if (effect == nullptr || effect->written.empty()) return false;
    write(*effect, machine);
    advance(step, machine);
    return true;
  };
  options.observer = [&](const Step& step, Machine& machine) {
    const Effect* effect = next_effect(step, machine);
    if (effect == nullptr || !effect->written.empty()) return;
    correct(*effect, step, machine);
    advance(step, machine);
  };
  SAPPER_TRY(const KernelRun done, run(later, call, options));
  return numerics::same_bits(done.output, right, numerics::Alike::FlushedSubnormals);
}

}  // namespace

Result<std::optional<Divergence>> first_divergence(const Program& earlier, const Program& later,
                                                   const KernelCall& call) {
  SAPPER_TRY(const Trail before, follow(earlier, call));
  SAPPER_TRY(const Trail after, follow(later, call));
  const std::vector<Candidate> candidates = candidates_of(before, after);
  if (candidates.empty()) return std::nullopt;
  SAPPER_TRY(const Effects effects, effects_of(earlier, call, candidates));
  const auto repaired_by = [&](size_t count) {
    return repairs(later, call, candidates, count, effects, before.output);
  };
  const Result<bool> by_all = repaired_by(candidates.size());
  if (!by_all || !*by_all) return candidates.front().divergence;
  size_t too_few = 0;
  size_t enough = candidates.size();
  while (too_few + 1 < enough) {
    const size_t middle = too_few + (enough - too_few) / 2;
    const Result<bool> repaired = repaired_by(middle);
    (repaired && *repaired ? enough : too_few) = middle;
  }
  return candidates[enough - 1].divergence;
}

}  // namespace sapper::llo
