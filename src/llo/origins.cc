#include "llo/origins.h"

#include <algorithm>

#include "llo/tiling.h"

namespace sapper::llo {
namespace {

constexpr int kAllLanes = kLanes;

bool is_register(Bank bank) { return bank == Bank::Vector || bank == Bank::Mask; }

bool makes_register(const Step& step) { return step.result != kNoSlot && is_register(step.bank); }

int register_operands(const Step& step) {
  return static_cast<int>(
      std::count_if(step.operand_bank.begin(), step.operand_bank.begin() + step.operand_count, is_register));
}

// Lanes from the first on that `mask` takes whole bytes of; `first`: the first that it takes anything of.
struct MaskedLanes {
  int whole = 0;
  int first = kAllLanes;
};
MaskedLanes masked_lanes(const Vreg& mask, int sublane, int byte) {
  const auto bits = [&](int lane) { return mask.word[sublane * kLanes + lane] >> 8 * byte & 0xff; };
  MaskedLanes lanes;
  while (lanes.whole < kAllLanes && bits(lanes.whole) == 0xff) ++lanes.whole;
  lanes.first = 0;
  while (lanes.first < kAllLanes && bits(lanes.first) == 0) ++lanes.first;
  return lanes;
}

}  // namespace

// --- where arrays lie

void Origins::begin(std::span<const PlacedArray> arrays) {
  operands_.clear();
  results_.clear();
  cores_.clear();
  moves_.clear();
  hbm_.clear();
  first_core_ = nullptr;
  for (const PlacedArray& array : arrays)
    if (Result<Placed> place = placed(array)) (array.result ? results_ : operands_).push_back(std::move(*place));
}

Result<Origins::Placed> Origins::placed(const PlacedArray& array) {
  SAPPER_TRY(const ElementRuns runs, element_runs(array.shape));
  const int64_t elements = array.shape.element_count();
  const RunId padding = id_of({elements, -1, 1, 0});
  Placed place{array.space, array.first_word, {}};
  place.rows.resize(runs.runs.size() / static_cast<size_t>(runs.per_word));
  for (size_t i = 0; i < runs.runs.size(); ++i) {
    const ElementRun& run = runs.runs[i];
    const RunId id = run.count < 0    ? kUnknownRun
                     : run.count == 0 ? padding
                                      : id_of({elements, run.base, run.count == 1 ? 1 : runs.stride, run.count});
    const int bytes = kSublaneBytes / runs.per_word;
    const int first = static_cast<int>(i % static_cast<size_t>(runs.per_word)) * bytes;
    std::fill_n(place.rows[i / static_cast<size_t>(runs.per_word)].begin() + first, bytes, id);
  }
  return place;
}

RunId Origins::id_of(const Run& run) {
  const auto [place, fresh] =
      run_ids_.try_emplace({run.elements, run.base, run.stride, run.count}, static_cast<RunId>(runs_.size()));
  if (fresh) runs_.push_back(run);
  return place->second;
}

Origins::Core& Origins::core_of(const Machine& machine) {
  const auto [place, fresh] = cores_.try_emplace(&machine);
  if (!fresh) return place->second;
  if (first_core_ == nullptr) first_core_ = &machine;
  place->second.registers.resize(machine.code().vector_slots);
  for (const Placed& operand : operands_) {
    Rows* const rows = rows_of(machine, operand.space);
    const bool done = operand.space == Space::Hbm && first_core_ != &machine;  // it is one for all
    if (rows == nullptr || done || operand.first_word % kRowWords != 0) continue;
    const size_t first = operand.first_word / kRowWords;
    if (rows->size() < first + operand.rows.size()) rows->resize(first + operand.rows.size());
    for (size_t i = 0; i < operand.rows.size(); ++i) {
      RowOrigin& row = (*rows)[first + i];
      row = {.runs = operand.rows[i]};
      row.lanes.fill(kAllLanes);
    }
  }
  return place->second;
}

Origins::Rows* Origins::rows_of(const Machine& machine, Space space) {
  switch (space) {
    case Space::Hbm: return &hbm_;
    case Space::Vmem: return &core_of(machine).vmem;
    case Space::Cmem: return &core_of(machine).cmem;
    default: return nullptr;
  }
}

// --- following

void Origins::follow(const Step& step, Machine& machine) {
  Core& core = core_of(machine);
  if (step.kind == StepKind::Copy) {
    if (is_register(step.bank)) core.registers[step.result] = core.registers[step.operand[0]];
    return;
  }
  if (step.kind != StepKind::Instruction) return;
  if (step.info->unit == Unit::Dma) return follow_dma(step, machine);
  if (machine.rows()) return makes_register(step) ? load(step, machine, core) : store(step, machine, core);
  for (const Machine::Written& written : machine.written()) forget(machine, written.space, written.word, written.count);
  const bool pops = step.info->name.starts_with("vpop");
  if (makes_register(step)) {
    core.registers[step.result] = pops ? popped(step, machine, core) : made(step, machine, core);
  } else if (register_operands(step) > 0 && !pops) {
    int64_t& largest = core.largest[step.info->unit];
    largest = std::max(largest, largest_operand(step, core));
    for (const Machine::QueueName& queue : machine.pushed())
      core.queues[queue].emplace_back(step.result, made(step, machine, core));
  }
}

Origins::RegisterOrigin Origins::made(const Step& step, const Machine& machine, Core& core) {
  if (const auto* const lanewise = std::get_if<Lanewise>(&step.info->meaning))
    return joined(step, core, lanewise->bits);
  if (const auto* const movement = std::get_if<Movement>(&step.info->meaning))
    return moved(step, machine, core, movement->move);
  const auto* const action = std::get_if<Action>(&step.info->meaning);
  if (action != nullptr && action->lane_bits != 0) return joined(step, core, action->lane_bits);
  if (action != nullptr && action->moves != nullptr) return moved(step, machine, core, action->moves);
  return mixed(step, core);
}

// The queue that the machine took something from: ours has more in it.
Origins::RegisterOrigin Origins::popped(const Step& step, const Machine& machine, Core& core) {
  for (auto& [name, queue] : core.queues) {
    const std::deque<Queued>* const real = machine.find_queue(name);
    if (real == nullptr || real->size() >= queue.size()) continue;
    auto next = queue.begin();
    if (machine.code().program->form == Form::Ssa)
      for (int k = 0; k < step.operand_count; ++k)
        if (step.operand_bank[k] == Bank::Token)
          next = std::ranges::find(queue, step.operand[k], &std::pair<Slot, RegisterOrigin>::first);
    if (next == queue.end()) break;
    const RegisterOrigin origin = next->second;
    queue.erase(next);
    return origin;
  }
  return mixed(step, core);
}

int64_t Origins::largest_operand(const Step& step, const Core& core) const {
  int64_t largest = 0;
  for (int k = 0; k < step.operand_count; ++k)
    if (is_register(step.operand_bank[k]))
      for (const RunId run : core.registers[step.operand[k]].runs) largest = std::max(largest, runs_[run].elements);
  return largest;
}

// Vector instructions make constants of constants; what other units are asked for was given to them before.
Origins::RegisterOrigin Origins::mixed(const Step& step, Core& core) {
  int64_t largest = largest_operand(step, core);
  const Unit unit = step.info->unit;
  if (unit == Unit::CrossLane || unit == Unit::Matrix) largest = std::max(largest, core.largest[unit]);
  const bool from_elsewhere = unit == Unit::Load || step.info->name.starts_with("vpop.ccrf");
  RegisterOrigin result;
  result.runs.fill(from_elsewhere ? kUnknownRun : largest == 0 ? kNoRun : scattered(largest));
  return result;
}

// What is computed of a large array and of a small one is an element of the large one: the small one is broadcast.
RunId Origins::join(RunId a, RunId b) {
  if (a == b || b == kNoRun) return a;
  if (a == kNoRun) return b;
  const int64_t first = runs_[a].elements;
  const int64_t second = runs_[b].elements;
  if (first != second) return first > second ? a : b;
  return runs_[a].is_scattered() ? a : runs_[b].is_scattered() ? b : scattered(first);
}

Origins::RegisterOrigin Origins::joined(const Step& step, const Core& core, int lane_bits) {
  RegisterOrigin result;
  for (int k = 0; k < step.operand_count; ++k) {
    if (!is_register(step.operand_bank[k])) continue;
    const Runs& operand = core.registers[step.operand[k]].runs;
    for (size_t i = 0; i < kRegisterBytes; ++i) result.runs[i] = join(result.runs[i], operand[i]);
  }
  const auto width = static_cast<size_t>(lane_bits / 8);
  for (size_t first = 0; first < kRegisterBytes && width > 1; first += width) {
    RunId all = result.runs[first];
    for (size_t i = first + 1; i < first + width; ++i) all = join(all, result.runs[i]);
    std::fill_n(result.runs.begin() + static_cast<ptrdiff_t>(first), width, all);
  }
  return result;
}

Origins::RegisterOrigin Origins::moved(const Step& step, const Machine& machine, const Core& core, MoveFunction move) {
  std::array<uint32_t, kMaxOperands> scalars{};
  std::array<const RegisterOrigin*, kMaxOperands> operands{};
  size_t count = 0;
  for (size_t k = 0; k < step.operand_count; ++k) {
    if (step.operand_bank[k] == Bank::Scalar) scalars[k] = machine.scalar(step.operand[k]);
    if (is_register(step.operand_bank[k])) operands[count++] = &core.registers[step.operand[k]];
  }
  const auto [known, fresh] = moves_.try_emplace(&step);
  if (fresh || known->second.scalars != scalars)
    known->second = {scalars, sublane_moves(machine, step, move, static_cast<int>(count))};
  const int64_t largest = largest_operand(step, core);
  const RunId elsewhere = largest == 0 ? kNoRun : scattered(largest);
  RegisterOrigin result;
  for (size_t i = 0; i < kRegisterBytes; ++i) {
    const SublaneMoves::Byte& byte = known->second.moves.bytes[i];
    if (byte.from == SublaneMoves::From::Elsewhere) result.runs[i] = elsewhere;
    if (byte.from != SublaneMoves::From::Operand) continue;
    result.runs[i] = operands[byte.operand]->runs[byte.byte];
    result.marks[i] = operands[byte.operand]->marks[byte.byte];
  }
  return result;
}

// --- memory

void Origins::forget(const Machine& machine, Space space, uint64_t word, uint64_t count) {
  Rows* const rows = rows_of(machine, space);
  if (rows == nullptr || count == 0) return;
  for (uint64_t row = word / kRowWords; row <= (word + count - 1) / kRowWords && row < rows->size(); ++row)
    (*rows)[row] = {};
}

void Origins::load(const Step& step, const Machine& machine, Core& core) {
  const Machine::Rows& from = *machine.rows();
  const Rows* const rows = rows_of(machine, from.space);
  RegisterOrigin& result = core.registers[step.result];
  result = {};
  static const RowOrigin unknown;
  for (size_t sublane = 0; sublane < kSublanes; ++sublane) {
    if ((from.sublanes >> sublane & 1) == 0) continue;
    const uint64_t at = from.word[sublane] / kRowWords;
    const RowOrigin& row =
        rows == nullptr || at >= rows->size() || from.word[sublane] % kRowWords != 0 ? unknown : (*rows)[at];
    for (size_t b = 0; b < kSublaneBytes; ++b) {
      const size_t to = sublane * kSublaneBytes + b;
      result.runs[to] = row.lanes[b] < runs_[row.runs[b]].count ? kUnknownRun : row.runs[b];
      result.marks[to] = row.lanes[b] < kAllLanes ? 0 : row.marks[b];
    }
  }
}

void Origins::store(const Step& step, const Machine& machine, const Core& core) {
  const Machine::Rows& to = *machine.rows();
  Rows* const rows = rows_of(machine, to.space);
  if (rows == nullptr || step.operand_count == 0) return;
  const bool masked = step.operand_bank[0] == Bank::Mask && register_operands(step) == 2;
  const RegisterOrigin& value = core.registers[step.operand[masked ? 1 : 0]];
  for (size_t sublane = 0; sublane < kSublanes; ++sublane) {
    if ((to.sublanes >> sublane & 1) == 0) continue;
    const uint64_t at = to.word[sublane] / kRowWords;
    if (at >= rows->size()) rows->resize(at + 1);
    RowOrigin& row = (*rows)[at];
    for (size_t b = 0; b < kSublaneBytes; ++b) {
      MaskedLanes lanes{.whole = kAllLanes, .first = 0};
      if (masked) lanes = masked_lanes(machine.vector(step.operand[0]), static_cast<int>(sublane), static_cast<int>(b));
      if (lanes.whole == 0) {
        row.lanes[b] = std::min<uint8_t>(row.lanes[b], static_cast<uint8_t>(lanes.first));
        continue;
      }
      row.runs[b] = value.runs[sublane * kSublaneBytes + b];
      row.marks[b] = value.marks[sublane * kSublaneBytes + b];
      row.lanes[b] = static_cast<uint8_t>(lanes.whole);
    }
  }
}

void Origins::follow_dma(const Step& step, Machine& machine) {
  if (machine.written().empty() || machine.flights().empty()) return;
  const Machine::Flight& flight = machine.flights().back();
  // The high half of the flags names one of the other core, which gets the same.
  const bool to_both = step.operand_count > 3 && (machine.scalar(step.operand[3]) >> 16 & 0x1fff) != 0;
  for (const Machine* receiver : {&machine, to_both ? machine.other_core() : nullptr}) {
    if (receiver == nullptr) continue;
    for (size_t k = 0; k < flight.destination.size(); ++k) {
      const Machine::Stretch& written = flight.destination[k];
      if (k < flight.source.size()) {
        copy_rows(machine, flight.source[k], *receiver, written);
        continue;
      }
      // Where it reads is undefined.
      for (uint64_t chunk = 0; chunk < written.count; ++chunk)
        forget(*receiver, written.space, written.first + chunk * written.stride, written.length);
    }
  }
}

void Origins::copy_rows(const Machine& from, const Machine::Stretch& source, const Machine& to,
                        const Machine::Stretch& destination) {
  const Rows* const sources = rows_of(from, source.space);
  Rows* const targets = rows_of(to, destination.space);
  if (targets == nullptr) return;
  for (uint64_t chunk = 0; chunk < destination.count; ++chunk) {
    const uint64_t from_word = source.first + chunk * source.stride;
    const uint64_t to_word = destination.first + chunk * destination.stride;
    if (sources == nullptr || from_word % kRowWords != 0 || to_word % kRowWords != 0) {
      forget(to, destination.space, to_word, destination.length);
      continue;
    }
    const uint64_t last = (to_word + destination.length + kRowWords - 1) / kRowWords;
    if (targets->size() < last) targets->resize(last);
    for (uint64_t done = 0; done < destination.length; done += kRowWords) {
      const uint64_t row = (from_word + done) / kRowWords;
      RowOrigin moved = row < sources->size() ? (*sources)[row] : RowOrigin{};
      const uint64_t lanes = std::min<uint64_t>(destination.length - done, kAllLanes);
      for (uint8_t& known : moved.lanes) known = static_cast<uint8_t>(std::min<uint64_t>(known, lanes));
      (*targets)[(to_word + done) / kRowWords] = moved;
    }
  }
}

// --- what is asked

const Runs& Origins::of(const Step& step, const Machine& machine) {
  return core_of(machine).registers[step.result].runs;
}

void Origins::mark(const Step& step, const Machine& machine, uint32_t number) {
  RegisterOrigin& origin = core_of(machine).registers[step.result];
  for (uint32_t i = 0; i < kRegisterBytes; ++i) origin.marks[i] = number * kRegisterBytes + i + 1;
}

std::unordered_map<uint32_t, Runs> Origins::results() const {
  std::unordered_map<uint32_t, Runs> found;
  if (first_core_ == nullptr) return found;
  for (const Placed& result : results_) {
    const Core& core = cores_.at(first_core_);
    const Rows& rows = result.space == Space::Hbm ? hbm_ : result.space == Space::Cmem ? core.cmem : core.vmem;
    const size_t first = result.first_word / kRowWords;
    for (size_t i = 0; i < result.rows.size() && first + i < rows.size(); ++i) {
      const RowOrigin& row = rows[first + i];
      for (size_t b = 0; b < kSublaneBytes; ++b) {
        const RunId run = result.rows[i][b];
        if (row.marks[b] == 0 || row.lanes[b] < runs_[run].count) continue;
        RunId& of_byte = found[(row.marks[b] - 1) / kRegisterBytes][(row.marks[b] - 1) % kRegisterBytes];
        of_byte = of_byte == kNoRun || of_byte == run ? run : kUnknownRun;
      }
    }
  }
  return found;
}

}  // namespace sapper::llo
