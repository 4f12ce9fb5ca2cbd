#include "llo/machine.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/assert.h"
#include "base/stopwatch.h"
#include "llo/subnormals.h"

namespace sapper::llo {

namespace {

constexpr size_t kMostFindings = 100;
constexpr uint64_t kStepsBetweenLooksAtTheClock = 1 << 14;

// A lane of `bits` bits is undefined where any bit of it is.
uint32_t spread(uint32_t undefined, int bits) {
  if (bits == 32) return undefined != 0 ? ~uint32_t{0} : 0;
  const uint32_t lane = (uint32_t{1} << bits) - 1;
  uint32_t all = 0;
  for (int at = 0; at < 32; at += bits)
    if ((undefined >> at & lane) != 0) all |= lane << at;
  return all;
}

}  // namespace

const char* to_string(FindingKind kind) {
  switch (kind) {
    case FindingKind::UndefinedOutput: return "undefined-output";
    case FindingKind::UndefinedControl: return "undefined-control";
    case FindingKind::OutOfBounds: return "out-of-bounds";
    case FindingKind::Misaligned: return "misaligned";
    case FindingKind::Race: return "race";
    case FindingKind::Deadlock: return "deadlock";
    case FindingKind::UnbalancedSync: return "unbalanced-sync";
    case FindingKind::EmptyQueue: return "empty-queue";
    case FindingKind::Halt: return "halt";
    case FindingKind::BrokenInvariant: return "broken-invariant";
  }
  SAPPER_ASSERT(false);
}

Machine::Machine(MachineOptions options) : options_(std::move(options)) {
  memories_.push_back(std::make_shared<Memory>(Space::Hbm, options_.generation.hbm_unit_bytes / 4));
  memories_.push_back(std::make_shared<Memory>(Space::Vmem, kRowWords));
  memories_.push_back(std::make_shared<Memory>(Space::Smem, 1));
  memories_.push_back(std::make_shared<Memory>(Space::Sflag, 1));
  memories_.push_back(std::make_shared<Memory>(Space::Cmem, kRowWords));
  memories_.push_back(std::make_shared<Memory>(Space::Host, 1));
  memories_.push_back(std::make_shared<Memory>(Space::SparseCore, 1));
}

Status Machine::load(const Code& code, const Program* declarations) {
  code_ = &code;
  next_ = 0;
  stopped_ = false;
  scalars_.assign(code.scalar_slots, 0);
  scalars_undefined_.assign(code.scalar_slots, ~uint32_t{0});
  predicates_.assign(code.predicate_slots, 0);
  predicates_undefined_.assign(code.predicate_slots, 1);
  vectors_.resize(code.vector_slots);
  vectors_undefined_.assign(code.vector_slots, Vreg{});
  for (Vreg& bits : vectors_undefined_) std::fill_n(bits.word, kVregWords, ~uint32_t{0});
  vectors_clean_.assign(code.vector_slots, 0);

  for (const auto& [slot, bits] : code.scalar_constants) set_scalar(slot, bits);
  for (const auto& [slot, bits] : code.vector_constants) std::fill_n(write_vector(slot).word, kVregWords, bits);
  for (const auto& [slot, bits] : code.predicate_constants) set_predicate(slot, bits != 0);

  for (const auto& [slot, name, offset] : code.addresses) {
    SAPPER_TRY(const uint32_t address, give_place(name, declarations));
    set_scalar(slot, address + offset);
  }
  for (const auto& [slot, name, offset] : code.vector_addresses) {
    SAPPER_TRY(const uint32_t address, give_place(name, declarations));
    std::fill_n(write_vector(slot).word, kVregWords, address + offset);
  }
  return {};
}

Result<uint32_t> Machine::give_place(const AllocationName& name, const Program* declarations) {
  if (const Place* known = place_of(name)) return known->address;
  for (const Program* program : {code_->program, declarations}) {
    if (program == nullptr) continue;
    for (const Allocation& allocation : program->allocations) {
      if (!(allocation.name == name)) continue;
      if (!allocation.size) return fail(ErrorKind::Unsupported, "the size of #allocation{} is not stated", name.number);
      std::optional<uint32_t> at;
      Memory& target = memory(allocation.space);
      if (allocation.fixed && allocation.offset)
        at = static_cast<uint32_t>(*allocation.offset / (target.unit_words() * sizeof(uint32_t)));
      const uint32_t address =
          target.allocate(*allocation.size, fmt::format("#allocation{} ({})", name.number, allocation.tag), at);
      places_[{name.number, name.spill}] = {allocation.space, address};
      return address;
    }
  }
  return give_undeclared_place(name);
}

// Where `name` is only chosen between it and another allocation (scalar_select), it stands in for that one in steps
// that take no effect: the space of the other.
std::optional<Space> Machine::space_of_alternative(const AllocationName& name) const {
  for (const Instruction& instruction : code_->program->instructions) {
    if (instruction.opcode != "scalar_select") continue;
    const auto is_name = [&](const Operand& operand) {
      const auto* const named = std::get_if<AllocationName>(&operand.value);
      return named != nullptr && *named == name;
    };
    if (std::ranges::none_of(instruction.operands, is_name)) continue;
    for (const Operand& operand : instruction.operands)
      if (const auto* const other = std::get_if<AllocationName>(&operand.value))
        if (const Place* const place = place_of(*other)) return place->space;
  }
  return std::nullopt;
}

// What late passes allocate is declared nowhere: spill areas, DMA descriptors, places of the system. It is as large as
// the offsets that the program uses, in the space it uses.
Result<uint32_t> Machine::give_undeclared_place(const AllocationName& name) {
  std::optional<Space> space;
  uint64_t units = 1;
  for (const Instruction& instruction : code_->program->instructions)
    for (const Operand& operand : instruction.operands) {
      const auto* access = std::get_if<MemoryOperand>(&operand.value);
      if (access == nullptr) continue;
      const auto* base = std::get_if<AllocationName>(&access->base);
      if (base == nullptr || !(*base == name)) continue;
      space = access->space;
      if (!access->offset) continue;
      if (const auto* offset = std::get_if<Immediate>(&*access->offset))
        units = std::max<uint64_t>(units, uint64_t{offset->bits} + 1);
    }
  if (!space) space = space_of_alternative(name);
  const std::string title = fmt::format("#allocation{}{}", name.number, name.spill ? "_spill" : "");
  if (!space)
    return fail(ErrorKind::Unsupported, "{} is not declared, and its size does not show in {}", title,
                code_->program->file);
  Memory& target = memory(*space);
  const uint64_t words = target.unit_words() == 1 ? units : (units + kSublanes) * target.unit_words();
  const uint32_t address = target.allocate(words * sizeof(uint32_t), title);
  places_[{name.number, name.spill}] = {*space, address};
  return address;
}

const Machine::Place* Machine::place_of(const AllocationName& name) const {
  const auto place = places_.find({name.number, name.spill});
  return place == places_.end() ? nullptr : &place->second;
}

void Machine::join(Machine& other) {
  other_core_ = &other;
  other.other_core_ = this;
  other.number_ = number_ + 1;
  other.memories_[static_cast<size_t>(Space::Hbm)] = memories_[static_cast<size_t>(Space::Hbm)];
}

Machine* Machine::core_named(uint32_t field) {
  if (field == 0 || field == 2 + number_) return this;
  return other_core_ != nullptr && field == 2 + other_core_->number_ ? other_core_ : nullptr;
}

std::optional<uint32_t> Machine::bound_operand(int index) const {
  const auto place = bound_operands_.find(index);
  return place == bound_operands_.end() ? std::nullopt : std::optional<uint32_t>(place->second);
}

const Instruction& Machine::instruction(const Step& step) const {
  SAPPER_ASSERT(step.source < code_->program->instructions.size());
  return code_->program->instructions[step.source];
}

// --- running

Status Machine::run() {
  const FlushSubnormals subnormals(options_.flush_subnormals);
  const Stopwatch stopwatch;
  uint64_t next_look = steps_run_ + kStepsBetweenLooksAtTheClock;
  waiting_ = false;
  for (;;) {
    const Step& at = code_->steps[next_];
    if (at.kind == StepKind::Halt || stopped_) break;
    ++next_;
    ++steps_run_;
    if (at.guard != kNoSlot && at.kind != StepKind::Latch) {
      if (predicates_undefined_[at.guard] != 0)
        report(at, FindingKind::UndefinedControl, "whether this happens depends on undefined data");
      if ((predicates_[at.guard] != 0) == at.guard_negated) continue;
    }
    written_.clear();
    rows_.reset();
    pushed_.clear();
    if (!options_.substitute || !options_.substitute(at, *this)) step(at);
    if (options_.observer) options_.observer(at, *this);
    if (error_) return tl::unexpected<Error>(*error_);
    if (waiting_) {
      --next_;
      --steps_run_;
      return {};
    }
    vector_steps_run_ += at.on_vectors ? 1 : 0;
    if (steps_run_ < next_look) continue;
    next_look += kStepsBetweenLooksAtTheClock;
    if (options_.step_limit != 0 && steps_run_ > options_.step_limit)
      return fail(ErrorKind::Resource, "the kernel was stopped after {} instructions", steps_run_);
    if (options_.time_limit_seconds > 0 && stopwatch.seconds() > options_.time_limit_seconds)
      return fail(ErrorKind::Resource, "the kernel was stopped after {} s and {} instructions",
                  options_.time_limit_seconds, steps_run_);
  }
  return {};
}

void Machine::step(const Step& step) {
  switch (step.kind) {
    case StepKind::Instruction:
      if (const auto* lanewise = std::get_if<Lanewise>(&step.info->meaning)) {
        compute_lanewise(step, *lanewise);
      } else if (const auto* action = std::get_if<Action>(&step.info->meaning)) {
        action->act(*this, step);
      } else if (const auto* movement = std::get_if<Movement>(&step.info->meaning)) {
        apply_movement(step, movement->move);
      }
      return;
    case StepKind::Copy: copy(step); return;
    case StepKind::Latch: {
      const bool always = step.guard == kNoSlot;
      if (!always && predicates_undefined_[step.guard] != 0)
        report(step, FindingKind::UndefinedControl, "where this branch goes depends on undefined data");
      set_predicate(step.result, always || (predicates_[step.guard] != 0) != step.guard_negated);
      return;
    }
    case StepKind::BranchLatched:
      if (predicates_[step.operand[0]] != 0) {
        predicates_[step.operand[0]] = 0;
        next_ = step.target;
      }
      return;
    case StepKind::Branch: next_ = step.target; return;
    case StepKind::Halt: stopped_ = true; return;
  }
}

void Machine::copy(const Step& step) {
  const Slot from = step.operand[0];
  switch (step.bank) {
    case Bank::Scalar: set_scalar(step.result, scalars_[from], scalars_undefined_[from]); return;
    case Bank::Predicate: set_predicate(step.result, predicates_[from] != 0, predicates_undefined_[from] != 0); return;
    case Bank::Vector:
    case Bank::Mask:
      vectors_[step.result] = vectors_[from];
      if (vectors_clean_[from] == 0) vectors_undefined_[step.result] = vectors_undefined_[from];
      vectors_clean_[step.result] = vectors_clean_[from];
      return;
    case Bank::Token: return;
  }
}

namespace {

// The vector operands of a step, in order.
struct VectorOperands {
  std::array<Slot, kMaxOperands> slot;
  int count = 0;
};

VectorOperands vector_operands(const Step& step) {
  VectorOperands found;
  for (int k = 0; k < step.operand_count; ++k)
    if (step.operand_bank[k] == Bank::Vector || step.operand_bank[k] == Bank::Mask)
      found.slot[found.count++] = step.operand[k];
  return found;
}

}  // namespace

void Machine::compute_lanewise(const Step& step, const Lanewise& lanewise) {
  const VectorOperands operands = vector_operands(step);
  std::array<const Vreg*, kMaxOperands> values{};
  bool clean = true;
  for (int k = 0; k < operands.count; ++k) {
    values[k] = &vectors_[operands.slot[k]];
    clean = clean && vectors_clean_[operands.slot[k]] != 0;
  }
  if (clean) {
    lanewise.compute(values.data(), write_vector(step.result));
    return;
  }
  Vreg undefined{};
  for (int k = 0; k < operands.count; ++k)
    if (const Vreg* bits = vector_undefined(operands.slot[k]))
      for (int i = 0; i < kVregWords; ++i) undefined.word[i] |= spread(bits->word[i], lanewise.bits);
  lanewise.compute(values.data(), write_vector(step.result));
  set_vector_undefined(step.result, undefined);
}

void Machine::apply_movement(const Step& step, MoveFunction move) {
  static const Vreg defined{};
  const VectorOperands operands = vector_operands(step);
  std::array<const Vreg*, kMaxOperands> values{};
  std::array<const Vreg*, kMaxOperands> undefined{};
  bool clean = true;
  for (int k = 0; k < operands.count; ++k) {
    values[k] = &vectors_[operands.slot[k]];
    const Vreg* bits = vector_undefined(operands.slot[k]);
    clean = clean && bits == nullptr;
    undefined[k] = bits == nullptr ? &defined : bits;
  }
  Vreg result;
  move(*this, step, values.data(), result);
  if (clean) {
    write_vector(step.result) = result;
    return;
  }
  Vreg moved;
  move(*this, step, undefined.data(), moved);
  write_vector(step.result) = result;
  set_vector_undefined(step.result, moved);
}

// --- registers

void Machine::set_scalar(Slot slot, uint32_t value, uint32_t undefined) {
  scalars_[slot] = value;
  scalars_undefined_[slot] = undefined;
}

void Machine::set_predicate(Slot slot, bool value, bool undefined) {
  predicates_[slot] = value ? 1 : 0;
  predicates_undefined_[slot] = undefined ? 1 : 0;
}

void Machine::set_vector_undefined(Slot slot, const Vreg& bits) {
  uint32_t any = 0;
  for (const uint32_t word : bits.word) any |= word;
  vectors_clean_[slot] = any == 0 ? 1 : 0;
  if (any != 0) vectors_undefined_[slot] = bits;
}

uint32_t Machine::decisive(const Step& step, Slot slot, const char* what) {
  if (scalars_undefined_[slot] != 0)
    report(step, FindingKind::UndefinedControl, fmt::format("{} depends on undefined data", what));
  return scalars_[slot];
}

// --- findings

void Machine::report(const Step& step, FindingKind kind, std::string message) {
  if (findings_.size() >= kMostFindings) return;
  const auto same = [&](const Finding& finding) { return finding.kind == kind && finding.instruction == step.source; };
  if (std::any_of(findings_.begin(), findings_.end(), same)) return;
  findings_.push_back({kind, std::move(message), step.source});
}

void Machine::fail_with(Error error) {
  if (!error_) error_ = std::move(error);
}

// --- memory traffic

bool Machine::may_read(const Step& step, Space space, uint64_t word, uint64_t count) {
  if (!in_bounds(step, space, word, count)) return false;
  if (!flights_.empty()) note_flight(step, space, word, count, /*writing=*/false);
  return true;
}

bool Machine::may_write(const Step& step, Space space, uint64_t word, uint64_t count) {
  if (!in_bounds(step, space, word, count)) return false;
  if (!flights_.empty()) note_flight(step, space, word, count, /*writing=*/true);
  if (options_.observer) written_.push_back({space, word, count});
  return true;
}

void Machine::check_reach(const Step& step, Space space, uint64_t word, uint64_t count) {
  if (memory(space).piece_at(word, count) != nullptr) return;
  report(step, FindingKind::UndefinedControl,
         fmt::format("where this reads depends on undefined data, which lead to {} address {:#x}, out of bounds",
                     to_string(space), word / memory(space).unit_words()));
}

bool Machine::in_bounds(const Step& step, Space space, uint64_t word, uint64_t count) {
  const Memory& target = memory(space);
  if (target.piece_at(word, count) != nullptr) return true;
  const uint32_t unit = target.unit_words();
  const Memory::Piece* near = target.piece_below(word);
  report(step, FindingKind::OutOfBounds,
         near == nullptr
             ? fmt::format("{} address {:#x} lies before everything", to_string(space), word / unit)
             : fmt::format("{} address {:#x} is {:#x} from the start of {}, which has {:#x}", to_string(space),
                           word / unit, (word - near->first_word) / unit, near->name, (near->words + unit - 1) / unit));
  stop();
  return false;
}

namespace {

bool overlaps(const Machine::Stretch& stretch, uint64_t word, uint64_t count) {
  const uint64_t last = stretch.first + (stretch.count - 1) * stretch.stride + stretch.length;
  if (word + count <= stretch.first || word >= last) return false;
  if (stretch.stride == 0) return true;
  // The chunk that begins at or before the range's end is the only one that the range can reach last.
  const uint64_t k = std::min((word + count - 1 - stretch.first) / stretch.stride, stretch.count - 1);
  const uint64_t begin = stretch.first + k * stretch.stride;
  return begin + stretch.length > word;
}

}  // namespace

void Machine::note_flight(const Step& step, Space space, uint64_t word, uint64_t count, bool writing) {
  const auto touches = [&](const std::vector<Stretch>& stretches) {
    return std::any_of(stretches.begin(), stretches.end(), [&](const Stretch& stretch) {
      return stretch.space == space && overlaps(stretch, word, count);
    });
  };
  for (const Flight& flight : flights_) {
    const bool written = touches(flight.destination);
    // What one instruction starts goes out in that order: windows of results overlap (max pooling's gradient).
    if (written && writing && space == Space::Hbm && flight.instruction == step.source) continue;
    if (!written && !(writing && touches(flight.source))) continue;
    const Instruction& dma = code_->program->instructions[flight.instruction];
    report(step, FindingKind::Race,
           fmt::format("{} {} address {:#x}, which the DMA of line {} is still {}", writing ? "writes" : "reads",
                       to_string(space), word / memory(space).unit_words(), dma.line, written ? "writing" : "reading"));
    return;
  }
}

}  // namespace sapper::llo
