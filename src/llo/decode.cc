#include "llo/decode.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/assert.h"
#include "llo/bundle_order.h"
#include "llo/loops.h"
#include "llo/operand_signature.h"
#include "llo/slots.h"

namespace sapper::llo {

namespace {

struct Row {
  const OpcodeInfo* info = nullptr;
  OperandSignature signature;
  std::vector<uint32_t> choice;
  bool is_phi = false;
  bool is_branch = false;
  bool is_alias = false;   // its result is its first operand
  bool has_effect = true;  // a step is made of it
};

Row row_of(std::string_view opcode) {
  const OpcodeMatch match = find_opcode(opcode);
  Row row;
  if (match.info == nullptr) return row;
  row.info = match.info;
  row.signature = parse_signature(match.info->operands);
  row.choice = match.choice;
  row.is_phi = opcode.ends_with("phi");
  row.is_branch = opcode == "sbr.rel";
  row.has_effect = !std::holds_alternative<NoEffect>(match.info->meaning);
  row.is_alias = !row.is_phi && match.info->unit == Unit::Pseudo && !row.has_effect && row.signature.result != '-';
  return row;
}

char letter_of(Bank bank) {
  switch (bank) {
    case Bank::Scalar: return 's';
    case Bank::Vector: return 'v';
    case Bank::Mask: return 'm';
    case Bank::Predicate: return 'p';
    case Bank::Token: return 't';
  }
  SAPPER_ASSERT(false);
}

const char* name_of(char letter) {
  switch (letter) {
    case 's': return "a scalar";
    case 'v': return "a vector";
    case 'm': return "a mask";
    case 'p': return "a predicate";
    case 't': return "a token";
    case 'M': return "a memory operand";
    default: return "nothing";
  }
}

class Decoder {
 public:
  Decoder(const Program& program, const Generation& generation)
      : program_(program), generation_(generation), slots_(program, code_) {}

  Result<Code> run() {
    SAPPER_CHECKED(check_regions());
    SAPPER_CHECKED(find_rows());
    // Only values have lifetimes that a loop prolongs.
    const bool values = program_.form == Form::ValueBundles;
    SAPPER_TRY(loops_, find_loops(program_, values ? generation_.delay_slots : 0));
    resolve_aliases();
    assign_slots();
    SAPPER_CHECKED(program_.form == Form::Ssa ? emit_lines() : emit_bundles());
    place_label(static_cast<InstructionIndex>(program_.instructions.size()));
    code_.steps.push_back({.kind = StepKind::Halt});
    SAPPER_CHECKED(link());
    code_.program = &program_;
    slots_.finish();
    return std::move(code_);
  }

 private:
  using Instructions = std::vector<Instruction>;

  tl::unexpected<Error> error(ErrorKind kind, const Instruction& instruction, std::string message) const {
    return fail(Error{kind,
                      std::move(message),
                      {program_.file, static_cast<int>(instruction.line), 0, to_string(instruction.result)}});
  }

  // Some passes are dumped without their regions, so that no one knows where branches go.
  Status check_regions() const {
    if (!program_.regions.empty() || !program_.bundles.empty()) return {};
    for (const Instruction& instruction : program_.instructions)
      if (instruction.target)
        return error(ErrorKind::Unsupported, instruction,
                     "this pass was dumped without its regions: its branches have no targets");
    return {};
  }

  Status find_rows() {
    rows_.reserve(program_.instructions.size());
    for (const Instruction& instruction : program_.instructions) {
      auto [place, fresh] = known_.try_emplace(instruction.opcode);
      if (fresh) place->second = row_of(instruction.opcode);
      const Row& row = place->second;
      if (row.info == nullptr)
        return error(
            ErrorKind::Unsupported, instruction,
            fmt::format("opcode '{}' is not modelled (`sapper isa` lists those that are)", instruction.opcode));
      rows_.push_back(&row);
    }
    return {};
  }

  // Values that are only another name of a value: int_to_ptr, casts; phis outside of loops.
  void resolve_aliases() {
    for (InstructionIndex i = 0; i < program_.instructions.size(); ++i) {
      const Instruction& instruction = program_.instructions[i];
      const bool alias = rows_[i]->is_alias || (rows_[i]->is_phi && loop_of_phi(i) == nullptr);
      if (alias && !instruction.operands.empty() && instruction.result.physical < 0)
        slots_.alias(instruction.result, instruction.operands[0]);
    }
  }

  // The loop whose header `phi` stands in; null: none that is still a loop.
  [[nodiscard]] const Loop* loop_of_phi(InstructionIndex phi) const { return loops_.innermost(phi); }

  // Values get slots by their lifetimes, in the order of positions: lines, or bundles.
  void assign_slots() {
    for (InstructionIndex i = 0; i < program_.instructions.size(); ++i) {
      const Instruction& instruction = program_.instructions[i];
      if (rows_[i]->is_phi) {
        if (const Loop* loop = loop_of_phi(i); loop != nullptr && instruction.operands.size() == 2) {
          slots_.define(instruction.result, loop->first);
          slots_.use(instruction.operands[0], loop->first);
          slots_.use(instruction.operands[1], loop->last);
          continue;
        }
      }
      slots_.define(instruction.result, i);
      for (const Operand& operand : instruction.operands) slots_.use(operand, i);
      if (instruction.guard && std::holds_alternative<Register>(instruction.guard->condition))
        slots_.use(Operand{std::get<Register>(instruction.guard->condition), {}}, i);
    }
    slots_.assign(loops_);
  }

  // --- emission

  // Steps that come before instruction `i`: the label of the region that starts here, and the phis of a loop.
  void place_label(InstructionIndex i) {
    if (placed_ == i) return;
    placed_ = i;
    entry_label_[i] = static_cast<uint32_t>(code_.steps.size());
    if (const auto phis = phis_.find(i); phis != phis_.end()) emit_copies(phis->second, 0, nullptr);
    back_label_[i] = static_cast<uint32_t>(code_.steps.size());
  }

  void collect_phis() {
    for (InstructionIndex i = 0; i < program_.instructions.size(); ++i)
      if (rows_[i]->is_phi && program_.instructions[i].result.physical < 0)
        if (const Loop* loop = loop_of_phi(i)) phis_[loop->first].push_back(i);
  }

  // The parallel copies of a loop's phis: through temporaries, as one may read what another writes.
  void emit_copies(const std::vector<InstructionIndex>& phis, size_t operand, const Step* guard) {
    struct Copy {
      Bank bank;
      Slot from, to;
      InstructionIndex source;
    };
    std::vector<Copy> copies;
    for (const InstructionIndex i : phis) {
      const Instruction& phi = program_.instructions[i];
      const Bank bank = phi.result.bank;
      const Slot to = slots_.of(phi.result);
      const Slot from = slots_.of_operand(phi.operands[std::min(operand, phi.operands.size() - 1)], letter_of(bank));
      if (from != to) copies.push_back({bank, from, to, i});
    }
    const auto reads = [&](const Copy& copy, Slot slot, Bank bank) { return copy.from == slot && copy.bank == bank; };
    const bool conflict = std::any_of(copies.begin(), copies.end(), [&](const Copy& writer) {
      return std::any_of(copies.begin(), copies.end(),
                         [&](const Copy& reader) { return reads(reader, writer.to, writer.bank); });
    });
    const auto emit = [&](Bank bank, Slot from, Slot to, InstructionIndex source) {
      Step step = copy_step(bank, from, to, source);
      if (guard != nullptr) {
        step.guard = guard->guard;
        step.guard_negated = guard->guard_negated;
      }
      code_.steps.push_back(step);
    };
    if (conflict) {
      for (Copy& copy : copies) {
        const Slot temporary = slots_.temporary(copy.bank);
        emit(copy.bank, copy.from, temporary, copy.source);
        copy.from = temporary;
      }
    }
    for (const Copy& copy : copies) emit(copy.bank, copy.from, copy.to, copy.source);
  }

  Result<Slot> operand_slot(const Instruction& instruction, const Operand& operand, char letter) {
    if (const auto* name = std::get_if<Register>(&operand.value)) {
      if (letter != 'x' && letter_of(name->bank) != letter)
        return error(ErrorKind::Unsupported, instruction,
                     fmt::format("'{}' takes {} here, not {}", instruction.opcode, name_of(letter), to_string(*name)));
      if (!slots_.is_defined(*name))
        return error(ErrorKind::BadInput, instruction,
                     fmt::format("{} is used but nothing defines it", to_string(*name)));
    } else if (letter == 't') {
      return error(ErrorKind::Unsupported, instruction,
                   fmt::format("'{}' takes a token here, not an immediate", instruction.opcode));
    }
    return slots_.of_operand(operand, letter);
  }

  Result<uint32_t> access_of(const Instruction& instruction, const MemoryOperand& memory) {
    Access access{.space = memory.space, .subtract_offset = memory.subtract_offset};
    const auto slot = [&](const ScalarOperand& scalar) -> Result<Slot> {
      return operand_slot(
          instruction, Operand{std::visit([](const auto& v) { return decltype(Operand::value)(v); }, scalar), {}}, 's');
    };
    SAPPER_TRY(access.base, slot(memory.base));
    for (const auto& [part, place] :
         {std::pair{&memory.offset, &access.offset}, std::pair{&memory.sublane_stride, &access.sublane_stride},
          std::pair{&memory.sublanes_per_stride, &access.sublanes_per_stride},
          std::pair{&memory.sublane_mask, &access.sublane_mask}, std::pair{&memory.pattern, &access.pattern}})
      if (*part) {
        SAPPER_TRY(*place, slot(**part));
      }
    if (!memory.options.empty())
      return error(ErrorKind::Unsupported, instruction,
                   fmt::format("the memory option '{}' is not modelled", memory.options[0].first));
    code_.accesses.push_back(access);
    return static_cast<uint32_t>(code_.accesses.size() - 1);
  }

  // The step of instruction `i`.
  Result<Step> step_of(InstructionIndex i) {
    const Instruction& instruction = program_.instructions[i];
    const Row& row = *rows_[i];
    Step step{.kind = row.is_branch ? StepKind::Branch : StepKind::Instruction, .source = i, .info = row.info};
    if (instruction.guard) {
      step.guard_negated = instruction.guard->negated;
      if (const auto* name = std::get_if<Register>(&instruction.guard->condition)) {
        SAPPER_TRY(step.guard, operand_slot(instruction, Operand{*name, {}}, 'p'));
      } else {
        step.guard = slots_.predicate_constant(std::get<bool>(instruction.guard->condition));
      }
    }
    if (row.is_branch) {
      if (!instruction.target) return error(ErrorKind::BadInput, instruction, "a branch without a target");
      return step;
    }
    if (!row.signature.takes(instruction.operands.size()))
      return error(ErrorKind::Unsupported, instruction,
                   fmt::format("'{}' with {} operands is not modelled; it takes '{}'", instruction.opcode,
                               instruction.operands.size(), row.info->operands));
    step.bank = instruction.result.bank;
    if (row.signature.result != '-' && row.signature.result != 'x') {
      if (letter_of(step.bank) != row.signature.result)
        return error(ErrorKind::Unsupported, instruction,
                     fmt::format("'{}' gives {}, not {}", instruction.opcode, name_of(row.signature.result),
                                 to_string(instruction.result)));
      step.result = slots_.of(instruction.result);
    }
    for (size_t k = 0; k < row.choice.size() && k < kMaxChoices; ++k)
      step.choice[k] = static_cast<uint16_t>(row.choice[k]);
    for (size_t k = 0; k < instruction.operands.size(); ++k) {
      const Operand& operand = instruction.operands[k];
      const char letter = row.signature.operand(k)->bank;
      if (const auto* memory = std::get_if<MemoryOperand>(&operand.value)) {
        if (letter != 'M' && letter != 'x')
          return error(ErrorKind::Unsupported, instruction,
                       fmt::format("'{}' takes {} here, not a memory operand", instruction.opcode, name_of(letter)));
        SAPPER_TRY(step.access, access_of(instruction, *memory));
        continue;
      }
      if (letter == 'M')
        return error(ErrorKind::Unsupported, instruction,
                     fmt::format("'{}' takes a memory operand here", instruction.opcode));
      if (step.operand_count == kMaxOperands)
        return error(ErrorKind::Unsupported, instruction,
                     fmt::format("'{}' with so many operands", instruction.opcode));
      SAPPER_TRY(step.operand[step.operand_count], operand_slot(instruction, operand, letter));
      const auto* name = std::get_if<Register>(&operand.value);
      step.operand_bank[step.operand_count++] = name != nullptr ? name->bank
                                                : letter == 'v' ? Bank::Vector
                                                : letter == 'm' ? Bank::Mask
                                                : letter == 'p' ? Bank::Predicate
                                                                : Bank::Scalar;
    }
    make_select(instruction, step);
    return step;
  }

  // smov (p, old), new: where p does not hold the result is old, which may be in another register than the result.
  static void make_select(const Instruction& instruction, Step& step) {
    if (step.guard == kNoSlot || step.operand_count != 2 || step.bank != Bank::Scalar ||
        instruction.operands[0].name != "old")
      return;
    const Slot old = step.operand[0];
    const Slot fresh = step.operand[1];
    step.info = find_opcode("scalar_select").info;
    step.operand = {step.guard, step.guard_negated ? old : fresh, step.guard_negated ? fresh : old};
    step.operand_bank = {Bank::Predicate, Bank::Scalar, Bank::Scalar};
    step.operand_count = 3;
    step.guard = kNoSlot;
    step.guard_negated = false;
  }

  // Whether a step is to be made of instruction `i`. On physical registers phis and aliases are where they were.
  [[nodiscard]] bool is_emitted(InstructionIndex i) const { return rows_[i]->has_effect || rows_[i]->is_branch; }

  // A branch back to a loop's header gives the phis their next values first.
  Status emit_branch(InstructionIndex i, const Step& step) {
    const Instruction& branch = program_.instructions[i];
    const InstructionIndex to = target_of(branch);
    if (to <= i)
      if (const auto phis = phis_.find(to); phis != phis_.end()) {
        Step guard = step;
        if (guard.guard != kNoSlot) {  // the guard may be one of the phis
          guard.guard = slots_.temporary(Bank::Predicate);
          code_.steps.push_back(copy_step(Bank::Predicate, step.guard, guard.guard, i));
        }
        emit_copies(phis->second, 1, &guard);
        code_.steps.push_back(guard);
        return {};
      }
    code_.steps.push_back(step);
    return {};
  }

  [[nodiscard]] InstructionIndex target_of(const Instruction& branch) const {
    return loops_.region_start(*branch.target);
  }

  Status emit_lines() {
    collect_phis();
    for (InstructionIndex i = 0; i < program_.instructions.size(); ++i) {
      place_label(i);
      if (!is_emitted(i)) continue;
      SAPPER_TRY(const Step step, step_of(i));
      if (rows_[i]->is_branch) {
        SAPPER_CHECKED(emit_branch(i, step));
      } else {
        code_.steps.push_back(step);
      }
    }
    return {};
  }

  // The bundle after which `branch`, of bundle `b`, is taken. Of several empty bundles at the end of the slots one may
  // be left (Generation::merges_empty_slots), and no bundle says how many it stands for. But a branch ends its block:
  // where all slots are there, the last one says that a region ends that was open at the branch; where it was merged
  // with the one before, that is lost. The one that is left is the last empty bundle that stands alone, and not behind
  // the next branch: outside of delay slots bundles are hardly ever empty there, as the hardware waits by itself.
  size_t last_delay_slot(size_t b, InstructionIndex branch) const {
    const size_t last = b + generation_.delay_slots;
    if (!generation_.merges_empty_slots || ends_region_around(branch, last)) return last;
    size_t merged = last;
    for (size_t k = b + 1; k < last && k + 1 < program_.bundles.size() && !has_branch(k); ++k)
      if (is_empty(k) && !is_empty(k - 1) && !is_empty(k + 1)) merged = k;
    return merged;
  }

  [[nodiscard]] bool is_empty(size_t bundle) const { return program_.bundles[bundle].count == 0; }

  [[nodiscard]] bool has_branch(size_t bundle) const {
    const auto first = rows_.begin() + program_.bundles[bundle].first;
    return std::any_of(first, first + program_.bundles[bundle].count, [](const Row* row) { return row->is_branch; });
  }

  // Whether a region ends with `bundle` that started before `branch`.
  [[nodiscard]] bool ends_region_around(InstructionIndex branch, size_t bundle) const {
    return std::any_of(program_.regions.begin(), program_.regions.end(),
                       [&](const Region& region) { return region.end == bundle && region.first <= branch; });
  }

  Status emit_bundles() {
    collect_phis();
    // Branches under way: after bundle `at`, go there if `latch` says so.
    struct Pending {
      size_t at;
      Slot latch;
      InstructionIndex branch;
    };
    std::vector<Pending> pending;
    for (size_t b = 0; b < program_.bundles.size(); ++b) {
      const Bundle& bundle = program_.bundles[b];
      place_label(bundle.first);
      std::vector<Step> steps;
      for (InstructionIndex i = bundle.first; i < bundle.first + bundle.count; ++i) {
        if (!is_emitted(i)) {
          SAPPER_TRY(const bool moves, moves_register(i));
          if (moves) steps.push_back(move_of(i));
          continue;
        }
        SAPPER_TRY(Step step, step_of(i));
        if (rows_[i]->is_branch) {
          step.kind = StepKind::Latch;
          step.bank = Bank::Predicate;
          step.result = slots_.temporary(Bank::Predicate);
          pending.push_back({last_delay_slot(b, i), step.result, i});
        }
        steps.push_back(step);
      }
      order_bundle(steps, code_.accesses, slots_);
      code_.steps.insert(code_.steps.end(), steps.begin(), steps.end());
      for (const Pending& branch : pending)
        if (branch.at == b) emit_latched(branch.latch, branch.branch);
    }
    return {};
  }

  // The end of a branch's delay slots. Where it goes back to a loop's header, the phis get their next values first.
  void emit_latched(Slot latch, InstructionIndex branch) {
    const InstructionIndex to = target_of(program_.instructions[branch]);
    const Step guard{.guard = latch};
    if (const auto phis = phis_.find(to); to <= branch && phis != phis_.end()) emit_copies(phis->second, 1, &guard);
    Step step{.kind = StepKind::BranchLatched, .operand_count = 1, .source = branch};
    step.operand[0] = latch;
    step.operand_bank[0] = Bank::Predicate;
    code_.steps.push_back(step);
  }

  // Whether an alias stands for a move on physical registers: of a value that was reloaded into another register than
  // its first one. Such bundles have a scalar slot left for it (v5e), those of other aliases need not. Phis move
  // nothing.
  Result<bool> moves_register(InstructionIndex i) const {
    const Instruction& instruction = program_.instructions[i];
    if (instruction.result.physical < 0 || !(rows_[i]->is_alias || rows_[i]->is_phi)) return false;
    bool moves = false;
    for (const Operand& operand : instruction.operands) {
      const auto* name = std::get_if<Register>(&operand.value);
      if (name == nullptr || name->physical < 0) continue;
      if (rows_[i]->is_alias && &operand != &instruction.operands.front()) continue;
      const bool is_same = name->physical == instruction.result.physical && name->bank == instruction.result.bank;
      if (!is_same && (rows_[i]->is_phi || name->bank != instruction.result.bank))
        return error(ErrorKind::BadInput, instruction,
                     fmt::format("'{}' cannot move a value from {} to {}", instruction.opcode, to_string(*name),
                                 to_string(instruction.result)));
      moves |= !is_same;
    }
    return moves;
  }

  Step move_of(InstructionIndex i) {
    const Instruction& instruction = program_.instructions[i];
    const Bank bank = instruction.result.bank;
    return copy_step(bank, slots_.of_operand(instruction.operands[0], letter_of(bank)), slots_.of(instruction.result),
                     i);
  }

  // Steps learn what they work on, branches their targets.
  Status link() {
    const auto is_vector = [](Bank bank) { return bank == Bank::Vector || bank == Bank::Mask; };
    for (Step& step : code_.steps) {
      step.on_vectors = is_vector(step.bank) || std::any_of(step.operand_bank.begin(),
                                                            step.operand_bank.begin() + step.operand_count, is_vector);
      if (step.kind != StepKind::Branch && step.kind != StepKind::BranchLatched) continue;
      const Instruction& branch = program_.instructions[step.source];
      const InstructionIndex to = target_of(branch);
      if (to == LoopTable::kEnd) {
        step.target = static_cast<uint32_t>(code_.steps.size() - 1);
        continue;
      }
      const auto& labels = to <= step.source ? back_label_ : entry_label_;
      const auto label = labels.find(to);
      if (label == labels.end())
        return error(ErrorKind::BadInput, branch, fmt::format("no place to go to: $region{}", *branch.target));
      step.target = label->second;
    }
    return {};
  }

  const Program& program_;
  const Generation& generation_;
  Code code_;
  Slots slots_;
  LoopTable loops_;
  std::unordered_map<std::string_view, Row> known_;
  std::vector<const Row*> rows_;                                    // of each instruction
  std::map<InstructionIndex, std::vector<InstructionIndex>> phis_;  // by the first instruction of the loop
  std::unordered_map<InstructionIndex, uint32_t> entry_label_, back_label_;
  InstructionIndex placed_ = UINT32_MAX;
};

}  // namespace

Result<Code> decode(const Program& program, const Generation& generation) { return Decoder(program, generation).run(); }

}  // namespace sapper::llo
