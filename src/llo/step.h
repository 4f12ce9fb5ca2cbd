// Code: a program made ready to run. Registers are slots, immediates are slots that hold them, addresses of allocations
// are slots that the loader fills, phis are copies on the edges, branches know their step, bundles are in an order in
// which every read comes before the write it must not see.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "llo/isa.h"
#include "llo/program.h"

namespace sapper::llo {

using Slot = uint32_t;
constexpr Slot kNoSlot = UINT32_MAX;
constexpr int kMaxOperands = 12;
constexpr int kMaxChoices = 8;

// Where an instruction looks at memory; each part a scalar slot or kNoSlot.
struct Access {
  Space space = Space::Vmem;
  Slot base = kNoSlot;
  Slot offset = kNoSlot;
  bool subtract_offset = false;
  Slot sublane_stride = kNoSlot;
  Slot sublanes_per_stride = kNoSlot;
  Slot sublane_mask = kNoSlot;
  Slot pattern = kNoSlot;
};

enum class StepKind : uint8_t {
  Instruction,    // by its row in the table
  Copy,           // result = operand[0], of bank `bank`
  Latch,          // a branch with delay slots: remembers whether it is taken, in predicate slot `result`
  BranchLatched,  // the end of the last delay slot: goes to `target` if the latch in operand[0] is set, and clears it
  Branch,         // goes to `target` (where the guard lets it)
  Halt,           // the end of the program
};

struct Step {
  StepKind kind = StepKind::Instruction;
  Bank bank = Bank::Token;  // of the result
  uint8_t operand_count = 0;
  bool guard_negated = false;
  bool on_vectors = false;  // some register of it is a vector or mask
  Slot guard = kNoSlot;     // predicate slot
  Slot result = kNoSlot;
  std::array<Slot, kMaxOperands> operand{};  // each in the bank that the row names
  std::array<Bank, kMaxOperands> operand_bank{};
  std::array<uint16_t, kMaxChoices> choice{};  // see OpcodeInfo::name
  uint32_t access = UINT32_MAX;                // position in Code::accesses; memory operands take no slot
  uint32_t target = UINT32_MAX;                // step
  InstructionIndex source = UINT32_MAX;        // the instruction it is of
  const OpcodeInfo* info = nullptr;
};

// `to` = `from`, both of `bank`.
[[nodiscard]] inline Step copy_step(Bank bank, Slot from, Slot to, InstructionIndex source) {
  Step step{.kind = StepKind::Copy, .bank = bank, .operand_count = 1, .result = to, .source = source};
  step.operand[0] = from;
  step.operand_bank[0] = bank;
  return step;
}

struct Code {
  const Program* program = nullptr;
  std::vector<Step> steps;
  std::vector<Access> accesses;
  uint32_t scalar_slots = 0;
  uint32_t vector_slots = 0;  // masks too
  uint32_t predicate_slots = 0;
  uint32_t token_slots = 0;
  struct Constant {
    Slot slot = 0;
    uint32_t bits = 0;
  };
  std::vector<Constant> scalar_constants;
  std::vector<Constant> vector_constants;     // the bits in every lane
  std::vector<Constant> predicate_constants;  // 0 or 1
  struct Address {
    Slot slot = 0;  // scalar
    AllocationName name;
    uint32_t offset = 0;  // added to the address
  };
  std::vector<Address> addresses;
  std::vector<Address> vector_addresses;  // the same in every lane
};

}  // namespace sapper::llo
