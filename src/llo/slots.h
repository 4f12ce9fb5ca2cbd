// Slots: where each value of a program lives while it runs. A physical register is its own slot. Values get slots by
// their lifetimes, so that the vectors in use stay in the cache; each constant has one.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "llo/loops.h"
#include "llo/step.h"

namespace sapper::llo {

class Slots {
 public:
  Slots(const Program& program, Code& code) : program_(program), code_(code) {}

  // `name` is another name of `operand`.
  void alias(const Register& name, const Operand& operand);
  // Lifetimes, by the instructions that define and use.
  void define(const Register& name, InstructionIndex at);
  void use(const Operand& operand, InstructionIndex at);
  // Gives every defined value its slot. Linear, loops aside.
  void assign(const LoopTable& loops);

  [[nodiscard]] bool is_defined(const Register& name) const;
  [[nodiscard]] Slot of(const Register& name) const;
  // `letter`: the bank that the operand stands for, as in OpcodeInfo::operands.
  [[nodiscard]] Slot of_operand(const Operand& operand, char letter);
  [[nodiscard]] Slot temporary(Bank bank);
  [[nodiscard]] Slot predicate_constant(bool value);

  // Tells the code how many slots there are.
  void finish();

 private:
  struct Value {
    InstructionIndex defined = UINT32_MAX;
    std::vector<InstructionIndex> uses;
    Slot slot = kNoSlot;
  };
  using Key = uint64_t;
  [[nodiscard]] static Key key_of(const Register& name) {
    return uint64_t{name.number} << 3 | static_cast<uint64_t>(name.bank);
  }
  [[nodiscard]] const Operand* alias_of(const Register& name) const;
  [[nodiscard]] uint32_t position(InstructionIndex i) const;
  [[nodiscard]] Slot address(const AllocationName& name, uint32_t offset, bool in_lanes);
  uint32_t& slots_in(Bank bank);

  const Program& program_;
  Code& code_;
  std::unordered_map<Key, Operand> aliases_;
  std::unordered_map<Key, Value> values_;
  std::vector<Key> in_order_;  // by definition
  std::unordered_map<uint32_t, Slot> scalar_constants_, vector_constants_, predicate_constants_;
  std::map<std::tuple<uint32_t, bool, uint32_t>, Slot> addresses_, vector_addresses_;  // by number, spill, offset
  uint32_t scalars_ = 0, vectors_ = 0, predicates_ = 0, tokens_ = 0;
};

}  // namespace sapper::llo
